package mcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/zegate/zegate/pkg/mcptest"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/auth"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/edgetest"
	"github.com/zegate/zegate/services/edge/internal/gate"
	"github.com/zegate/zegate/services/edge/internal/mcp"
)

type options struct {
	token     string
	origins   []string
	maxBody   int64
	burst     int
	publicURL string
	empty     bool // no executor is reached
}

// server is a whole edge but for its listener's settings: gate, pipeline, catalogue, in front of a real gRPC executor.
type server struct {
	url      string
	executor *edgetest.Executor
	handler  *mcp.Handler
	log      *syncBuffer
	audit    *syncBuffer
}

func newServer(t testing.TB, o options) *server {
	t.Helper()
	s := &server{executor: edgetest.New(), log: &syncBuffer{}, audit: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client := s.executor.Client(t)
	tools := catalogue.New(client, log)
	if !o.empty {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		go tools.Follow(ctx)
		if !tools.Wait(t.Context()) {
			t.Fatal("no catalogue")
		}
	}
	authConfig := auth.Default()
	if o.token != "" {
		authConfig.Mode, authConfig.Token = auth.ModeBearer, o.token
	}
	authenticator, err := auth.New(authConfig)
	if err != nil {
		t.Fatal(err)
	}
	if o.maxBody == 0 {
		o.maxBody = 1 << 20
	}
	limits := gate.Limits{}
	if o.burst > 0 {
		limits.RequestsPerSecond, limits.Burst = 0.001, o.burst
	}
	g, err := gate.New(gate.Config{
		Loopback: true, PublicURL: o.publicURL, AllowedOrigins: o.origins, MaxBodyBytes: o.maxBody, Limits: limits,
		Auth: authenticator, Audit: audit.New(s.audit), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = mcp.New(mcp.Config{Version: "1.2.3", Executor: client, Catalogue: tools, Gate: g, Log: log})
	mux := http.NewServeMux()
	mux.Handle("/mcp", g.Guard("mcp", []string{http.MethodPost}, mcp.Refuse, s.handler))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// check holds an answer against the revision's schema.
func (s *server) check(t testing.TB, method string, resp *http.Response, body []byte) {
	t.Helper()
	mcptest.CheckAnswer(t, method, resp.StatusCode, resp.Header.Get("Content-Type"), body)
}

// syncBuffer is a buffer that a server writes and a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
