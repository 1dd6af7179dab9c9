package server

import (
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

var classes = map[command.Class]executorv1.FailureClass{
	command.MissingArgument: executorv1.FailureClass_FAILURE_CLASS_MISSING_ARGUMENT,
	command.InvalidArgument: executorv1.FailureClass_FAILURE_CLASS_INVALID_ARGUMENT,
	command.UnknownCommand:  executorv1.FailureClass_FAILURE_CLASS_UNKNOWN_COMMAND,
	command.Incomplete:      executorv1.FailureClass_FAILURE_CLASS_INCOMPLETE,
	command.Unauthorized:    executorv1.FailureClass_FAILURE_CLASS_UNAUTHORIZED,
	command.Failed:          executorv1.FailureClass_FAILURE_CLASS_FAILED,
	command.Unavailable:     executorv1.FailureClass_FAILURE_CLASS_UNAVAILABLE,
	command.Busy:            executorv1.FailureClass_FAILURE_CLASS_BUSY,
	command.Timeout:         executorv1.FailureClass_FAILURE_CLASS_TIMEOUT,
	command.Cancelled:       executorv1.FailureClass_FAILURE_CLASS_CANCELLED,
	command.TooLarge:        executorv1.FailureClass_FAILURE_CLASS_TOO_LARGE,
}

// failed says why a tool failed. Output that arrived before the failure follows in a block of its own, marked as partial.
func failed(f *command.Failure, partial *output.Result) *executorv1.CallToolResponse {
	r := text(f.Text())
	r.IsError, r.FailureClass = true, classes[f.Class]
	if partial != nil && partial.Text != "" {
		r.Content = append(r.Content, text("[partial output, from before the failure]\n"+partial.Text).Content...)
		r.Truncation = truncation(*partial)
	}
	return r
}

func succeeded(out output.Result) *executorv1.CallToolResponse {
	r := text(out.Text)
	r.Truncation = truncation(out)
	return r
}

func truncation(out output.Result) *executorv1.Truncation {
	if !out.Truncated {
		return nil
	}
	return &executorv1.Truncation{TotalBytes: out.TotalBytes, KeptBytes: out.KeptBytes, KeptLines: out.KeptLines, TotalIsLowerBound: out.LowerBound}
}

func text(s string) *executorv1.CallToolResponse {
	return &executorv1.CallToolResponse{
		Content: []*executorv1.Content{{Kind: &executorv1.Content_Text{Text: &executorv1.TextContent{Text: s}}}},
	}
}
