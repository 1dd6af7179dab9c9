package mcptest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Message is a JSON-RPC message that a server sent.
type Message struct {
	// ID is the id of a response, as JSON; nil for a notification and where the request's could not be read.
	ID json.RawMessage `json:"id"`
	// Method is a notification's method; empty for a response.
	Method string `json:"method"`
	// Params is a notification's params.
	Params json.RawMessage `json:"params"`
	// Result is a response's result; nil for an error.
	Result json.RawMessage `json:"result"`
	// Error is a response's error.
	Error *Error `json:"error"`
}

// Error is the error of a response.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Answer is what came back for a request.
type Answer struct {
	// Status is the HTTP status.
	Status int
	// Header is the HTTP header.
	Header http.Header
	// Body is the body as it came.
	Body []byte
	// Messages are the JSON-RPC messages in the body, in order.
	Messages []Message
}

// Final is the response that ends the answer.
func (a *Answer) Final(t testing.TB) Message {
	t.Helper()
	if len(a.Messages) == 0 {
		t.Fatalf("no message in the answer (HTTP %d)", a.Status)
	}
	return a.Messages[len(a.Messages)-1]
}

// Result is the result; the test fails when the answer is an error.
func (a *Answer) Result(t testing.TB) json.RawMessage {
	t.Helper()
	m := a.Final(t)
	if m.Error != nil {
		t.Fatalf("HTTP %d, error %d: %s", a.Status, m.Error.Code, m.Error.Message)
	}
	return m.Result
}

// Error is the error; the test fails when the answer is a result.
func (a *Answer) Error(t testing.TB) *Error {
	t.Helper()
	m := a.Final(t)
	if m.Error == nil {
		t.Fatalf("HTTP %d, a result where an error is due: %s", a.Status, m.Result)
	}
	return m.Error
}

// ToolResult is the result of tools/call.
type ToolResult struct {
	ResultType        string                     `json:"resultType"`
	IsError           bool                       `json:"isError"`
	Content           []Content                  `json:"content"`
	StructuredContent json.RawMessage            `json:"structuredContent"`
	InputRequests     map[string]json.RawMessage `json:"inputRequests"`
}

// Content is a block of a tool's output.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Tool is the result as one of tools/call; the test fails when the answer is an error.
func (a *Answer) Tool(t testing.TB) ToolResult {
	t.Helper()
	var r ToolResult
	if err := json.Unmarshal(a.Result(t), &r); err != nil {
		t.Fatalf("tool result: %v", err)
	}
	return r
}

// Text is the text of all blocks, a line break between them.
func (r ToolResult) Text() string {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}
