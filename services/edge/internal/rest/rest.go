// Package rest is the REST interface: the paths of proto/gateway.yaml, served by grpc-gateway on top of the same catalogue,
// the same limits and the same executor as MCP. It never asks a user: what is missing is an error.
package rest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/gate"
	executorgw "github.com/zegate/zegate/services/edge/internal/rest/gen/ze/executor/v1"
	taskrunnergw "github.com/zegate/zegate/services/edge/internal/rest/gen/ze/taskrunner/v1"
)

// Config is what the interface works with.
type Config struct {
	// Executor runs tool calls.
	Executor executorv1.ExecutorServiceClient
	// Taskrunner keeps tasks; nil means that there are none, and no paths for them.
	Taskrunner taskrunnerv1.TaskRunnerServiceClient
	// Catalogue is the list of tools.
	Catalogue *catalogue.Catalogue
	// Gate bounds bodies and concurrent calls.
	Gate *gate.Gate
	// Log takes what went wrong inside.
	Log *slog.Logger
}

//go:embed openapi.json
var openAPI []byte

// OpenAPIPath is where the interface's description lies.
const OpenAPIPath = "/openapi.json"

// Methods are the HTTP methods of the interface.
var Methods = []string{http.MethodGet, http.MethodPost}

// New makes the handler of /v1/ and /openapi.json.
func New(ctx context.Context, cfg Config) (http.Handler, error) {
	h := &handler{cfg: cfg, mux: runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &marshaler{}),
		// The caller is established by the gate; nothing that a client sends becomes gRPC metadata.
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithOutgoingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithErrorHandler(func(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			Refuse(w, r, fault.FromStatus(err))
		}),
		runtime.WithRoutingErrorHandler(routingError),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithDisablePathLengthFallback(),
	)}
	f := &face{cfg: cfg}
	if err := executorgw.RegisterExecutorServiceHandlerServer(ctx, h.mux, f); err != nil {
		return nil, err
	}
	if cfg.Taskrunner != nil {
		if err := taskrunnergw.RegisterTaskRunnerServiceHandlerServer(ctx, h.mux, &taskFace{client: cfg.Taskrunner}); err != nil {
			return nil, err
		}
	}
	return h, nil
}

type handler struct {
	cfg Config
	mux *runtime.ServeMux
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := audit.From(r.Context())
	record.Method = r.Method + " " + r.URL.Path
	counted := &counter{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
				panic(p)
			}
			h.cfg.Log.ErrorContext(r.Context(), "panic in a request", "method", record.Method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			Refuse(counted, r, fault.New(fault.Panicked, fault.InternalText))
		}
		record.Status, record.Bytes = counted.status, counted.bytes
	}()
	if r.URL.Path == OpenAPIPath {
		h.openAPI(counted, r)
		return
	}
	if !acceptsJSON(r.Header) {
		Refuse(counted, r, fault.New(fault.NotAcceptable, "not acceptable: answers are application/json"))
		return
	}
	body := []byte{}
	if r.Method == http.MethodPost && r.ContentLength != 0 {
		if e := gate.CheckContentType(r); e != nil {
			Refuse(counted, r, e)
			return
		}
		b, release, e := h.cfg.Gate.ReadBody(w, r)
		defer release()
		if e != nil {
			Refuse(counted, r, e)
			return
		}
		body = b
	}
	// What grpc-gateway would read as parameters or as gRPC's own is the edge's to say, not the client's.
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.RawQuery = pagingOnly(r)
	for name := range r.Header {
		if strings.HasPrefix(name, "Grpc-") {
			r.Header.Del(name)
		}
	}
	h.mux.ServeHTTP(counted, r)
}

// pagingOnly keeps the query parameters of lists; a call takes its arguments from the body alone.
func pagingOnly(r *http.Request) string {
	query := r.URL.Query()
	for name := range query {
		if r.Method != http.MethodGet || name != "page_size" && name != "page_token" {
			query.Del(name)
		}
	}
	return query.Encode()
}

func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET, OPTIONS")
		Refuse(w, r, fault.New(fault.MethodNotAllowed, "method not allowed: use GET"))
		return
	}
	audit.From(r.Context()).Outcome = "complete"
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
}

func acceptsJSON(h http.Header) bool {
	values := strings.ToLower(strings.Join(h.Values("Accept"), ","))
	return values == "" || strings.Contains(values, "application/json") || strings.Contains(values, "application/*") || strings.Contains(values, "*/*")
}

func routingError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, status int) {
	switch status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		allow := http.MethodGet
		if r.Method == http.MethodGet {
			allow = http.MethodPost
		}
		w.Header().Set("Allow", allow+", OPTIONS")
		Refuse(w, r, fault.New(fault.MethodNotAllowed, "method not allowed: use %s", allow))
	default:
		NotFound(w, r)
	}
}

// NotFound answers for paths that nothing is served on.
func NotFound(w http.ResponseWriter, r *http.Request) {
	Refuse(w, r, fault.New(fault.PathNotFound, "no such path; MCP is at /mcp, and %s describes the paths of REST", OpenAPIPath))
}

// problem is the body of an answer that is an error.
type problem struct {
	Error struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"error"`
}

// Refuse answers with an error: {"error":{"reason","message"}} and the status of the reason's row in the fault table.
func Refuse(w http.ResponseWriter, r *http.Request, e *fault.Error) {
	record := audit.From(r.Context())
	record.Outcome, record.Reason = "refused", string(e.Reason)
	var p problem
	p.Error.Reason, p.Error.Message = string(e.Reason), e.Message
	body, _ := json.Marshal(p)
	gate.SetRetryAfter(w, e)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Reason.Wire().REST)
	_, _ = w.Write(body)
}

// counter notes what an answer was, for the audit.
type counter struct {
	http.ResponseWriter
	status, bytes int
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += n
	return n, err
}

func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
