package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/zegate/zegate/pkg/fault"
)

// Every reason has a row of its own: a new one without a row would look like an internal error.
var reasons = []fault.Reason{
	fault.PathNotFound, fault.MethodNotAllowed, fault.OriginNotAllowed, fault.Unauthenticated, fault.RateLimited, fault.UnsupportedMediaType,
	fault.NotAcceptable, fault.BodyTooLarge, fault.BodyTimeout, fault.ParseError, fault.InvalidRequest, fault.HeaderMismatch,
	fault.InvalidEnvelope, fault.UnsupportedVersion, fault.MissingCapability, fault.MethodNotFound, fault.InvalidParams,
	fault.MissingArgument, fault.UnknownTool, fault.UnknownCommand, fault.UnknownTask, fault.PermissionDenied, fault.LongRunning,
	fault.Busy, fault.Unavailable, fault.DeadlineExceeded, fault.Cancelled, fault.Unimplemented, fault.Internal, fault.Panicked,
}

func TestRoundTrip(t *testing.T) {
	for _, reason := range reasons {
		sent := fault.Wrap(errors.New("10.0.0.1 refused"), reason, "say %s", reason)
		sent.RetryAfter = 3 * time.Second
		got := fault.FromStatus(fault.ToStatus(fmt.Errorf("while calling: %w", sent)).Err())
		if got.Reason != reason || got.Message != "say "+string(reason) || got.RetryAfter != 3*time.Second {
			t.Errorf("%s came back as %+v", reason, got)
		}
		if !fault.Is(got, reason) {
			t.Errorf("Is(%s) is false", reason)
		}
		wire := reason.Wire()
		if wire.GRPC == codes.OK || wire.MCP < 200 || wire.REST < 400 || wire.JSONRPC == 0 {
			t.Errorf("%s has no row: %+v", reason, wire)
		}
		// JSON-RPC reserves -32768 to -32000; MCP allows no code there but its own.
		if c := wire.JSONRPC; c < 0 && c != -32700 && (c > -32600 || c < -32603) && (c > -32020 || c < -32022) {
			t.Errorf("%s has the code %d", reason, c)
		}
	}
}

// What nobody named leaves as a fixed text.
func TestCausesStay(t *testing.T) {
	for _, tt := range []struct {
		err     error
		reason  fault.Reason
		message string
	}{
		{errors.New("dial tcp 10.0.0.1:9000: refused"), fault.Internal, "internal error"},
		{context.DeadlineExceeded, fault.DeadlineExceeded, "the call did not end in time"},
		{context.Canceled, fault.Cancelled, "the call was cancelled"},
		{status.Error(codes.Unavailable, "dial tcp 10.0.0.1:9000: refused"), fault.Unavailable, "the service that runs the call cannot be reached: try again shortly"},
		{status.Error(codes.Unknown, "secret"), fault.Internal, "internal error"},
		{status.Error(codes.DataLoss, "secret"), fault.Internal, "internal error"},
	} {
		got := fault.FromStatus(tt.err)
		if got.Reason != tt.reason || got.Message != tt.message {
			t.Errorf("%v: got %s %q", tt.err, got.Reason, got.Message)
		}
		if !errors.Is(got, tt.err) {
			t.Errorf("%v: the cause is lost to the log", tt.err)
		}
	}
	wrapped := fault.Wrap(status.Error(codes.Internal, "secret"), fault.Busy, "try later")
	if got := fault.FromStatus(fmt.Errorf("calling: %w", wrapped)); got != wrapped {
		t.Errorf("a fault that wraps a status became %v", got)
	}
	if fault.From(nil) != nil || fault.FromStatus(nil) != nil {
		t.Error("no error became a fault")
	}
	if s := fault.ToStatus(errors.New("10.0.0.1")); s.Message() != "internal error" || s.Code() != codes.Internal {
		t.Errorf("status %v", s)
	}
}
