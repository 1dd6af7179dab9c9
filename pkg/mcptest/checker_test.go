package mcptest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkers are the checker that needs no schema and, where the folder is known, the one with schemas.
func checkers(t *testing.T) map[string]*Checker {
	t.Helper()
	c, err := FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	if !c.schemas {
		t.Logf("%s is not set: the schema half of this test is off", SchemaDirEnv)
		return map[string]*Checker{"rules": c}
	}
	return map[string]*Checker{"rules": {}, "schemas": c}
}

const (
	server   = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"zegate","version":"1"}}`
	listed   = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"private",` + server + `}}`
	called   = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"x"}],"isError":false,` + server + `}}`
	question = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}}}},` + server + `}}`
	gotTask  = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"t","status":"completed","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":1000,"result":{"resultType":"complete","content":[]},` + server + `}}`
	newTask  = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":null,` + server + `}}`
	version  = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"1"}}}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
	acked    = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}`
	changed  = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`
	closed   = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/serverInfo":{"name":"zegate","version":"1"}}}}`
)

func sse(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(": alive\n\ndata: " + m + "\n\n")
	}
	return b.String()
}

func failure(code, message string) string {
	return `{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `,"message":"` + message + `"}}`
}

func TestAnswerAccepts(t *testing.T) {
	const jsonType, sseType = "application/json", "text/event-stream; charset=utf-8"
	tests := []struct {
		name, method string
		status       int
		contentType  string
		body         string
	}{
		{"list", "tools/list", 200, jsonType, listed},
		{"call", "tools/call", 200, jsonType, called},
		{"question", "tools/call", 200, jsonType, question},
		{"new task", "tools/call", 200, jsonType, newTask},
		{"task", "tasks/get", 200, jsonType, gotTask},
		{"version", "tools/list", 400, jsonType, version},
		{"parse", "tools/list", 400, jsonType, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`},
		{"unknown method", "nope", 404, jsonType, failure("-32601", "m")},
		{"unknown tool", "tools/call", 200, jsonType, failure("-32602", "m")},
		{"panic", "tools/call", 500, jsonType, failure("-32603", "m")},
		{"unauthenticated", "tools/call", 401, jsonType, failure("401", "m")},
		{"notification", "notifications/cancelled", 202, "", ""},
		{"stream", "tools/call", 200, sseType, sse(progress, called)},
		{"stream of one error", "tools/call", 200, sseType, sse(failure("-32603", "m"))},
		{"CRLF", "tools/call", 200, sseType, "data: " + called + "\r\n\r\n"},
		{"subscription cut by the client", "subscriptions/listen", 200, sseType, sse(acked, changed)},
		{"subscription ended by the server", "subscriptions/listen", 200, sseType, sse(acked, closed)},
	}
	for kind, c := range checkers(t) {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				if err := c.Answer(tt.method, tt.status, tt.contentType, []byte(tt.body)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestAnswerRejects(t *testing.T) {
	const jsonType, sseType = "application/json", "text/event-stream"
	without := func(text, part string) string {
		if !strings.Contains(text, part) {
			t.Fatalf("%q is not in %q", part, text)
		}
		return strings.Replace(text, part, "", 1)
	}
	swap := func(text, part, by string) string {
		without(text, part)
		return strings.Replace(text, part, by, 1)
	}
	tests := []struct {
		name, method string
		status       int
		contentType  string
		body         string
		needsSchema  bool
	}{
		{"no resultType", "tools/list", 200, jsonType, without(listed, `"resultType":"complete",`), false},
		{"resultType of no kind", "tools/call", 200, jsonType, swap(called, `"complete"`, `"done"`), false},
		{"no ttlMs", "tools/list", 200, jsonType, without(listed, `"ttlMs":60000,`), true},
		{"ttlMs a string", "tools/list", 200, jsonType, swap(listed, `60000`, `"60000"`), true},
		{"negative ttlMs", "tools/list", 200, jsonType, swap(listed, `60000`, `-1`), true},
		{"no cacheScope", "tools/list", 200, jsonType, without(listed, `"cacheScope":"private",`), true},
		{"cacheScope of no kind", "tools/list", 200, jsonType, swap(listed, `"private"`, `"mine"`), true},
		{"tools an object", "tools/list", 200, jsonType, swap(listed, `[{"name":"a","inputSchema":{"type":"object"}}]`, `{}`), true},
		{"tool without schema", "tools/list", 200, jsonType, without(listed, `,"inputSchema":{"type":"object"}`), true},
		{"tool with a schema that is none", "tools/list", 200, jsonType, swap(listed, `{"type":"object"}`, `{"type":"object","required":"a"}`), true},
		{"no serverInfo", "tools/list", 200, jsonType, without(listed, `,`+server), false},
		{"result of another method", "tools/list", 200, jsonType, called, true},
		{"result of an unknown method", "nope", 200, jsonType, called, false},
		{"no content", "tools/call", 200, jsonType, without(called, `"content":[{"type":"text","text":"x"}],`), true},
		{"content of no kind", "tools/call", 200, jsonType, swap(called, `"type":"text"`, `"type":"txt"`), true},
		{"isError a string", "tools/call", 200, jsonType, swap(called, `false`, `"false"`), true},
		{"result with HTTP 400", "tools/call", 400, jsonType, called, false},
		{"member beside the result", "tools/call", 200, jsonType, swap(called, `"id":1`, `"id":1,"x":1`), false},
		{"null id", "tools/call", 200, jsonType, swap(called, `"id":1`, `"id":null`), true},
		{"no id", "tools/call", 200, jsonType, without(called, `"id":1,`), true},
		{"no jsonrpc", "tools/call", 200, jsonType, without(called, `"jsonrpc":"2.0",`), false},
		{"name twice", "tools/call", 200, jsonType, swap(called, `"id":1`, `"id":1,"id":1`), false},
		{"trailing text", "tools/call", 200, jsonType, called + `{}`, false},
		{"question without mode", "tools/call", 200, jsonType, without(question, `"mode":"form",`), false},
		{"question by URL", "tools/call", 200, jsonType, swap(question, `"mode":"form"`, `"mode":"url"`), false},
		{"question without message", "tools/call", 200, jsonType, without(question, `"message":"m",`), true},
		{"question with a nested schema", "tools/call", 200, jsonType, swap(question, `{"type":"string"}`, `{"type":"object"}`), true},
		{"question with content", "tools/call", 200, jsonType, swap(question, `"inputRequests"`, `"content":[],"inputRequests"`), false},
		{"question with a state", "tools/call", 200, jsonType, swap(question, `"inputRequests"`, `"requestState":"s","inputRequests"`), false},
		{"no question", "tools/call", 200, jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{},` + server + `}}`, false},
		{"two questions", "tools/call", 200, jsonType, swap(question, `"inputRequests":{`, `"inputRequests":{"j":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}},`), false},
		{"sampling", "tools/call", 200, jsonType, swap(question, `elicitation/create`, `sampling/createMessage`), false},
		{"question from a list", "tools/list", 200, jsonType, question, false},
		{"question that says complete", "tools/call", 200, jsonType, swap(question, `"input_required"`, `"complete"`), true},
		{"task without id", "tools/call", 200, jsonType, without(newTask, `"taskId":"t",`), true},
		{"task from a list", "tools/list", 200, jsonType, newTask, false},
		{"task that asks", "tasks/get", 200, jsonType, swap(gotTask, `"status":"completed"`, `"status":"input_required","inputRequests":{}`), false},
		{"task whose result is none", "tasks/get", 200, jsonType, swap(gotTask, `"content":[]`, `"x":1`), true},
		{"error without data", "tools/list", 400, jsonType, failure("-32022", "m"), true},
		{"error without message", "tools/list", 400, jsonType, failure("-32600", ""), false},
		{"error code a string", "tools/list", 400, jsonType, failure(`"-32600"`, "m"), false},
		{"error with the wrong status", "tools/list", 200, jsonType, failure("-32020", "m"), false},
		{"error with a reserved code", "tools/list", 400, jsonType, failure("-32000", "m"), false},
		{"error whose code is not the status", "tools/list", 401, jsonType, failure("403", "m"), false},
		{"error that names a success", "tools/list", 200, jsonType, failure("200", "m"), false},
		{"error with a null id", "tools/list", 400, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, true},
		{"batch", "tools/call", 200, jsonType, `[` + called + `]`, false},
		{"notification alone", "tools/call", 200, jsonType, progress, false},
		{"server request", "tools/call", 200, sseType, sse(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`, called), false},
		{"body with 202", "notifications/cancelled", 202, jsonType, `{}`, false},
		{"text", "tools/call", 200, "text/plain", called, false},
		{"no content type", "tools/call", 200, "", called, false},
		{"stream with HTTP 400", "tools/call", 400, sseType, sse(failure("-32603", "m")), false},
		{"stream without result", "tools/call", 200, sseType, sse(progress), false},
		{"stream with two results", "tools/call", 200, sseType, sse(called, called), false},
		{"stream cut in an event", "tools/call", 200, sseType, "data: " + called + "\n", false},
		{"stream with event ids", "tools/call", 200, sseType, "id: 1\n" + sse(called), false},
		{"event of another type", "tools/call", 200, sseType, "event: x\n" + sse(called), false},
		{"progress without token", "tools/call", 200, sseType, sse(without(progress, `"progressToken":1,`), called), true},
		{"list change on a call", "tools/call", 200, sseType, sse(changed, called), false},
		{"subscription as JSON", "subscriptions/listen", 200, jsonType, closed, false},
		{"subscription not acknowledged", "subscriptions/listen", 200, sseType, sse(changed), false},
		{"subscription acknowledged twice", "subscriptions/listen", 200, sseType, sse(acked, acked), false},
		{"change without subscription", "subscriptions/listen", 200, sseType, sse(acked, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`), false},
		{"change of another subscription", "subscriptions/listen", 200, sseType, sse(acked, swap(changed, `subscriptionId":1`, `subscriptionId":2`)), false},
		{"subscription that ends without its id", "subscriptions/listen", 200, sseType, sse(acked, without(closed, `"io.modelcontextprotocol/subscriptionId":1,`)), true},
		{"acknowledged task ids of no kind", "subscriptions/listen", 200, sseType, sse(swap(acked, `"toolsListChanged":true`, `"taskIds":[1]`)), true},
	}
	for kind, c := range checkers(t) {
		for _, tt := range tests {
			if tt.needsSchema && !c.schemas {
				continue
			}
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				if err := c.Answer(tt.method, tt.status, tt.contentType, []byte(tt.body)); err == nil {
					t.Error("accepted")
				}
			})
		}
	}
}

// TestExamples checks the checker itself: it takes every example that comes with the revision, and none of them without one
// of the members that its definition requires.
func TestExamples(t *testing.T) {
	c := checkers(t)["schemas"]
	if c == nil {
		return
	}
	dir := schemaDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "examples", "*", "*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	required := requiredMembers(t, filepath.Join(dir, coreFile))
	mutated := 0
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Definition(name, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, member := range required[name] {
			rest := maps.Clone(members)
			delete(rest, member)
			broken, err := json.Marshal(rest)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Definition(name, broken); err == nil {
				t.Errorf("%s without %s is accepted", file, member)
			}
			mutated++
		}
	}
	if mutated < len(files) {
		t.Errorf("%d mutations of %d examples", mutated, len(files))
	}
}

// TestResponseExamples runs the examples of whole responses through the rules of their method. One of them lacks members
// that its result's definition requires and passes as a response only because another result takes anything: it shows that
// the rules are stricter.
func TestResponseExamples(t *testing.T) {
	c := checkers(t)["schemas"]
	if c == nil {
		return
	}
	for _, method := range slices.Sorted(maps.Keys(resultOf)) {
		files, err := filepath.Glob(filepath.Join(schemaDir(t), "examples", resultOf[method]+"Response", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no example of its response, %v", method, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Message(method, named(t, text))
			if incomplete := filepath.Base(file) == "read-resource-result-response.json"; incomplete != (err != nil) {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// named is a response whose result names its server, which the examples do not.
func named(t *testing.T, text []byte) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	result, _ := m["result"].(map[string]any)
	meta, _ := result["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[serverInfoKey] = map[string]any{"name": "x", "version": "1"}
	result["_meta"] = meta
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func schemaDir(t *testing.T) string {
	t.Helper()
	dir, err := fromModuleRoot(os.Getenv(SchemaDirEnv))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func requiredMembers(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Type     any
			Required []string
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	required := map[string][]string{}
	for name, d := range doc.Defs {
		required[name] = d.Required
	}
	return required
}

func TestSchemasAreNeeded(t *testing.T) {
	if _, err := NewChecker(t.TempDir()); err == nil {
		t.Error("a folder without schemas makes a checker")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(sse(progress, called)))
	f.Add([]byte("data: a\rdata: b\r\r"))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := Events(body)
		if err != nil {
			return
		}
		for _, e := range events {
			if strings.Contains(string(e), "\r") {
				t.Errorf("a line break is left in %q", e)
			}
		}
	})
}
