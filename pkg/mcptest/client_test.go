package mcptest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBuild(t *testing.T) {
	c := &Client{URL: "http://127.0.0.1:1/mcp", Token: "s"}
	tests := []struct {
		name    string
		request Request
		header  map[string]string // empty: not there
		body    string
	}{
		{
			"call",
			Request{Method: "tools/call", Params: `{"name":"ze_execute","arguments":{"n":9007199254740993}}`, ID: `"a"`, Capabilities: Form},
			map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ze_execute", "Authorization": "Bearer s", "Content-Type": "application/json"},
			`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/clientInfo":{"name":"mcptest","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"arguments":{"n":9007199254740993},"name":"ze_execute"}}`,
		},
		{
			"sentinel",
			Request{Method: "prompts/get", Params: `{"name":"é","_meta":{}}`, ID: `1`},
			map[string]string{"Mcp-Name": "=?base64?w6k=?="},
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"_meta":{},"name":"é"}}`,
		},
		{
			"without",
			Request{Method: "tools/list", NoMeta: true, Notification: true, Header: map[string]string{"Mcp-Method": "", "MCP-Protocol-Version": "1"}},
			map[string]string{"Mcp-Method": "", "Mcp-Protocol-Version": "1", "Mcp-Name": ""},
			`{"jsonrpc":"2.0","method":"tools/list","params":{}}`,
		},
		{
			"meta",
			Request{Method: "tools/list", ID: `1`, Meta: map[string]string{KeyCapabilities: "", KeyClientInfo: "", "progressToken": `7`}},
			nil,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":7}}}`,
		},
		{"body", Request{Method: "tools/list", Body: []byte(`[]`)}, map[string]string{"Mcp-Method": "tools/list"}, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := c.Build(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range tt.header {
				if got := req.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Fatal(err)
			}
			if string(body) != tt.body {
				t.Errorf("body\n%s, want\n%s", body, tt.body)
			}
		})
	}
}

func TestEncodeHeader(t *testing.T) {
	for in, want := range map[string]string{
		"ze_execute": "ze_execute", "": "", "two words": "two words", " a": "=?base64?IGE=?=", "a\n": "=?base64?YQo=?=",
		"=?base64?x?=": "=?base64?PT9iYXNlNjQ/eD89?=",
	} {
		if got := EncodeHeader(in); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestDoAndOpen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ Method string }
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		switch m.Method {
		case "tools/list":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, listed)
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, sse(progress, called))
		case "subscriptions/listen":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, sse(acked, changed))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	c := &Client{URL: server.URL}

	if a := c.Do(t, Request{Method: "tools/list"}); len(a.Result(t)) == 0 || a.Status != http.StatusOK {
		t.Errorf("list: %+v", a)
	}
	a := c.Do(t, Request{Method: "tools/call", Params: `{"name":"a"}`})
	if len(a.Messages) != 2 || a.Messages[0].Method != "notifications/progress" || a.Tool(t).Text() != "x" {
		t.Errorf("call: %+v", a.Messages)
	}
	s := c.Open(t, Request{Method: "subscriptions/listen", Params: `{"notifications":{"toolsListChanged":true}}`})
	for _, want := range []string{"notifications/subscriptions/acknowledged", "notifications/tools/list_changed"} {
		m, ok := s.Next(t)
		if !ok || m.Method != want {
			t.Fatalf("%+v %v, want %s", m, ok, want)
		}
	}
	s.Close()
	if m, ok := s.Next(t); ok {
		t.Errorf("a message after the end: %+v", m)
	}
}
