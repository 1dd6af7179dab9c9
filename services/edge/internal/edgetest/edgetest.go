// Package edgetest is an executor for the edge's tests: tools that do as little as shows what the edge does.
package edgetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/zegate/zegate/pkg/identity"
	"github.com/zegate/zegate/pkg/rpc/rpctest"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
)

// Executor serves fixed tools and notes what was called.
type Executor struct {
	executorv1.UnimplementedExecutorServiceServer

	// Calls counts calls that reached the executor.
	Calls atomic.Int64
	// Started gets a value when the tool "block" starts, Stopped when its context ends.
	Started, Stopped chan struct{}
	// Release lets the tool "block" end by itself; nil means never.
	Release <-chan struct{}

	mu       sync.Mutex
	tools    []*executorv1.Tool
	revision int
	changed  chan struct{}
	last     *executorv1.CallToolRequest
	caller   identity.Caller
}

// New makes an executor with the standard tools.
func New() *Executor {
	return &Executor{
		Started: make(chan struct{}, 1), Stopped: make(chan struct{}, 1),
		tools: Tools(), changed: make(chan struct{}),
	}
}

// Client serves the executor through the production interceptors until the test ends.
func (e *Executor) Client(t testing.TB) executorv1.ExecutorServiceClient {
	t.Helper()
	conn := rpctest.Serve(t, func(s grpc.ServiceRegistrar) { executorv1.RegisterExecutorServiceServer(s, e) })
	return executorv1.NewExecutorServiceClient(conn)
}

// SetTools replaces the catalogue.
func (e *Executor) SetTools(tools []*executorv1.Tool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tools = tools
	e.revision++
	close(e.changed)
	e.changed = make(chan struct{})
}

// Last is the last call and who made it.
func (e *Executor) Last() (*executorv1.CallToolRequest, identity.Caller) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last, e.caller
}

// Tools are the standard tools.
func Tools() []*executorv1.Tool {
	object := []byte(`{"type":"object"}`)
	yes, no := true, false
	return []*executorv1.Tool{
		{
			Name: "ze_execute", Title: "Run a command", Description: "Runs one command.",
			InputSchemaJson: []byte(`{"type":"object","properties":{"command":{"type":"string"},"n":{"type":"integer"}},"required":["command"],"additionalProperties":false}`),
			ElicitableArguments: []*executorv1.ElicitableArgument{{
				Argument: "command", Key: "ze_execute_command",
				Message:            "Which ze command should be run? For example: show bgp summary",
				PropertySchemaJson: []byte(`{"type":"string","title":"ze command","description":"The ze command to execute, for example 'show bgp peer list'."}`),
			}},
			Annotations: &executorv1.ToolAnnotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		{Name: "ze_commands", Description: "Lists the commands.", InputSchemaJson: []byte(`{"type":"object","additionalProperties":false}`)},
		{Name: "content", InputSchemaJson: object, OutputSchemaJson: []byte(`{"type":"object"}`)},
		{Name: "fail", InputSchemaJson: object},
		{Name: "broken", InputSchemaJson: object},
		{Name: "panic", InputSchemaJson: object},
		{Name: "block", InputSchemaJson: object},
		{Name: "progress", InputSchemaJson: object},
		{Name: "sampling", InputSchemaJson: object, RequiredClientCapabilitiesJson: []byte(`{"sampling":{}}`)},
		{
			Name:            "mirror",
			InputSchemaJson: []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"at":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`),
		},
	}
}

// ListTools answers the catalogue.
func (e *Executor) ListTools(context.Context, *executorv1.ListToolsRequest) (*executorv1.ListToolsResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &executorv1.ListToolsResponse{Tools: e.tools, Revision: fmt.Sprint("r", e.revision), Instructions: "Call ze_reference first."}, nil
}

// WatchTools tells of each SetTools.
func (e *Executor) WatchTools(_ *executorv1.WatchToolsRequest, s grpc.ServerStreamingServer[executorv1.WatchToolsResponse]) error {
	for {
		e.mu.Lock()
		revision, changed := fmt.Sprint("r", e.revision), e.changed
		e.mu.Unlock()
		if err := s.Send(&executorv1.WatchToolsResponse{Revision: revision}); err != nil {
			return err
		}
		select {
		case <-s.Context().Done():
			return nil
		case <-changed:
		}
	}
}

// CallTool runs a tool.
func (e *Executor) CallTool(ctx context.Context, req *executorv1.CallToolRequest) (*executorv1.CallToolResponse, error) {
	e.Calls.Add(1)
	e.mu.Lock()
	e.last, e.caller = req, identity.FromContext(ctx)
	e.mu.Unlock()
	switch req.GetName() {
	case "content":
		return contents(), nil
	case "fail":
		return failure(executorv1.FailureClass_FAILURE_CLASS_FAILED, "the device said no"), nil
	case "broken":
		return nil, fmt.Errorf("secret internals at 10.0.0.1")
	case "panic":
		panic("the tool panics")
	case "block":
		e.Started <- struct{}{}
		select {
		case <-e.Release:
			return text("released"), nil
		case <-ctx.Done():
			e.Stopped <- struct{}{}
			return nil, ctx.Err()
		}
	case "ze_execute":
		for _, c := range []struct {
			word  string
			class executorv1.FailureClass
		}{
			{"denied", executorv1.FailureClass_FAILURE_CLASS_UNAUTHORIZED},
			{"nonsense", executorv1.FailureClass_FAILURE_CLASS_UNKNOWN_COMMAND},
			{"busy", executorv1.FailureClass_FAILURE_CLASS_BUSY},
			{"down", executorv1.FailureClass_FAILURE_CLASS_UNAVAILABLE},
			{"slow", executorv1.FailureClass_FAILURE_CLASS_TIMEOUT},
		} {
			if strings.Contains(string(req.GetArgumentsJson()), c.word) {
				return failure(c.class, "it is "+c.word), nil
			}
		}
	}
	return text("ran " + req.GetName() + " with " + string(req.GetArgumentsJson())), nil
}

// StreamTool reports progress, one step of it backwards, and then what CallTool answers.
func (e *Executor) StreamTool(req *executorv1.StreamToolRequest, s grpc.ServerStreamingServer[executorv1.StreamToolResponse]) error {
	total := 3.0
	for _, p := range []float64{1, 2, 1.5, 3} {
		m := &executorv1.StreamToolResponse{Event: &executorv1.StreamToolResponse_Progress{Progress: &executorv1.Progress{Progress: p, Total: &total, Message: fmt.Sprint("line ", p)}}}
		if req.GetCall().GetName() != "progress" {
			break
		}
		if err := s.Send(m); err != nil {
			return err
		}
	}
	result, err := e.CallTool(s.Context(), req.GetCall())
	if err != nil {
		return err
	}
	return s.Send(&executorv1.StreamToolResponse{Event: &executorv1.StreamToolResponse_Result{Result: result}})
}

func text(s string) *executorv1.CallToolResponse {
	return &executorv1.CallToolResponse{Content: []*executorv1.Content{{Kind: &executorv1.Content_Text{Text: &executorv1.TextContent{Text: s}}}}}
}

func failure(class executorv1.FailureClass, s string) *executorv1.CallToolResponse {
	r := text(s)
	r.IsError, r.FailureClass = true, class
	return r
}

func contents() *executorv1.CallToolResponse {
	priority, size := 0.5, uint64(7)
	return &executorv1.CallToolResponse{
		Content: []*executorv1.Content{
			{Kind: &executorv1.Content_Text{Text: &executorv1.TextContent{Text: "two\nlines \u2028 \"quoted\""}}},
			{
				Kind:        &executorv1.Content_Image{Image: &executorv1.ImageContent{Data: []byte{1, 2, 3}, MimeType: "image/png"}},
				Annotations: &executorv1.ContentAnnotations{Audience: []string{"user", "assistant"}, Priority: &priority, LastModified: "2026-07-28T00:00:00Z"},
			},
			{Kind: &executorv1.Content_Audio{Audio: &executorv1.AudioContent{Data: []byte{4}, MimeType: "audio/wav"}}, Annotations: &executorv1.ContentAnnotations{}},
			{Kind: &executorv1.Content_Resource{Resource: &executorv1.EmbeddedResource{Uri: "test://text", MimeType: "text/plain", Body: &executorv1.EmbeddedResource_Text{Text: "t"}}}},
			{Kind: &executorv1.Content_Resource{Resource: &executorv1.EmbeddedResource{Uri: "test://blob", Body: &executorv1.EmbeddedResource_Blob{Blob: []byte{5}}}}},
			{Kind: &executorv1.Content_ResourceLink{ResourceLink: &executorv1.ResourceLink{Uri: "test://link", Name: "link", Title: "Link", Size: &size}}},
		},
		// White space that is valid JSON and would break an event stream.
		StructuredContentJson: []byte("{\"n\": 9007199254740993,\n \"list\": [1.0,\r\n 2e3]}"),
	}
}
