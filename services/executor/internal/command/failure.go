package command

import "fmt"

// Class is the kind of a failure, the same for every back end.
type Class uint8

// Classes. The zero Class is not a failure.
const (
	// MissingArgument: a required argument was not given.
	MissingArgument Class = iota + 1
	// InvalidArgument: an argument does not fit.
	InvalidArgument
	// UnknownCommand: no such command on this device.
	UnknownCommand
	// Incomplete: the command needs more words.
	Incomplete
	// Unauthorized: policy does not allow the command.
	Unauthorized
	// Failed: the device ran the command and reported a failure.
	Failed
	// Unavailable: the device cannot be reached.
	Unavailable
	// Busy: the device or its queue is full.
	Busy
	// Timeout: the command did not end in time.
	Timeout
	// Cancelled: the caller went away.
	Cancelled
	// TooLarge: the answer is too large to be of use.
	TooLarge
)

// How the text of each class starts, so that a reader can tell classes apart by text alone.
var openings = [...]string{
	MissingArgument: "missing required argument",
	InvalidArgument: "invalid argument",
	UnknownCommand:  "unknown command",
	Incomplete:      "incomplete command",
	Unauthorized:    "unauthorized",
	Failed:          "failed",
	Unavailable:     "unavailable",
	Busy:            "busy",
	Timeout:         "timeout",
	Cancelled:       "cancelled",
	TooLarge:        "too large",
}

// String is how a text of this class starts.
func (c Class) String() string {
	if c == 0 || int(c) >= len(openings) {
		return fmt.Sprintf("class %d", uint8(c))
	}
	return openings[c]
}

// Failure is a command that did not succeed. Its text is for the caller: what was wrong and what to do next.
type Failure struct {
	// Class is the kind.
	Class Class
	// Detail follows the class in the text.
	Detail string

	cause error
}

// Fail makes a failure.
func Fail(class Class, format string, args ...any) *Failure {
	return &Failure{Class: class, Detail: fmt.Sprintf(format, args...)}
}

// FailFrom makes a failure that keeps its cause for the log; the caller sees the text alone.
func FailFrom(cause error, class Class, format string, args ...any) *Failure {
	f := Fail(class, format, args...)
	f.cause = cause
	return f
}

// Text is what the caller reads: "unknown command: ...".
func (f *Failure) Text() string { return f.Class.String() + ": " + f.Detail }

// Error is the text for a log: Text and the cause behind it.
func (f *Failure) Error() string {
	if f.cause == nil {
		return f.Text()
	}
	return f.Text() + ": " + f.cause.Error()
}

// Unwrap is the cause, nil where there is none.
func (f *Failure) Unwrap() error { return f.cause }
