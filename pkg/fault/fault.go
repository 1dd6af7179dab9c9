// Package fault is the one error that crosses a service boundary, and the one table that says how each kind of it looks
// on every wire: gRPC status, JSON-RPC code, HTTP status of an MCP answer, HTTP status of a REST answer.
//
// A call has three ways to go wrong (DESIGN section 3): the tool failed (data, no fault), the call failed (a fault), or
// the HTTP request never became a call (a fault too, decided before dispatch). Compare faults by Reason, never by text.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Reason is the kind of a fault; on gRPC it is google.rpc.ErrorInfo.reason.
type Reason string

// Reasons of requests that never became a call, in the order of the edge's pipeline. Their JSON-RPC code, where the
// protocol defines none, is the HTTP status: MCP asks for codes outside the range that JSON-RPC reserves.
const (
	PathNotFound         Reason = "PATH_NOT_FOUND"
	MethodNotAllowed     Reason = "METHOD_NOT_ALLOWED"
	OriginNotAllowed     Reason = "ORIGIN_NOT_ALLOWED"
	Unauthenticated      Reason = "UNAUTHENTICATED"
	RateLimited          Reason = "RATE_LIMITED"
	UnsupportedMediaType Reason = "UNSUPPORTED_MEDIA_TYPE"
	NotAcceptable        Reason = "NOT_ACCEPTABLE"
	BodyTooLarge         Reason = "BODY_TOO_LARGE"
	BodyTimeout          Reason = "BODY_TIMEOUT"
	ParseError           Reason = "PARSE_ERROR"
	InvalidRequest       Reason = "INVALID_REQUEST"
	HeaderMismatch       Reason = "HEADER_MISMATCH"
	InvalidEnvelope      Reason = "INVALID_ENVELOPE" // params or _meta of the wrong shape, requestState
	UnsupportedVersion   Reason = "UNSUPPORTED_VERSION"
	MissingCapability    Reason = "MISSING_CAPABILITY"
	MethodNotFound       Reason = "METHOD_NOT_FOUND"
)

// Reasons of calls that failed.
const (
	InvalidParams    Reason = "INVALID_PARAMS"
	MissingArgument  Reason = "MISSING_ARGUMENT"
	UnknownTool      Reason = "UNKNOWN_TOOL"
	UnknownCommand   Reason = "UNKNOWN_COMMAND"
	UnknownTask      Reason = "UNKNOWN_TASK"
	PermissionDenied Reason = "PERMISSION_DENIED"
	LongRunning      Reason = "LONG_RUNNING"
	Busy             Reason = "BUSY"
	Unavailable      Reason = "UNAVAILABLE"
	DeadlineExceeded Reason = "DEADLINE_EXCEEDED"
	Cancelled        Reason = "CANCELLED"
	Unimplemented    Reason = "UNIMPLEMENTED"
	Internal         Reason = "INTERNAL"
	Panicked         Reason = "PANICKED"
)

// InternalText is all that a caller learns of a cause that is not its business.
const InternalText = "internal error"

// Error is a fault. The zero Reason is not valid; use New or Wrap.
type Error struct {
	// Reason is the kind.
	Reason Reason
	// Message is for the caller: what was wrong and what to do. It never holds a secret or an internal detail.
	Message string
	// RetryAfter is how long to wait before trying again; 0 means that waiting does not help or is not known to.
	RetryAfter time.Duration
	// Data is JSON that goes with the error to an MCP client (JSON-RPC error.data); it does not cross gRPC.
	Data []byte

	cause error
}

// New makes a fault with a text for the caller.
func New(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault that keeps its cause for the log. The caller sees the text alone.
func Wrap(cause error, reason Reason, format string, args ...any) *Error {
	e := New(reason, format, args...)
	e.cause = cause
	return e
}

// Error is the text for a log: the public message and the cause behind it.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.cause.Error()
}

// Unwrap is the cause, nil where there is none.
func (e *Error) Unwrap() error { return e.cause }

// From finds the fault in err. A context's end becomes Cancelled or DeadlineExceeded, and a cause that nobody named becomes
// Internal with a fixed text, so that nothing internal leaves by accident. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, DeadlineExceeded, "the call did not end in time")
	case errors.Is(err, context.Canceled):
		return Wrap(err, Cancelled, "the call was cancelled")
	}
	return Wrap(err, Internal, InternalText)
}

// Is tells whether err is a fault of this reason.
func Is(err error, reason Reason) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == reason
}
