package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readiness is which services of the process can do their work.
type readiness struct {
	mu      sync.Mutex
	waiting map[string]bool // services that are not ready
	all     chan struct{}   // closed when all were ready for the first time
}

func newReadiness(services []Service) *readiness {
	r := &readiness{waiting: map[string]bool{}, all: make(chan struct{})}
	for _, s := range services {
		r.waiting[s.Name] = true
	}
	return r
}

func (r *readiness) set(service string, ready bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ready {
		delete(r.waiting, service)
	} else {
		r.waiting[service] = true
	}
	if len(r.waiting) == 0 {
		select {
		case <-r.all:
		default:
			close(r.all)
		}
	}
}

// missing are the services that are not ready, sorted.
func (r *readiness) missing() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.waiting))
	for name := range r.waiting {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// admin is the port for the platform: is the process alive, does it want requests, what does it measure.
type admin struct {
	srv *http.Server
	lis net.Listener
}

func newAdmin(key, listen string, ready *readiness, registry *prometheus.Registry, profiles bool) (*admin, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if missing := ready.missing(); len(missing) > 0 {
			http.Error(w, "not ready: "+strings.Join(missing, ", "), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	lis, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &admin{srv: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, lis: lis}, nil
}

func (a *admin) serve() error {
	if err := a.srv.Serve(a.lis); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin port: %w", err)
	}
	return nil
}

func (a *admin) close() { _ = a.srv.Close() }

// checkHealth asks the admin port of a running process whether it is ready.
func checkHealth(ctx context.Context, listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("admin address %q: %w", listen, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", resp.Status)
	}
	return nil
}
