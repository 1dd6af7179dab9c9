package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// output is what a program prints, written and read at once.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func testProgram(services ...Service) Program {
	cfg := testDefaults()
	cfg.Listen = "127.0.0.1:0"
	return Program{
		Name:     "prog",
		Sections: []Section{{Name: "edge", Config: &cfg}},
		Validate: func(Shared) error {
			if cfg.Burst < 0 {
				return errors.New("edge.burst: write a number above 0")
			}
			return nil
		},
		Flags:       []Flag{{Path: "edge.listen", Usage: "the `ADDR`"}, {Path: "edge.burst", Usage: "the `N`"}},
		AdminListen: func() string { return cfg.Listen },
		AdminKey:    "edge.listen",
		Services:    services,
	}
}

func TestCommands(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.yaml")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	for name, text := range map[string]string{good: "edge: {burst: 1}\n", bad: "edge: {burst: -1}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"version", []string{"version"}, exitOK, "prog ", ""},
		{"help", []string{"--help"}, exitOK, "", "-listen ADDR"},
		{"help tells of the environment", []string{"-h"}, exitOK, "", "ZEGATE_EDGE_LISTEN"},
		{"config check, good", []string{"config", "check", good}, exitOK, "ok", ""},
		{"config check, bad", []string{"config", "check", bad}, exitUsage, "", "edge.burst: write a number above 0"},
		{"config check, none", []string{"config", "check"}, exitUsage, "", "config check FILE"},
		{"bad file", []string{"--config", bad}, exitUsage, "", "edge.burst"},
		{"unknown flag", []string{"--nonsense"}, exitUsage, "", "nonsense"},
		{"unknown word", []string{"serve"}, exitUsage, "", `"serve"`},
		{"bad flag", []string{"--burst", "x"}, exitUsage, "", "--burst"},
		{"profiles for everyone", []string{"--pprof", "--listen", "0.0.0.0:0"}, exitUsage, "", "--pprof"},
		{"healthcheck of nobody", []string{"healthcheck", "--listen", "127.0.0.1:1"}, exitFailed, "", "prog:"},
		{"admin port that is taken", []string{"--listen", "nowhere:x"}, exitFailed, "", "edge.listen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testProgram()
			var stdout, stderr output
			if code := p.Execute(t.Context(), tt.args, nil, &stdout, &stderr); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
			}
		})
	}
}

// service notes when it stops, and is ready when it starts.
func service(name string, order *output) Service {
	return Service{Name: name, Run: func(ctx context.Context, host Host, _ *slog.Logger) error {
		host.Ready(true)
		<-ctx.Done()
		_, _ = io.WriteString(order, name+" ")
		return nil
	}}
}

// Services stop one after the other, the last one first, and the admin port answers for all of them.
func TestServe(t *testing.T) {
	var order, stdout, stderr output
	slow := make(chan struct{})
	p := testProgram(service("a", &order), Service{Name: "b", Run: func(ctx context.Context, host Host, _ *slog.Logger) error {
		<-slow
		host.Ready(true)
		<-ctx.Done()
		_, _ = io.WriteString(&order, "b ")
		return nil
	}})
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := lis.Addr().String()
	if err := lis.Close(); err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	p.Started = func(_ context.Context, out io.Writer) {
		_, _ = io.WriteString(out, "hello")
		close(started)
	}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- p.Execute(ctx, []string{"--listen", addr}, nil, &stdout, &stderr) }()
	get := func(path string) (int, string) {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for {
		if status, body := get("/readyz"); status == http.StatusServiceUnavailable && strings.TrimSpace(body) == "not ready: b" {
			break
		}
	}
	if err := checkHealth(t.Context(), addr); err == nil {
		t.Error("healthy although b is not ready")
	}
	close(slow)
	<-started
	if err := checkHealth(t.Context(), addr); err != nil {
		t.Error(err)
	}
	if status, body := get("/metrics"); status != 200 || !strings.Contains(body, `zegate_build_info{`) || !strings.Contains(body, "go_goroutines") {
		t.Errorf("metrics: %d", status)
	}
	if status, _ := get("/livez"); status != 200 {
		t.Errorf("livez: %d", status)
	}
	if status, _ := get("/debug/pprof/"); status != 404 {
		t.Errorf("profiles without the flag: %d", status)
	}
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d: %s", got, stderr.String())
	}
	if order.String() != "b a " || stdout.String() != "hello" {
		t.Errorf("stopped in the order %q, printed %q", order.String(), stdout.String())
	}
}

// One service that fails stops the others, and the program says why.
func TestServiceFails(t *testing.T) {
	var order, stderr output
	p := testProgram(service("a", &order), Service{Name: "b", Run: func(context.Context, Host, *slog.Logger) error { return errors.New("no port") }})
	if code := p.Execute(t.Context(), nil, nil, io.Discard, &stderr); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if order.String() != "a " || !strings.Contains(stderr.String(), "prog: b: no port") {
		t.Errorf("order %q, stderr %q", order.String(), stderr.String())
	}
}
