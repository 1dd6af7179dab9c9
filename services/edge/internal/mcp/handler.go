// Package mcp is MCP over HTTP, revision 2026-07-28: one POST, one JSON-RPC message, one answer. Nothing is kept from one
// request to the next.
//
// A request passes the steps of the pipeline in a fixed order, so that each refusal is decided on what the steps before it
// have established. Path, host, origin, authentication and rate (steps 1 to 4) are package gate's; the rest is here.
package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/gate"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// Config is what the handler works with.
type Config struct {
	// Version is the server's own version.
	Version string
	// Executor runs tool calls.
	Executor executorv1.ExecutorServiceClient
	// Catalogue is the list of tools.
	Catalogue *catalogue.Catalogue
	// Gate bounds bodies, concurrent calls and streams.
	Gate *gate.Gate
	// Log takes what went wrong inside.
	Log *slog.Logger
}

// Handler answers POST /mcp.
type Handler struct {
	cfg      Config
	methods  map[string]method
	self     []byte // the member serverInfo of every result's _meta
	stopping chan struct{}
	stop     sync.Once
}

// method answers a request that passed the pipeline: with a fault, or with a result, which is request.buf and the members
// of the result after it, resultType's value first, _meta left out. A method whose client has gone returns neither.
type method func(ctx context.Context, r *request) (result []byte, _ *fault.Error)

// request is one request after the pipeline.
type request struct {
	message
	meta       meta
	header     http.Header
	answer     *answer
	buf        []byte // where the answer is built
	resultMeta []byte // a member of the result's _meta beside serverInfo
}

// New makes a handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg, stopping: make(chan struct{})}
	h.self = append([]byte(nil), `"io.modelcontextprotocol/serverInfo":{"name":"zegate","version":`...)
	h.self = append(rawjson.AppendString(h.self, cfg.Version), '}')
	h.methods = map[string]method{
		"server/discover":      h.discover,
		"tools/list":           h.listTools,
		"tools/call":           h.callTool,
		"subscriptions/listen": h.listen,
	}
	return h
}

// Stop ends open subscriptions, each with its result; requests that are being answered go on.
func (h *Handler) Stop() { h.stop.Do(func() { close(h.stopping) }) }

// Refuse answers a request that did not get as far as the handler.
func Refuse(w http.ResponseWriter, r *http.Request, e *fault.Error) {
	a := &answer{w: w, rc: http.NewResponseController(w), accept: accept{json: true}}
	finishFault(r.Context(), a, nil, e)
}

// ServeHTTP is steps 5 to 13 of the pipeline.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{w: w, rc: http.NewResponseController(w), accept: accept{json: true}}
	record := audit.From(r.Context())
	defer func() {
		record.Status, record.Bytes = a.status, a.written
	}()
	var m message
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
				panic(p)
			}
			h.cfg.Log.ErrorContext(r.Context(), "panic in a request", "method", m.method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			finishFault(r.Context(), a, m.id, fault.New(fault.Panicked, fault.InternalText))
		}
	}()
	h.serve(a, r, &m, record)
}

func (h *Handler) serve(a *answer, r *http.Request, m *message, record *audit.Record) {
	ctx := r.Context()
	if e := gate.CheckContentType(r); e != nil {
		finishFault(ctx, a, nil, e)
		return
	}
	accepted, e := parseAccept(r.Header)
	if e != nil {
		finishFault(ctx, a, nil, e)
		return
	}
	body, release, e := h.cfg.Gate.ReadBody(a.w, r)
	defer release()
	if e != nil {
		finishFault(ctx, a, nil, e)
		return
	}
	decoded, e := decode(body)
	*m = decoded
	record.Method = m.method
	if e != nil {
		finishFault(ctx, a, m.id, e)
		return
	}
	if m.notification() {
		h.notification(ctx, a, r.Header, m, record)
		return
	}
	if e := checkHeaders(r.Header, m); e != nil {
		finishFault(ctx, a, m.id, e)
		return
	}
	call, meta, e := h.route(m)
	record.Client = meta.client
	if e != nil {
		finishFault(ctx, a, m.id, e)
		return
	}
	a.accept = accepted
	a.wait()
	req := &request{message: *m, meta: meta, header: r.Header, answer: a, buf: make([]byte, 0, 1024)}
	req.buf = append(append(append(req.buf, `{"jsonrpc":"2.0","id":`...), m.id...), `,"result":{"resultType":`...)
	result, e := call(ctx, req)
	switch {
	case ctx.Err() != nil || result == nil && e == nil:
		record.Outcome = "gone"
		a.abandon()
	case e != nil:
		if e.Reason.Wire().JSONRPC == fault.Internal.Wire().JSONRPC {
			h.cfg.Log.WarnContext(ctx, "call failed", "method", m.method, "reason", e.Reason, "error", e)
		}
		finishFault(ctx, a, m.id, e)
	default:
		result = append(result, `,"_meta":{`...)
		if req.resultMeta != nil {
			result = append(append(result, req.resultMeta...), ',')
		}
		a.finish(append(append(result, h.self...), `}}}`...), http.StatusOK)
	}
}

// route is steps 10 to 12 and the choice of the method.
func (h *Handler) route(m *message) (method, meta, *fault.Error) {
	if m.method == "initialize" {
		// Clients of earlier revisions send it without _meta: they are told what is spoken here.
		if e := checkRequestState(m); e != nil {
			return nil, meta{}, e
		}
		return nil, meta{}, fault.New(fault.MethodNotFound, "method not found: initialize; this server speaks MCP %s, which has no handshake: send requests without one", protocolVersion)
	}
	meta, e := parseMeta(m)
	if e != nil {
		return nil, meta, e
	}
	if e := checkVersion(meta.version); e != nil {
		return nil, meta, e
	}
	if e := checkRequestState(m); e != nil {
		return nil, meta, e
	}
	call, ok := h.methods[m.method]
	if !ok {
		return nil, meta, fault.New(fault.MethodNotFound, "method not found: %s", quote(m.method))
	}
	return call, meta, nil
}

// notification takes any notification that contradicts neither its headers nor the ban on requestState. Over HTTP there is
// none that would have to be acted on: closing the answer is how a client cancels.
func (h *Handler) notification(ctx context.Context, a *answer, header http.Header, m *message, record *audit.Record) {
	e := checkHeaders(header, m)
	if e == nil {
		e = checkRequestState(m)
	}
	if e != nil {
		finishFault(ctx, a, nil, e)
		return
	}
	record.Outcome = "accepted"
	a.status = http.StatusAccepted
	a.w.WriteHeader(http.StatusAccepted)
}

func finishFault(ctx context.Context, a *answer, id []byte, e *fault.Error) {
	record := audit.From(ctx)
	record.Reason = string(e.Reason)
	wire := e.Reason.Wire()
	record.Outcome = "refused"
	if wire.MCP == http.StatusOK || wire.MCP == http.StatusInternalServerError {
		record.Outcome = "failed"
	}
	gate.SetRetryAfter(a.w, e)
	a.finish(appendError(nil, id, e), wire.MCP)
}
