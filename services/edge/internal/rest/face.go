package rest

import (
	"context"
	"time"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// face is the executor as REST shows it. What a client of it could be asked for is an error instead.
type face struct {
	executorv1.UnimplementedExecutorServiceServer
	cfg Config
}

// ListTools answers the tools that can be called from here.
func (f *face) ListTools(ctx context.Context, _ *executorv1.ListToolsRequest) (*executorv1.ListToolsResponse, error) {
	s, e := f.cfg.Catalogue.Loaded()
	if e != nil {
		return nil, e
	}
	audit.From(ctx).Outcome = "complete"
	return s.List, nil
}

// CallTool runs a call whose arguments are the body, a JSON object.
func (f *face) CallTool(ctx context.Context, req *executorv1.CallToolRequest) (*executorv1.CallToolResponse, error) {
	record := audit.From(ctx)
	record.Tool = req.GetName()
	s, e := f.cfg.Catalogue.Loaded()
	if e != nil {
		return nil, e
	}
	tool := s.Tool(req.GetName())
	arguments := req.GetArgumentsJson()
	if len(arguments) > 0 && !rawjson.Valid(arguments) {
		return nil, fault.New(fault.ParseError, "the body is not valid JSON; duplicate names, invalid UTF-8 and data after the object are refused")
	}
	switch {
	case tool == nil:
		return nil, fault.New(fault.UnknownTool, "unknown tool; GET /v1/tools names the tools")
	case tool.RequiredCapabilities != nil:
		return nil, fault.New(fault.MissingCapability, "the tool %s needs abilities of an MCP client, so it cannot be called by REST", tool.Name)
	case len(arguments) > 0 && !rawjson.IsObject(arguments):
		return nil, fault.New(fault.InvalidParams, "the body must be a JSON object: the tool's arguments")
	case tool.Elicit != nil && tool.Elicit.Missing(arguments):
		return nil, fault.New(fault.MissingArgument, "missing required argument: %s", tool.Elicit.Name())
	}
	release, e := f.cfg.Gate.AcquireCall(ctx)
	if e != nil {
		return nil, e
	}
	defer release()
	result, err := f.cfg.Executor.CallTool(ctx, &executorv1.CallToolRequest{
		Name: tool.Name, ArgumentsJson: arguments, LongRunning: executorv1.LongRunning_LONG_RUNNING_RUN,
	})
	if err != nil {
		e := fault.FromStatus(err)
		f.cfg.Log.WarnContext(ctx, "call failed", "tool", tool.Name, "reason", e.Reason, "error", e)
		return nil, e
	}
	record.Outcome = "complete"
	if result.GetIsError() {
		if reason, ok := statusOf[result.GetFailureClass()]; ok {
			e := fault.New(reason, "%s", firstText(result))
			if reason == fault.Busy || reason == fault.Unavailable {
				e.RetryAfter = time.Second
			}
			return nil, e
		}
		record.Outcome, record.Reason = "tool_error", result.GetFailureClass().String()
	}
	return result, nil
}

// statusOf names the failures of a tool that have an HTTP status of their own; any other is an answer with isError.
var statusOf = map[executorv1.FailureClass]fault.Reason{
	executorv1.FailureClass_FAILURE_CLASS_MISSING_ARGUMENT: fault.MissingArgument,
	executorv1.FailureClass_FAILURE_CLASS_INVALID_ARGUMENT: fault.InvalidParams,
	executorv1.FailureClass_FAILURE_CLASS_UNKNOWN_COMMAND:  fault.UnknownCommand,
	executorv1.FailureClass_FAILURE_CLASS_UNAUTHORIZED:     fault.PermissionDenied,
	executorv1.FailureClass_FAILURE_CLASS_BUSY:             fault.Busy,
	executorv1.FailureClass_FAILURE_CLASS_UNAVAILABLE:      fault.Unavailable,
}

func firstText(r *executorv1.CallToolResponse) string {
	for _, c := range r.GetContent() {
		if t := c.GetText(); t != nil {
			return t.GetText()
		}
	}
	return fault.InternalText
}

// taskFace hands the task paths on to the task runner, which knows each caller's own.
type taskFace struct {
	taskrunnerv1.UnimplementedTaskRunnerServiceServer
	client taskrunnerv1.TaskRunnerServiceClient
}

// ListTasks answers the caller's tasks.
func (f *taskFace) ListTasks(ctx context.Context, req *taskrunnerv1.ListTasksRequest) (*taskrunnerv1.ListTasksResponse, error) {
	return f.client.ListTasks(ctx, req)
}

// GetTask answers one of the caller's tasks.
func (f *taskFace) GetTask(ctx context.Context, req *taskrunnerv1.GetTaskRequest) (*taskrunnerv1.GetTaskResponse, error) {
	return f.client.GetTask(ctx, req)
}

// CancelTask stops one of the caller's tasks.
func (f *taskFace) CancelTask(ctx context.Context, req *taskrunnerv1.CancelTaskRequest) (*taskrunnerv1.CancelTaskResponse, error) {
	return f.client.CancelTask(ctx, req)
}
