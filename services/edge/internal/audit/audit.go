// Package audit writes one record per request that reached the edge, refusals included: who asked for what, and what was
// decided. Arguments, elicited values and tokens are never part of it.
package audit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

// Record is what is known of one request; the zero value of a field means that it is not known or does not apply.
type Record struct {
	// Caller is the authenticated subject.
	Caller string
	// Remote is the address at the other end of the connection.
	Remote string
	// Client is what the client calls itself, name/version.
	Client string
	// Interface is how the request came: mcp or rest.
	Interface string
	// Method is the JSON-RPC method, or the HTTP method and path pattern of a REST call.
	Method string
	// Tool is the tool's name.
	Tool string
	// Reason is the fault's reason, of a request that was refused or a call that failed.
	Reason string
	// Outcome is one of complete, tool_error, input_required, declined, accepted (a notification), refused, failed, gone.
	Outcome string
	// Status is the HTTP status.
	Status int
	// Bytes is the length of the answer's body.
	Bytes int

	start time.Time
}

// Log takes records. The nil Log takes none.
type Log struct {
	out    *slog.Logger
	closer io.Closer
}

// Stderr is the file name that stands for standard error.
const Stderr = "stderr"

// Open makes a log that appends to file, or writes to standard error when file is "stderr". An empty file means no log.
func Open(file string) (*Log, error) {
	switch file {
	case "":
		return nil, nil
	case Stderr:
		return New(os.Stderr), nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("audit.file: %w", err)
	}
	l := New(f)
	l.closer = f
	return l, nil
}

// New makes a log that writes one JSON object a line to w.
func New(w io.Writer) *Log {
	return &Log{out: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	}))}
}

// Close closes the file.
func (l *Log) Close() error {
	if l == nil || l.closer == nil {
		return nil
	}
	return l.closer.Close()
}

type key struct{}

// Begin starts the record of a request.
func Begin(ctx context.Context) (context.Context, *Record) {
	r := &Record{start: time.Now()}
	return context.WithValue(ctx, key{}, r), r
}

// From is the record of the request that ctx belongs to; outside a request, one that nobody reads.
func From(ctx context.Context) *Record {
	if r, ok := ctx.Value(key{}).(*Record); ok {
		return r
	}
	return &Record{}
}

// Write writes the record.
func (l *Log) Write(ctx context.Context, r *Record) {
	if l == nil {
		return
	}
	l.out.LogAttrs(ctx, slog.LevelInfo, "audit",
		slog.String("caller", r.Caller),
		slog.String("remote", r.Remote),
		slog.String("client", r.Client),
		slog.String("interface", r.Interface),
		slog.String("method", r.Method),
		slog.String("tool", r.Tool),
		slog.String("outcome", r.Outcome),
		slog.String("reason", r.Reason),
		slog.Int("status", r.Status),
		slog.Int("bytes", r.Bytes),
		slog.Duration("duration", time.Since(r.start)),
	)
}
