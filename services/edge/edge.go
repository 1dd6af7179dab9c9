// Package edge is the service that clients talk to: MCP and REST over HTTP on one side, gRPC to executors and task runners
// on the other. It decides whether a user is asked for a missing argument, and keeps nothing between requests.
package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"

	"github.com/zegate/zegate/pkg/rpc"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
	"github.com/zegate/zegate/services/edge/internal/audit"
	"github.com/zegate/zegate/services/edge/internal/auth"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/gate"
	"github.com/zegate/zegate/services/edge/internal/mcp"
	"github.com/zegate/zegate/services/edge/internal/rest"
)

// Paths of the interfaces.
const (
	MCPPath  = "/mcp"
	restPath = "/v1/"
)

// Bounds on connections: slow heads, idle connections, and large heads.
const (
	headTimeout  = 10 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHeadBytes = 64 << 10
)

// Run serves until ctx ends, then drains: open subscriptions end with their result and requests in flight finish, for at
// most the grace time.
func Run(ctx context.Context, cfg Config, log *slog.Logger) error {
	executor, err := dial(cfg, "executor", cfg.Executor)
	if err != nil {
		return err
	}
	defer executor.Close() //nolint:errcheck // nothing is left to do
	var taskrunner taskrunnerv1.TaskRunnerServiceClient
	if cfg.Taskrunner != "" || cfg.Host.Dial != nil {
		conn, err := dial(cfg, "taskrunner", cfg.Taskrunner)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // nothing is left to do
		taskrunner = taskrunnerv1.NewTaskRunnerServiceClient(conn)
	}
	client := executorv1.NewExecutorServiceClient(executor)
	tools := catalogue.New(client, log)

	records, err := audit.Open(cfg.Host.Shared.Audit.File)
	if err != nil {
		return err
	}
	defer records.Close() //nolint:errcheck // records were written as they came
	authenticator, err := auth.New(cfg.Auth)
	if err != nil {
		return err
	}
	loopback := rpc.LoopbackOnly(cfg.Listen)
	g, err := gate.New(gate.Config{
		Loopback:       loopback,
		AnyHost:        !loopback && cfg.Insecure && cfg.PublicURL == "" && len(cfg.AllowedHosts) == 0,
		PublicURL:      cfg.PublicURL,
		AllowedHosts:   cfg.AllowedHosts,
		AllowedOrigins: cfg.AllowedOrigins,
		MaxBodyBytes:   cfg.MaxBodyBytes,
		Limits:         cfg.Limits,
		Auth:           authenticator,
		Audit:          records,
		Log:            log,
	})
	if err != nil {
		return err
	}
	mcpHandler := mcp.New(mcp.Config{Version: cfg.Host.Version, Executor: client, Catalogue: tools, Gate: g, Log: log})
	restHandler, err := rest.New(ctx, rest.Config{Executor: client, Taskrunner: taskrunner, Catalogue: tools, Gate: g, Log: log})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(MCPPath, g.Guard("mcp", []string{http.MethodPost}, mcp.Refuse, mcpHandler))
	guarded := g.Guard("rest", rest.Methods, rest.Refuse, restHandler)
	mux.Handle(restPath, guarded)
	mux.Handle(rest.OpenAPIPath, guarded)
	mux.Handle("/", g.Guard("http", rest.Methods, rest.Refuse, http.HandlerFunc(rest.NotFound)))

	lis := cfg.Host.Listener
	if lis == nil {
		if lis, err = rpc.Listen(cfg.Listen); err != nil {
			return fmt.Errorf("edge.listen: %w", err)
		}
	}
	cfg.Host.Bound(lis.Addr())

	following, stopFollowing := context.WithCancel(ctx)
	defer stopFollowing()
	go tools.Follow(following)
	go func() {
		if tools.Wait(following) {
			cfg.Host.Ready(true)
		}
	}()
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeadBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(mcpHandler.Stop)
	return serve(ctx, cfg, srv, lis, log)
}

func dial(cfg Config, service, target string) (*grpc.ClientConn, error) {
	client := rpc.ClientConfig{Target: target, TLS: cfg.Host.Shared.InternalTLS}
	if cfg.Host.Dial != nil {
		client.Dial = cfg.Host.Dial(service)
	}
	conn, err := rpc.NewClient(client)
	if err != nil {
		return nil, fmt.Errorf("edge.%s: %w", service, err)
	}
	return conn, nil
}

// serve answers on lis until ctx ends and stops in order: not ready, the delay, then what is in flight, then the rest.
func serve(ctx context.Context, cfg Config, srv *http.Server, lis net.Listener, log *slog.Logger) error {
	failed := make(chan error, 1)
	go func() {
		if cfg.TLS.Cert != "" {
			failed <- srv.ServeTLS(lis, cfg.TLS.Cert, cfg.TLS.Key)
			return
		}
		failed <- srv.Serve(lis)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("edge.listen: serve on %s: %w", lis.Addr(), err)
	case <-ctx.Done():
	}
	cfg.Host.Ready(false)
	drain := cfg.Host.Shared.Drain
	time.Sleep(drain.Delay)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain.Grace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		log.Warn("requests were still in flight after the grace time and were cut", "grace", drain.Grace)
		_ = srv.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("edge.listen: serve on %s: %w", lis.Addr(), err)
	}
	return nil
}
