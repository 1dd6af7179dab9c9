package mcp

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/elicit"
	"github.com/zegate/zegate/services/edge/internal/encode"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// How long a client may keep a list: a minute. What is in it depends on the request (form mode, the caller), so no cache may
// share it.
const cacheHint = `,"ttlMs":60000,"cacheScope":"private"`

func (h *Handler) discover(_ context.Context, r *request) ([]byte, *fault.Error) {
	buf := append(r.buf, `"complete","supportedVersions":["`+protocolVersion+`"],"capabilities":{"tools":{"listChanged":true}}`...)
	if s, _ := h.cfg.Catalogue.Current(); s != nil && s.Instructions != "" {
		buf = rawjson.AppendString(append(buf, `,"instructions":`...), s.Instructions)
	}
	return append(buf, cacheHint...), nil
}

func (h *Handler) listTools(_ context.Context, r *request) ([]byte, *fault.Error) {
	cursor := ""
	if r.cursor != nil {
		var ok bool
		if cursor, ok = text(r.cursor); !ok {
			return nil, envelope("params.cursor must be a string")
		}
	}
	s, e := h.cfg.Catalogue.Loaded()
	if e != nil {
		return nil, e
	}
	// An empty cursor is one that this server never issued.
	tools, next, ok := s.Page(cursor, elicit.FormDeclared(r.meta.capabilities))
	if !ok || r.cursor != nil && cursor == "" {
		return nil, fault.New(fault.InvalidParams, "invalid params: params.cursor is not one that this server issued for its current list; list again from the start")
	}
	buf := append(append(r.buf, `"complete","tools":`...), tools...)
	if next != "" {
		buf = rawjson.AppendString(append(buf, `,"nextCursor":`...), next)
	}
	return append(buf, cacheHint...), nil
}

// callTool finds the tool, decides whether the user is asked first, and runs the call.
func (h *Handler) callTool(ctx context.Context, r *request) ([]byte, *fault.Error) {
	name, ok := text(r.name)
	if !ok {
		return nil, envelope("params.name is required and must be a string")
	}
	if r.arguments != nil && rawjson.KindOf(r.arguments) != rawjson.Object {
		return nil, envelope("params.arguments must be an object")
	}
	record := audit.From(ctx)
	record.Tool = name
	s, e := h.cfg.Catalogue.Loaded()
	if e != nil {
		return nil, e
	}
	tool := s.Tool(name)
	if tool == nil {
		return nil, fault.New(fault.UnknownTool, "unknown tool: %s; tools/list names the tools", quote(name))
	}
	if tool.RequiredCapabilities != nil && !declares(r.meta.capabilities, tool.RequiredCapabilities) {
		e := fault.New(fault.MissingCapability, "the tool %s needs client capabilities that this request does not declare", name)
		e.Data = append(append([]byte(`{"requiredCapabilities":`), tool.RequiredCapabilities...), '}')
		return nil, e
	}
	if e := checkParamHeaders(r.header, tool.Mirrors, r.arguments); e != nil {
		return nil, e
	}
	arguments, answered, e := decide(record, tool, r)
	if answered != nil || e != nil {
		return answered, e
	}
	release, e := h.cfg.Gate.AcquireCall(ctx)
	if e != nil {
		return nil, e
	}
	defer release()
	return h.run(ctx, r, name, arguments)
}

// decide applies the elicitation decision: the arguments to run with, or the answer.
func decide(record *audit.Record, tool *catalogue.Tool, r *request) (arguments, answered []byte, _ *fault.Error) {
	if tool.Elicit == nil {
		if d, ok := elicit.CheckResponses(r.inputResponses); !ok {
			return nil, nil, fault.New(fault.InvalidParams, "%s", d.Text)
		}
		return r.arguments, nil, nil
	}
	d := tool.Elicit.Decide(r.arguments, r.inputResponses, elicit.FormDeclared(r.meta.capabilities))
	switch d.Outcome {
	case elicit.Ask:
		record.Outcome = "input_required"
		return nil, append(append(r.buf, `"input_required","inputRequests":`...), tool.Elicit.InputRequests()...), nil
	case elicit.Fail:
		record.Outcome = "tool_error"
		if d.Refused {
			record.Outcome = "declined"
		}
		return nil, encode.ToolFailure(append(r.buf, `"complete",`...), d.Text), nil
	case elicit.Reject:
		return nil, nil, fault.New(fault.InvalidParams, "%s", d.Text)
	}
	return d.Arguments, nil, nil
}

// A call ends at this age whatever the device's own limits are, so that nothing hangs for ever.
const maxCallTime = 10 * time.Minute

func (h *Handler) run(ctx context.Context, r *request, name string, arguments []byte) ([]byte, *fault.Error) {
	ctx, cancel := context.WithTimeout(ctx, maxCallTime)
	defer cancel()
	call := &executorv1.CallToolRequest{Name: name, ArgumentsJson: arguments, LongRunning: executorv1.LongRunning_LONG_RUNNING_RUN}
	var result *executorv1.CallToolResponse
	var err error
	if r.meta.progressToken != nil && r.answer.accept.sse {
		result, err = h.runStream(ctx, r, call)
	} else {
		result, err = h.cfg.Executor.CallTool(ctx, call)
	}
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	buf, err := encode.ToolResult(append(r.buf, `"complete",`...), result)
	if err != nil {
		return nil, fault.From(err)
	}
	record := audit.From(ctx)
	record.Outcome = "complete"
	if result.GetIsError() {
		record.Outcome, record.Reason = "tool_error", result.GetFailureClass().String()
	}
	return buf, nil
}

// runStream runs a call whose progress the client follows.
func (h *Handler) runStream(ctx context.Context, r *request, call *executorv1.CallToolRequest) (*executorv1.CallToolResponse, error) {
	stream, err := h.cfg.Executor.StreamTool(ctx, &executorv1.StreamToolRequest{Call: call})
	if err != nil {
		return nil, err
	}
	r.answer.stream()
	last := -1.0
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.Internal, fault.InternalText)
		}
		if err != nil {
			return nil, err
		}
		if result := m.GetResult(); result != nil {
			return result, nil
		}
		// MCP asks for progress that rises with each notification.
		if p := m.GetProgress(); p != nil && p.GetProgress() > last {
			last = p.GetProgress()
			if err := r.answer.event(appendProgress(nil, r.meta.progressToken, p)); err != nil {
				return nil, err
			}
		}
	}
}

func appendProgress(dst, token []byte, p *executorv1.Progress) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...), token...)
	dst = strconv.AppendFloat(append(dst, `,"progress":`...), p.GetProgress(), 'f', -1, 64)
	if p.Total != nil {
		dst = strconv.AppendFloat(append(dst, `,"total":`...), p.GetTotal(), 'f', -1, 64)
	}
	if p.GetMessage() != "" {
		dst = rawjson.AppendString(append(dst, `,"message":`...), p.GetMessage())
	}
	return append(dst, `}}`...)
}

// declares tells whether capabilities hold every member of required, at every depth.
func declares(capabilities, required []byte) bool {
	ok := true
	_ = rawjson.Members(required, func(name string, want []byte) error {
		have := valueAt(capabilities, []string{name})
		switch {
		case rawjson.KindOf(have) != rawjson.Object:
			ok = false
		case rawjson.KindOf(want) == rawjson.Object:
			ok = ok && declares(have, want)
		}
		return nil
	})
	return ok
}
