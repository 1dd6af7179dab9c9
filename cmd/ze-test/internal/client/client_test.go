package client

import (
	"strings"
	"testing"
)

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"ze_execute": "ze_execute", "a b": "a b", " a": "=?base64?IGE=?=", "é": "=?base64?w6k=?=", "a\tb": "=?base64?YQli?=",
		"=?base64?YQ==?=": "=?base64?PT9iYXNlNjQ/WVE9PT89?=",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	const sse = "text/event-stream; charset=utf-8"
	tests := []struct {
		name, contentType, body string
		result, err             string
	}{
		{"JSON", "application/json", `{"jsonrpc":"2.0","id":5,"result":{}}`, `{}`, ""},
		{"not JSON", "text/html", `<p>`, "", ""},
		{"JSON of something else", "application/json", `{"error":"x"}`, "", ""},
		{"another version", "application/json", `{"jsonrpc":"1.0","id":5,"result":{}}`, "", "not a JSON-RPC 2.0 answer"},
		{"both", "application/json", `{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":"m"}}`, "", "not a JSON-RPC 2.0 answer"},
		{"another id", "application/json", `{"jsonrpc":"2.0","id":6,"result":{}}`, "", "for request 6"},
		{"error without id", "application/json", `{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, "", ""},
		{"stream", sse, ": c\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\r\n\r\ndata:{\"jsonrpc\":\"2.0\",\r\ndata: \"id\":5,\"result\":{}}\r\n\r\n", `{}`, ""},
		{"stream without end", sse, "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n", "", "ends without an answer"},
		{"request of the server", sse, "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"elicitation/create\"}\n\n", "", "not a JSON-RPC 2.0 answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a Answer
			err := a.read(tt.contentType, []byte(tt.body), 5)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if string(a.Result) != tt.result {
				t.Errorf("result %s, want %s", a.Result, tt.result)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("text/event-stream", []byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"))
	f.Add("application/json", []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		var a Answer
		if err := a.read(contentType, body, 1); err != nil && (a.Result != nil || a.Error != nil) {
			t.Errorf("an answer and the error %v", err)
		}
	})
}
