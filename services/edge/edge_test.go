package edge_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/pkg/rpc"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge"
	"github.com/zegate/zegate/services/edge/internal/edgetest"
)

type running struct {
	url   string
	ready chan bool
	stop  context.CancelFunc
	done  chan error
}

// run runs an edge in front of an executor that starts when startExecutor is closed.
func run(t *testing.T, executor *edgetest.Executor, startExecutor <-chan struct{}) *running {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	backend, err := rpc.NewServer(rpc.ServerConfig{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	executorv1.RegisterExecutorServiceServer(backend, executor)
	backendCtx, stopBackend := context.WithCancel(context.Background())
	backendDone := make(chan error, 1)
	go func() {
		<-startExecutor
		backendDone <- backend.Serve(backendCtx, lis, 0, 0)
	}()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{ready: make(chan bool, 2), stop: cancel, done: make(chan error, 1)}
	bound := make(chan net.Addr, 1)
	cfg := edge.DefaultConfig()
	cfg.Listen = "127.0.0.1:0"
	cfg.Host = lifecycle.Host{
		Shared:  lifecycle.Shared{Drain: lifecycle.Drain{Grace: 5 * time.Second}},
		Version: "test",
		Ready:   func(ready bool) { r.ready <- ready },
		Bound:   func(addr net.Addr) { bound <- addr },
		Dial:    func(string) func(context.Context) (net.Conn, error) { return lis.DialContext },
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- edge.Run(ctx, cfg, slog.New(slog.DiscardHandler)) }()
	r.url = "http://" + (<-bound).String()
	t.Cleanup(func() {
		cancel()
		stopBackend()
		if err := <-backendDone; err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) post(t *testing.T, body string, headers ...string) *http.Response {
	t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/mcp", bytes.NewReader([]byte(strings.ReplaceAll(body, "$META", meta))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// An edge answers while no executor is there, and is ready once it has a catalogue.
func TestReadiness(t *testing.T) {
	start := make(chan struct{})
	r := run(t, edgetest.New(), start)
	if resp := r.post(t, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{$META}}`, "Mcp-Method", "server/discover"); resp.StatusCode != http.StatusOK {
		t.Errorf("server/discover without an executor: %d", resp.StatusCode)
	}
	select {
	case <-r.ready:
		t.Error("ready without a catalogue")
	default:
	}
	close(start)
	if !<-r.ready {
		t.Error("not ready with a catalogue")
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Errorf("run: %v", err)
	}
	if <-r.ready {
		t.Error("ready while it drains")
	}
}

// A stop lets a call in flight finish and ends subscriptions with their result.
func TestDrain(t *testing.T) {
	executor := edgetest.New()
	r := run(t, executor, closed())
	<-r.ready
	listening := r.post(t, `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{},$META}}`, "Mcp-Method", "subscriptions/listen")
	ctx, release := context.WithCancel(context.Background())
	executor.Release = ctx.Done()
	answer := make(chan string, 1)
	go func() {
		resp := r.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block",$META}}`, "Mcp-Method", "tools/call", "Mcp-Name", "block")
		b, _ := io.ReadAll(resp.Body)
		answer <- string(b)
	}()
	<-executor.Started
	r.stop()
	b, err := io.ReadAll(listening.Body)
	if err != nil || !strings.Contains(string(b), `"id":"s","result":{"resultType":"complete"`) {
		t.Errorf("subscription: %s, %v", b, err)
	}
	select {
	case err := <-r.done:
		t.Errorf("stopped before the call was done: %v", err)
	default:
	}
	release()
	if got := <-answer; !strings.Contains(got, `"text":"released"`) {
		t.Errorf("the call in flight: %s", got)
	}
	if err := <-r.done; err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestPaths(t *testing.T) {
	r := run(t, edgetest.New(), closed())
	<-r.ready
	for path, want := range map[string]int{"/": 404, "/mcp/": 404, "/metrics": 404, "/v1/tools": 200, "/v1": 404, "/openapi.json": 200, "/mcp": 405, "/debug/pprof/": 404} {
		resp, err := http.Get(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*edge.Config)
		want   string // part of the message; empty: valid
	}{
		{"default", func(*edge.Config) {}, ""},
		{"no executor", func(c *edge.Config) { c.Executor = "" }, "edge.executor"},
		{"open without a token", func(c *edge.Config) { c.Listen = "0.0.0.0:8080"; c.PublicURL = "https://x.example/mcp" }, "edge.auth.mode"},
		{"open without a host", func(c *edge.Config) { c.Listen = ":8080"; c.Auth.Mode = "bearer"; c.Auth.Token = "x" }, "edge.public_url"},
		{"open and insecure", func(c *edge.Config) { c.Listen = ":8080"; c.Insecure = true }, ""},
		{"open and safe", func(c *edge.Config) {
			c.Listen, c.Auth.Mode, c.Auth.Token, c.AllowedHosts = ":8080", "bearer", "x", []string{"x.example"}
		}, ""},
		{"public URL", func(c *edge.Config) { c.PublicURL = "mcp.example.net" }, "edge.public_url"},
		{"origin with a path", func(c *edge.Config) { c.AllowedOrigins = []string{"https://a.example/"} }, "edge.allowed_origins[0]"},
		{"host with a scheme", func(c *edge.Config) { c.AllowedHosts = []string{"a.example", "https://b.example"} }, "edge.allowed_hosts[1]"},
		{"body", func(c *edge.Config) { c.MaxBodyBytes = 0 }, "edge.max_body_bytes"},
		{"half of TLS", func(c *edge.Config) { c.TLS.Cert = "x" }, "edge.tls"},
		{"negative limit", func(c *edge.Config) { c.Limits.Streams = -1 }, "edge.limits"},
		{"auth", func(c *edge.Config) { c.Auth.Mode = "x" }, "edge.auth.mode"},
	} {
		cfg := edge.DefaultConfig()
		cfg.Executor = "dns:///executor:9000"
		tt.change(&cfg)
		err := cfg.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
