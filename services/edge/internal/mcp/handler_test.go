package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/edgetest"
)

// post sends a request as a well-behaved client does.
func (s *server) post(ctx context.Context, t testing.TB, body string, headers ...string) *http.Response {
	t.Helper()
	r := &exchangeRequest{method: http.MethodPost, path: "/mcp", header: http.Header{}, body: []byte(expansions.Replace(body))}
	for i := 0; i < len(headers); i += 2 {
		r.header.Set(headers[i], headers[i+1])
	}
	r.addHeaders()
	req, err := http.NewRequestWithContext(ctx, r.method, s.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = r.header
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func readAll(t testing.TB, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A requestState is refused on every method before dispatch, whatever its type, and shows up nowhere (seed, "Ze issues no
// requestState").
func TestRequestState(t *testing.T) {
	s := newServer(t, options{})
	const want = `invalid params: params.requestState is not accepted; this server issues no requestState, so a retry must not carry one`
	for _, method := range []string{
		"server/discover", "tools/list", "tools/call", "subscriptions/listen", "resources/read", "prompts/get", "tasks/get",
		"initialize", "ping", "no/such",
	} {
		for _, value := range []string{`"hunter2"`, `null`, `5`, `true`, `[]`, `{}`, `""`, `{"hunter2":["hunter2"]}`} {
			t.Run(method+" "+value, func(t *testing.T) {
				body := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"name":"ze_execute","uri":"x","taskId":"x","requestState":` + value + `,$FORM}}`
				resp := s.post(t.Context(), t, body, "Mcp-Name", map[bool]string{true: "ze_execute", false: "x"}[method == "tools/call" || method == "prompts/get"])
				text := readAll(t, resp)
				s.check(t, method, resp, []byte(text))
				var answer struct {
					ID    int
					Error struct {
						Code    int
						Message string
					}
				}
				if err := json.Unmarshal([]byte(text), &answer); err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusBadRequest || answer.ID != 7 || answer.Error.Code != -32602 || answer.Error.Message != want {
					t.Errorf("status %d, answer %s", resp.StatusCode, text)
				}
				if strings.Contains(text, "hunter2") {
					t.Errorf("the answer holds the value: %s", text)
				}
			})
		}
	}
	if n := s.executor.Calls.Load(); n != 0 {
		t.Errorf("%d calls reached the executor", n)
	}
	if strings.Contains(s.log.String()+s.audit.String(), "hunter2") {
		t.Error("a log holds the value")
	}
}

// What the executor gets is the call and who makes it: nothing of the exchange.
func TestCallReachesExecutor(t *testing.T) {
	s := newServer(t, options{token: "correct-horse"})
	readAll(t, s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute","arguments":{"n":9007199254740993},"inputResponses":{"ze_execute_command":{"action":"accept","content":{"command":"show version"}}},$FORM}}`,
		"Authorization", "Bearer correct-horse", "Grpc-Metadata-Zegate-Scopes", "mcp.admin", "Zegate-Scopes", "mcp.admin"))
	call, caller := s.executor.Last()
	if got, want := string(call.GetArgumentsJson()), `{"n":9007199254740993,"command":"show version"}`; got != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
	if !strings.HasPrefix(caller.Subject, "token-") || strings.Join(caller.Scopes, " ") != "mcp.read mcp.write" {
		t.Errorf("caller %+v", caller)
	}
	if strings.Contains(s.log.String()+s.audit.String(), "correct-horse") || strings.Contains(s.log.String()+s.audit.String(), "show version") {
		t.Error("a log holds the token or the elicited value")
	}
}

// A client that goes away stops the work, whether it reads JSON, a stream, or progress.
func TestDisconnectCancels(t *testing.T) {
	for name, tt := range map[string]struct{ body, accept string }{
		"json":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block",$META}}`, "application/json"},
		"stream":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block",$META}}`, "text/event-stream"},
		"progress": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "application/json, text/event-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, options{})
			ctx, cancel := context.WithCancel(t.Context())
			r := &exchangeRequest{method: http.MethodPost, path: "/mcp", header: http.Header{"Accept": {tt.accept}}, body: []byte(expansions.Replace(tt.body))}
			r.addHeaders()
			req, err := http.NewRequestWithContext(ctx, r.method, s.url+r.path, bytes.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = r.header
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
			<-s.executor.Started
			cancel()
			<-s.executor.Stopped
			<-done
		})
	}
}

func TestListen(t *testing.T) {
	s := newServer(t, options{})
	resp := s.post(t.Context(), t, `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["x:y"]},$META}}`)
	var all bytes.Buffer
	events := bufio.NewReader(io.TeeReader(resp.Body, &all))
	next := func() string {
		t.Helper()
		for {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("read event: %v", err)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return strings.TrimSpace(data)
			}
		}
	}
	const subscribed = `"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"`
	if got, want := next(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+subscribed+`},"notifications":{"toolsListChanged":true}}}`; got != want {
		t.Errorf("acknowledgement:\n got %s\nwant %s", got, want)
	}
	s.executor.SetTools(edgetest.Tools()[:1])
	if got, want := next(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+subscribed+`}}}`; got != want {
		t.Errorf("notification:\n got %s\nwant %s", got, want)
	}
	if list := readAll(t, s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{$META}}`)); strings.Contains(list, "ze_commands") {
		t.Errorf("the list after the notification is the old one: %s", list)
	}
	s.handler.Stop()
	if got, want := next(), `{"jsonrpc":"2.0","id":"sub","result":{"resultType":"complete",`+subscribed+`,"io.modelcontextprotocol/serverInfo":{"name":"zegate","version":"1.2.3"}}}}`; got != want {
		t.Errorf("result:\n got %s\nwant %s", got, want)
	}
	if _, err := io.Copy(io.Discard, events); err != nil {
		t.Errorf("end of stream: %v", err)
	}
	s.check(t, "subscriptions/listen", resp, all.Bytes())
}

// Who did not ask for tool list changes is not told of them.
func TestListenHonoursFilter(t *testing.T) {
	s := newServer(t, options{})
	resp := s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":false},$META}}`)
	s.executor.SetTools(edgetest.Tools()[:1])
	listed := s.post(t.Context(), t, `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}`)
	line, err := bufio.NewReader(listed.Body).ReadString('\n')
	if err != nil || !strings.Contains(line, `"toolsListChanged":true`) {
		t.Fatalf("second subscription: %q, %v", line, err)
	}
	s.handler.Stop()
	got := readAll(t, resp)
	if strings.Contains(got, "list_changed") || strings.Count(got, "data: ") != 2 || !strings.Contains(got, `"notifications":{}`) {
		t.Errorf("stream: %s", got)
	}
}

func TestListPages(t *testing.T) {
	s := newServer(t, options{})
	var tools []*executorv1.Tool
	names := map[string]bool{}
	for i := range 250 {
		name := "tool_" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		if names[name] {
			continue
		}
		names[name] = true
		tools = append(tools, &executorv1.Tool{Name: name, InputSchemaJson: []byte(`{"type":"object"}`)})
	}
	s.executor.SetTools(tools)
	var got []string
	cursor := ""
	for page := 0; ; page++ {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + cursor + `$META}}`
		resp := s.post(t.Context(), t, body)
		text := readAll(t, resp)
		s.check(t, "tools/list", resp, []byte(text))
		var answer struct {
			Result struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		if page == 0 && len(answer.Result.Tools) < 100 {
			// The new catalogue is on its way.
			page = -1
			continue
		}
		for _, tool := range answer.Result.Tools {
			got = append(got, tool.Name)
		}
		if len(answer.Result.Tools) > 100 {
			t.Fatalf("a page of %d tools", len(answer.Result.Tools))
		}
		if answer.Result.NextCursor == "" {
			break
		}
		cursor = `"cursor":"` + answer.Result.NextCursor + `",`
	}
	if len(got) != len(tools) {
		t.Fatalf("%d tools on all pages, want %d", len(got), len(tools))
	}
	for i, tool := range tools {
		if got[i] != tool.GetName() {
			t.Fatalf("tool %d is %s, want %s", i, got[i], tool.GetName())
		}
	}
}

func TestNoExecutorYet(t *testing.T) {
	s := newServer(t, options{empty: true})
	for _, method := range []string{"tools/list", "tools/call"} {
		resp := s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"name":"ze_execute",$META}}`)
		text := readAll(t, resp)
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, `"code":-32603`) || !strings.Contains(text, "try again") {
			t.Errorf("%s: %d %s", method, resp.StatusCode, text)
		}
	}
	if resp := s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{$META}}`); resp.StatusCode != http.StatusOK {
		t.Errorf("server/discover: %d", resp.StatusCode)
	}
}

// Each request leaves one audit record, refusals included, without what it carried.
func TestAudit(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		headers    []string
		want       map[string]any
	}{
		{
			"complete", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute","arguments":{"command":"hunter2"},$META}}`, nil,
			map[string]any{"outcome": "complete", "tool": "ze_execute", "method": "tools/call", "status": 200.0, "client": "test/1", "caller": "anonymous", "interface": "mcp"},
		},
		{
			"tool error", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail",$META}}`, nil,
			map[string]any{"outcome": "tool_error", "reason": "FAILURE_CLASS_FAILED", "status": 200.0},
		},
		{
			"question", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute",$FORM}}`, nil,
			map[string]any{"outcome": "input_required", "status": 200.0},
		},
		{
			"declined", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute","inputResponses":{"ze_execute_command":{"action":"decline"}},$FORM}}`, nil,
			map[string]any{"outcome": "declined", "status": 200.0},
		},
		{
			"contradiction", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute","arguments":{"command":"hunter2"},$META}}`,
			[]string{"Mcp-Name", "ze_commands"},
			map[string]any{"outcome": "refused", "reason": "HEADER_MISMATCH", "status": 400.0},
		},
		{
			"origin", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{$META}}`,
			[]string{"Origin", "https://evil.example.com"},
			map[string]any{"outcome": "refused", "reason": "ORIGIN_NOT_ALLOWED", "status": 403.0},
		},
		{
			"notification", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, nil,
			map[string]any{"outcome": "accepted", "status": 202.0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, options{})
			readAll(t, s.post(t.Context(), t, tt.body, tt.headers...))
			// The record follows the answer; the next answer on the same connection follows the record.
			readAll(t, s.post(t.Context(), t, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{$META}}`))
			records := strings.SplitAfter(s.audit.String(), "\n")
			var got map[string]any
			if err := json.Unmarshal([]byte(records[0]), &got); err != nil {
				t.Fatalf("audit %q: %v", records[0], err)
			}
			for k, v := range tt.want {
				if got[k] != v {
					t.Errorf("%s = %v, want %v, in %s", k, got[k], v, records[0])
				}
			}
			if strings.Contains(s.audit.String(), "hunter2") {
				t.Errorf("the audit holds the argument: %s", records[0])
			}
		})
	}
}
