package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// exchange is one step of a scripted server: what the request must hold and what is answered.
type exchange struct {
	// has are texts that the body holds; one that begins with "!" it must not hold.
	has []string
	// header is what headers must be; an empty text means that the header is not there.
	header map[string]string
	verb   string // POST where empty
	status int    // 200 where 0
	// answer is the answer's member result or error, or the whole body when it begins with "=".
	answer string
	sse    bool
}

// script is a server that expects these exchanges in this order.
type script struct {
	t         *testing.T
	mu        sync.Mutex
	exchanges []exchange
	next      int
	ids       map[string]bool
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil || s.next >= len(s.exchanges) {
		s.t.Errorf("request %d was not expected (%v): %s", s.next+1, err, body)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	e := s.exchanges[s.next]
	s.next++
	s.compare(e, r, string(body))
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(body, &m)
	id := string(m.ID)
	if id == "" {
		id = "1"
	} else if s.ids[id] {
		s.t.Errorf("request %d repeats the id %s", s.next, id)
	}
	s.ids[id] = true
	answer, whole := strings.CutPrefix(e.answer, "=")
	if !whole {
		answer = `{"jsonrpc":"2.0","id":` + id + `,` + answer + `}`
	}
	w.Header().Set("Content-Type", "application/json")
	if e.sse {
		w.Header().Set("Content-Type", "text/event-stream")
		answer = ":\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\ndata: " + answer + "\n\n"
	}
	if e.status != 0 {
		w.WriteHeader(e.status)
	}
	_, _ = io.WriteString(w, answer)
}

func (s *script) compare(e exchange, r *http.Request, body string) {
	verb := e.verb
	if verb == "" {
		verb = http.MethodPost
	}
	if r.Method != verb {
		s.t.Errorf("request %d is %s, want %s", s.next, r.Method, verb)
	}
	for _, part := range e.has {
		text, absent := strings.CutPrefix(part, "!")
		if strings.Contains(body, text) == absent {
			s.t.Errorf("request %d does not fit %q:\n%s", s.next, part, body)
		}
	}
	for name, want := range e.header {
		if got := r.Header.Get(name); got != want {
			s.t.Errorf("request %d: %s is %q, want %q", s.next, name, got, want)
		}
	}
}

func ok(text string) string {
	return fmt.Sprintf(`"result":{"resultType":"complete","content":[{"type":"text","text":%q}]}`, text)
}

func failed(text string) string {
	return fmt.Sprintf(`"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":%q}]}`, text)
}

func rpcError(code int, message string) string {
	return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message)
}

func asks(properties string) string {
	return `"result":{"resultType":"input_required","inputRequests":{"key":{"method":"elicitation/create","params":{"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":` + properties + `}}}}}`
}

func listed(cursor string, names ...string) string {
	var tools []string
	for _, n := range names {
		tools = append(tools, fmt.Sprintf(`{"name":%q}`, n))
	}
	if cursor != "" {
		cursor = fmt.Sprintf(`,"nextCursor":%q`, cursor)
	}
	return `"result":{"resultType":"complete","tools":[` + strings.Join(tools, ",") + `]` + cursor + `}`
}

const askCommand = `{"command":{"type":"string"}}`

func TestScripts(t *testing.T) {
	question := asks(askCommand)
	again := func(answer string, has ...string) exchange { return exchange{has: has, answer: answer} }
	tests := []struct {
		name      string
		args      []string
		in        []string
		exchanges []exchange
		out       string
		err       string // standard error; the run ends with 1 exactly when there is some
	}{
		{
			name: "command", args: []string{"--token", "s"}, in: []string{"# text", "", "show bgp summary"},
			exchanges: []exchange{{
				has: []string{
					`"method":"tools/call"`, `"arguments":{"command":"show bgp summary"}`, `"name":"ze_execute"`,
					`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`,
				},
				header: map[string]string{"Authorization": "Bearer s", "Mcp-Method": "tools/call", "Mcp-Name": "ze_execute", "Mcp-Protocol-Version": "2026-07-28"},
				answer: ok("neighbours"),
			}},
			out: "neighbours\n",
		},
		{
			name: "answer on a stream", in: []string{"help"},
			exchanges: []exchange{{sse: true, answer: ok("x")}}, out: "x\n",
		},
		{
			name: "tool without arguments", in: []string{"@ze_commands"},
			exchanges: []exchange{again(ok("x"), `"name":"ze_commands"`, `!"arguments"`)}, out: "x\n",
		},
		{
			name: "previous output", in: []string{"help", "show $LAST", `@t {"a":"$LAST","n":9007199254740993}`},
			exchanges: []exchange{again(ok("a\"b")), again(ok("c\nd"), `"command":"show a\"b"`), again(ok("x"), `{"a":"c\nd","n":9007199254740993}`)},
			out:       "a\"b\nc\nd\nx\n",
		},
		{
			name: "blocks", in: []string{"@t"},
			exchanges: []exchange{{answer: `"result":{"resultType":"complete","content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource","resource":{"uri":"u","text":"r"}},{"type":"resource_link","uri":"l"}]}`}},
			out:       "a\n[image image/png, 4 bytes in base64]\nr\n[resource_link l]\n",
		},
		{
			name: "tool that fails", in: []string{"show", "never sent"},
			exchanges: []exchange{again(failed("unknown command"))}, err: "command error: unknown command\n",
		},
		{
			name: "refused call", in: []string{"@nope {}"},
			exchanges: []exchange{again(rpcError(-32602, "unknown tool"))}, err: "error: unknown tool (code -32602)\n",
		},
		{
			name: "broken answer", in: []string{"help"},
			exchanges: []exchange{{answer: `={"jsonrpc":"2.0","id":77,"result":{}}`}}, err: "error: tools/call: HTTP 200: the answer is for request 77, the request was 1\n",
		},
		{
			name: "no answer", in: []string{"help"},
			exchanges: []exchange{{answer: `=<html>`, status: 502}}, err: "error: tools/call: HTTP 502 without a JSON-RPC answer\n",
		},
		{name: "arguments that are none", in: []string{`@t {"a"`}, err: "error: @t: the arguments are not JSON: {\"a\"\n"},
		{name: "later directive", in: []string{"task-get x"}, err: "error: unknown directive \"task-get\"; ze-test --help names them\n"},
		{name: "mistyped directive", in: []string{"elicit-anwser omit"}, err: "error: unknown directive \"elicit-anwser\"; ze-test --help names them\n"},

		{
			name: "accept", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept show bgp peer list", "@ze_execute {}"},
			exchanges: []exchange{
				again(question, `clientCapabilities":{"elicitation":{"form":{}}}`, `"arguments":{}`, `!inputResponses`),
				again(ok("peers"), `"inputResponses":{"key":{"action":"accept","content":{"command":"show bgp peer list"}}}`, `"arguments":{}`, `"name":"ze_execute"`),
			},
			out: "peers\n",
		},
		{
			name: "implicit form", args: []string{"--elicit", ""}, in: []string{"elicit-answer decline", "@t"},
			exchanges: []exchange{
				again(question, `clientCapabilities":{"elicitation":{}}`),
				again(failed("no command was supplied: the user declined"), `"inputResponses":{"key":{"action":"decline"}}`),
			},
			err: "command error: no command was supplied: the user declined\n",
		},
		{
			name: "cancel", args: []string{"--elicit", "form,url"}, in: []string{"elicit-answer cancel", "@t"},
			exchanges: []exchange{
				again(question, `{"elicitation":{"form":{},"url":{}}}`),
				again(failed("cancelled"), `{"key":{"action":"cancel"}}`),
			},
			err: "command error: cancelled\n",
		},
		{
			name: "omit, then accept", args: []string{"--elicit", "form"}, in: []string{"elicit-answer omit", "elicit-answer accept x", "@t"},
			exchanges: []exchange{again(question), again(question, `"inputResponses":{}`), again(ok("y"), `"content":{"command":"x"}`)},
			out:       "y\n",
		},
		{
			name: "omit for ever", args: []string{"--elicit", "form"}, in: []string{"elicit-answer omit", "@t"},
			exchanges: []exchange{again(question), again(question, `"inputResponses":{}`), again(question), again(question), again(question)},
			err:       "error: the server still asks after 4 rounds: Which?\n",
		},
		{
			name: "kept for the next call, then replaced", args: []string{"--elicit", "form"},
			in: []string{"elicit-answer accept x", "@t", "@t", "elicit-answer accept y", "@t", "elicit-answer none", "@t"},
			exchanges: []exchange{
				again(question), again(ok("1"), `"command":"x"`), again(question), again(ok("2"), `"command":"x"`),
				again(question), again(ok("3"), `"command":"y"`), again(question),
			},
			out: "1\n2\n3\n", err: "error: the server asks and no answer is queued: Which?\n",
		},
		{
			name: "value of another type", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept true", "@t"},
			exchanges: []exchange{again(asks(`{"confirm":{"type":"boolean"}}`)), again(ok("y"), `"content":{"confirm":true}`)}, out: "y\n",
		},
		{
			name: "value of the wrong type", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept yes", "@t"},
			exchanges: []exchange{again(asks(`{"confirm":{"type":"boolean"}}`))}, err: "error: the question asks for a boolean: \"yes\" is none\n",
		},
		{
			name: "several values", args: []string{"--elicit", "form"}, in: []string{`elicit-answer accept {"a":"1","b":2}`, "@t"},
			exchanges: []exchange{again(asks(`{"a":{"type":"string"},"b":{"type":"integer"}}`)), again(ok("y"), `"content":{"a":"1","b":2}`)}, out: "y\n",
		},
		{
			name: "extra response once", args: []string{"--elicit", "form"}, in: []string{"elicit-answer omit", "elicit-answer accept x", "elicit-extra other", "@t"},
			exchanges: []exchange{again(question), again(question, `"inputResponses":{"other":{"action":"accept","content":{}}}`), again(ok("y"), `!other`)},
			out:       "y\n",
		},
		{
			name: "extra response taken back", args: []string{"--elicit", "form"}, in: []string{"elicit-answer omit", "elicit-answer accept x", "elicit-extra other", "elicit-extra -", "@t"},
			exchanges: []exchange{again(question), again(question, `"inputResponses":{}`), again(ok("y"))}, out: "y\n",
		},
		{
			name: "asked without having declared it", args: []string{"--elicit", "url"}, in: []string{"elicit-answer accept x", "@t"},
			exchanges: []exchange{again(question, `{"elicitation":{"url":{}}}`)}, err: "error: the server asks by form, which this client did not declare\n",
		},
		{
			name: "request state", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept x", "@t"},
			exchanges: []exchange{again(strings.Replace(question, `"inputRequests"`, `"requestState":"s","inputRequests"`, 1))}, err: "error: the server issued a requestState\n",
		},
		{
			name: "asked by URL", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept x", "@t"},
			exchanges: []exchange{again(strings.Replace(question, `"form"`, `"url"`, 1))}, err: "error: the server asks by elicitation/create, mode \"url\"; only forms are answered here\n",
		},
		{
			name: "two questions", args: []string{"--elicit", "form"}, in: []string{"elicit-answer accept x", "@t"},
			exchanges: []exchange{again(strings.Replace(question, `"inputRequests":{`, `"inputRequests":{"other":{},`, 1))}, err: "error: the server asks 2 questions in one result; one is due\n",
		},
		{name: "answer of no kind", in: []string{"elicit-answer maybe"}, err: "error: elicit-answer: \"maybe\" is not accept <value>, decline, cancel, omit or none\n"},
		{name: "accept nothing", in: []string{"elicit-answer accept"}, err: "error: elicit-answer: \"accept\" is not accept <value>, decline, cancel, omit or none\n"},

		{
			name: "stable order", in: []string{"tools-order-stable 2"},
			exchanges: []exchange{again(listed("c", "a"), `!cursor`), again(listed("", "b"), `"cursor":"c"`), again(listed("", "a", "b"))}, out: "tools-order stable=true\n",
		},
		{
			name: "unstable order", in: []string{"tools-order-stable"},
			exchanges: []exchange{again(listed("", "a", "b")), again(listed("", "b", "a")), again(listed("", "a", "b"))}, out: "tools-order stable=false\n",
		},
		{
			name: "endless list", in: []string{"tools-order-stable"},
			exchanges: []exchange{again(listed("c", "a")), again(listed("c", "a"))}, err: "error: tools/list: a cursor comes again, so the list would never end\n",
		},
		{
			name: "waits", in: []string{"wait 1ms", "wait-peers", "wait-established", "wait-tool b"},
			exchanges: []exchange{
				again(failed("not yet")), again(ok(`{"peers":{}}`), `"command":"show bgp peer list"`), again(ok(`{"peers":{"1":{"state":"idle"}}}`)),
				again(ok(`{"peers":{"1":{"state":"idle"}}}`)), again(ok(`{"peers":{"1":{"state":"established"}}}`)),
				again(listed("", "a")), again(listed("", "a", "b")),
			},
		},
		{name: "wait for nothing", in: []string{"wait soon"}, err: "error: wait: \"soon\" is not a duration such as 500ms\n"},

		{
			name: "probe", args: []string{"--elicit", "form"}, in: []string{"probe server/discover", `probe tools/call {"name":"t","requestState":"s"}`},
			exchanges: []exchange{
				{header: map[string]string{"Mcp-Name": ""}, answer: `"result":{"resultType":"complete"}`},
				{
					has: []string{`"requestState":"s"`, `"elicitation":{"form":{}}`}, header: map[string]string{"Mcp-Name": "t"}, status: 400,
					answer: rpcError(-32602, "invalid params: params.requestState is not accepted; this server issues no requestState, so a retry must not carry one"),
				},
			},
			out: "probe status=200 code=ok message=complete\n" +
				"probe status=400 code=-32602 message=invalid params: params.requestState is not accepted; this server issues no requestState, so a retry must not carry one\n",
		},
		{
			name: "changed probes", in: []string{
				"probe-header Mcp-Method tools/list", "probe-header Content-Type -", "probe-meta io.modelcontextprotocol/protocolVersion 1900-01-01",
				"probe-meta progressToken 7", "probe-meta io.modelcontextprotocol/clientInfo -", "probe-method PUT", "probe ping",
				"probe-body [1]", "probe ping", "probe-body -", "probe ping", "probe ping",
			},
			exchanges: []exchange{
				{
					verb: "PUT", header: map[string]string{"Mcp-Method": "tools/list", "Content-Type": ""},
					has:    []string{`protocolVersion":"1900-01-01"`, `"progressToken":7`, `!clientInfo`, `"method":"ping"`},
					status: 400, answer: rpcError(-32020, "header mismatch"),
				},
				{header: map[string]string{"Mcp-Method": "ping"}, has: []string{"[1]", "!ping"}, status: 400, answer: `={"jsonrpc":"2.0","error":{"code":-32600,"message":"batch"}}`},
				{has: []string{"!ping"}, status: 202, answer: `=`},
				{has: []string{`clientInfo`, `!progressToken`}, status: 401, answer: `={"error":"x"}`},
			},
			out: "probe status=400 code=-32020 message=header mismatch\nprobe status=400 code=-32600 message=batch\nprobe status=202 code=none message=\nprobe status=401 code=none message=\n",
		},
		{name: "probe nothing", in: []string{"probe"}, err: "error: probe: write the JSON-RPC method behind it\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{t: t, exchanges: tt.exchanges, ids: map[string]bool{}}
			server := httptest.NewServer(s)
			defer server.Close()
			code, out, stderr := runMain(t, append([]string{"mcp", "--port", portOf(t, server.URL)}, tt.args...), strings.Join(tt.in, "\n"))
			if out != tt.out {
				t.Errorf("standard output\n%q, want\n%q", out, tt.out)
			}
			if stderr != tt.err {
				t.Errorf("standard error\n%q, want\n%q", stderr, tt.err)
			}
			want := 0
			if tt.err != "" {
				want = 1
			}
			if code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			if s.next != len(tt.exchanges) {
				t.Errorf("%d requests, want %d", s.next, len(tt.exchanges))
			}
		})
	}
}

func runMain(t *testing.T, args []string, in string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(in), &out, &errs)
	return code, out.String(), errs.String()
}

func portOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		err  string // part of standard error
	}{
		{"none", nil, 2, "write: ze-test mcp --port N"},
		{"help", []string{"--help"}, 0, "usage: ze-test mcp"},
		{"help of mcp", []string{"mcp", "--help"}, 0, "usage: ze-test mcp"},
		{"another command", []string{"grpc"}, 2, "write: ze-test mcp --port N"},
		{"no port", []string{"mcp"}, 2, "--port: write the port"},
		{"port out of range", []string{"mcp", "--port", "70000"}, 2, "--port: write the port"},
		{"unknown flag", []string{"mcp", "--port", "1", "--tasks"}, 2, "-tasks"},
		{"unknown mode", []string{"mcp", "--port", "1", "--elicit", "voice"}, 2, `"voice" is not a mode`},
		{"no time", []string{"mcp", "--port", "1", "--timeout", "0s"}, 2, "--timeout: write a duration"},
		{"script as argument", []string{"mcp", "--port", "1", "show"}, 2, "directives are read from standard input"},
		{"empty script", []string{"mcp", "--port", "1"}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, stderr := runMain(t, tt.args, "")
			if code != tt.code || !strings.Contains(stderr, tt.err) || out != "" {
				t.Errorf("exit code %d, standard output %q, standard error %q; want %d and %q", code, out, stderr, tt.code, tt.err)
			}
		})
	}
}

func TestWaitEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	code, _, stderr := runMain(t, []string{"mcp", "--port", portOf(t, server.URL), "--timeout", "50ms"}, "wait-tool x")
	if want := "error: wait-tool x: not reached within 50ms"; code != 1 || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d, standard error %q, want %q", code, stderr, want)
	}
}
