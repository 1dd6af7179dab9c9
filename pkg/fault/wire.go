package fault

import (
	"errors"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Domain is google.rpc.ErrorInfo.domain of every fault.
const Domain = "zegate"

// JSON-RPC codes that MCP 2026-07-28 uses (basic, "Error Codes").
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// Wire is how a reason looks outside.
type Wire struct {
	// GRPC is the status code between services.
	GRPC codes.Code
	// JSONRPC is error.code of an MCP answer.
	JSONRPC int
	// MCP is the HTTP status of an MCP answer (DESIGN section 3).
	MCP int
	// REST is the HTTP status of a REST answer (DESIGN section 5).
	REST int
}

// The table. A reason that is not in it is a programming error, which a test finds.
var table = map[Reason]Wire{
	PathNotFound:         {codes.NotFound, http.StatusNotFound, http.StatusNotFound, http.StatusNotFound},
	MethodNotAllowed:     {codes.Unimplemented, http.StatusMethodNotAllowed, http.StatusMethodNotAllowed, http.StatusMethodNotAllowed},
	OriginNotAllowed:     {codes.PermissionDenied, http.StatusForbidden, http.StatusForbidden, http.StatusForbidden},
	Unauthenticated:      {codes.Unauthenticated, http.StatusUnauthorized, http.StatusUnauthorized, http.StatusUnauthorized},
	RateLimited:          {codes.ResourceExhausted, http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusTooManyRequests},
	UnsupportedMediaType: {codes.InvalidArgument, http.StatusUnsupportedMediaType, http.StatusUnsupportedMediaType, http.StatusUnsupportedMediaType},
	NotAcceptable:        {codes.InvalidArgument, http.StatusNotAcceptable, http.StatusNotAcceptable, http.StatusNotAcceptable},
	BodyTooLarge:         {codes.InvalidArgument, http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge},
	BodyTimeout:          {codes.DeadlineExceeded, http.StatusRequestTimeout, http.StatusRequestTimeout, http.StatusRequestTimeout},
	ParseError:           {codes.InvalidArgument, codeParse, http.StatusBadRequest, http.StatusBadRequest},
	InvalidRequest:       {codes.InvalidArgument, codeInvalidRequest, http.StatusBadRequest, http.StatusBadRequest},
	HeaderMismatch:       {codes.InvalidArgument, codeHeaderMismatch, http.StatusBadRequest, http.StatusBadRequest},
	InvalidEnvelope:      {codes.InvalidArgument, codeInvalidParams, http.StatusBadRequest, http.StatusBadRequest},
	UnsupportedVersion:   {codes.InvalidArgument, codeUnsupportedVersion, http.StatusBadRequest, http.StatusBadRequest},
	MissingCapability:    {codes.FailedPrecondition, codeMissingCapability, http.StatusBadRequest, http.StatusBadRequest},
	MethodNotFound:       {codes.Unimplemented, codeMethodNotFound, http.StatusNotFound, http.StatusNotFound},

	InvalidParams:    {codes.InvalidArgument, codeInvalidParams, http.StatusOK, http.StatusBadRequest},
	MissingArgument:  {codes.InvalidArgument, codeInvalidParams, http.StatusOK, http.StatusBadRequest},
	UnknownTool:      {codes.NotFound, codeInvalidParams, http.StatusOK, http.StatusNotFound},
	UnknownCommand:   {codes.NotFound, codeInvalidParams, http.StatusOK, http.StatusNotFound},
	UnknownTask:      {codes.NotFound, codeInvalidParams, http.StatusOK, http.StatusNotFound},
	PermissionDenied: {codes.PermissionDenied, codeInternal, http.StatusOK, http.StatusForbidden},
	LongRunning:      {codes.FailedPrecondition, codeInternal, http.StatusOK, http.StatusConflict},
	Busy:             {codes.ResourceExhausted, codeInternal, http.StatusOK, http.StatusTooManyRequests},
	Unavailable:      {codes.Unavailable, codeInternal, http.StatusOK, http.StatusServiceUnavailable},
	DeadlineExceeded: {codes.DeadlineExceeded, codeInternal, http.StatusOK, http.StatusGatewayTimeout},
	Cancelled:        {codes.Canceled, codeInternal, http.StatusOK, 499},
	Unimplemented:    {codes.Unimplemented, codeMethodNotFound, http.StatusNotFound, http.StatusNotImplemented},
	Internal:         {codes.Internal, codeInternal, http.StatusOK, http.StatusInternalServerError},
	Panicked:         {codes.Internal, codeInternal, http.StatusInternalServerError, http.StatusInternalServerError},
}

// Wire is the reason's row of the table; an unknown reason looks like Internal.
func (r Reason) Wire() Wire {
	if w, ok := table[r]; ok {
		return w
	}
	return table[Internal]
}

// reasonOf names a status that carries no ErrorInfo of ours: one from the transport, or from an executor in another
// language that sets just a code.
var reasonOf = map[codes.Code]Reason{
	codes.InvalidArgument:   InvalidParams,
	codes.NotFound:          UnknownTool,
	codes.PermissionDenied:  PermissionDenied,
	codes.Unauthenticated:   Internal, // between services: a fault of the set-up, not of the caller
	codes.ResourceExhausted: Busy,
	codes.Unavailable:       Unavailable,
	codes.DeadlineExceeded:  DeadlineExceeded,
	codes.Canceled:          Cancelled,
	codes.Unimplemented:     Unimplemented,
}

// ToStatus turns any error into the gRPC status that leaves a service: the fault's code, public text, ErrorInfo and, where
// waiting helps, RetryInfo. A status that some library made keeps its code.
func ToStatus(err error) *status.Status {
	var e *Error
	if !errors.As(err, &e) {
		if s, ok := status.FromError(err); ok {
			return s
		}
		e = From(err)
	}
	s := status.New(e.Reason.Wire().GRPC, e.Message)
	info := &errdetails.ErrorInfo{Reason: string(e.Reason), Domain: Domain}
	if e.RetryAfter > 0 {
		if d, derr := s.WithDetails(info, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)}); derr == nil {
			return d
		}
	}
	if d, derr := s.WithDetails(info); derr == nil {
		return d
	}
	return s
}

// FromStatus turns the error of a gRPC call into a fault. A status of ours comes back as it was sent; of any other, the
// code decides the reason and the text is replaced, since it may tell of addresses and libraries. FromStatus(nil) is nil.
func FromStatus(err error) *Error {
	if err == nil {
		return nil
	}
	// A fault that wraps a status is a fault: the status is its cause.
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	s, ok := status.FromError(err)
	if !ok {
		return From(err)
	}
	var reason Reason
	var retry time.Duration
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == Domain {
				reason = Reason(d.GetReason())
			}
		case *errdetails.RetryInfo:
			retry = d.GetRetryDelay().AsDuration()
		}
	}
	if _, known := table[reason]; known {
		e = Wrap(err, reason, "%s", s.Message())
		e.RetryAfter = retry
		return e
	}
	reason, known := reasonOf[s.Code()]
	if !known {
		return Wrap(err, Internal, InternalText)
	}
	return Wrap(err, reason, "%s", foreignText[reason])
}

// foreignText is what a caller reads in place of a text that is not ours.
var foreignText = map[Reason]string{
	InvalidParams:    "the arguments were refused",
	UnknownTool:      "no such tool",
	PermissionDenied: "not permitted",
	Internal:         InternalText,
	Busy:             "the service is busy: try again shortly",
	Unavailable:      "the service that runs the call cannot be reached: try again shortly",
	DeadlineExceeded: "the call did not end in time",
	Cancelled:        "the call was cancelled",
	Unimplemented:    "not supported by the service that runs the call",
}
