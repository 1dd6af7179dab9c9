package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/pkg/identity"
)

// ServerConfig is what a server needs beside its services.
type ServerConfig struct {
	// TLS is mutual TLS with the clients; zero means plaintext.
	TLS TLS
	// Log takes panics and refused calls.
	Log *slog.Logger
	// Registry takes the server's metrics; nil means none.
	Registry prometheus.Registerer
}

// Server is a gRPC server with the house's interceptors, health service and bounded stop.
type Server struct {
	*grpc.Server
	health *health.Server
	log    *slog.Logger
}

// NewServer makes a server. Register services on it, then Serve.
func NewServer(cfg ServerConfig) (*Server, error) {
	creds, err := cfg.TLS.credentials()
	if err != nil {
		return nil, err
	}
	m := newServerMetrics(cfg.Registry)
	s := &Server{
		Server: grpc.NewServer(
			grpc.Creds(creds),
			grpc.MaxRecvMsgSize(MaxMessageBytes),
			grpc.MaxSendMsgSize(MaxMessageBytes),
			grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: maxConnectionAge, Time: time.Minute}),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
			grpc.ChainUnaryInterceptor(unaryServer(cfg.Log, m)),
			grpc.ChainStreamInterceptor(streamServer(cfg.Log, m)),
		),
		health: health.NewServer(),
		log:    cfg.Log,
	}
	healthpb.RegisterHealthServer(s.Server, s.health)
	return s, nil
}

// Serve answers on lis until ctx ends, then stops in order: health says NOT_SERVING, delay passes so that clients look
// elsewhere, calls in flight finish, and whatever is left after grace is cut.
func (s *Server) Serve(ctx context.Context, lis net.Listener, delay, grace time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- s.Server.Serve(lis) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve gRPC on %s: %w", lis.Addr(), err)
	case <-ctx.Done():
	}
	s.health.Shutdown()
	time.Sleep(delay)
	done := make(chan struct{})
	go func() { s.GracefulStop(); close(done) }()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		s.log.Warn("calls were still running after the grace time and were cut", "grace", grace)
		s.Stop()
		<-done
	}
	if err := <-failed; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC on %s: %w", lis.Addr(), err)
	}
	return nil
}

func unaryServer(log *slog.Logger, m *serverMetrics) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
		defer m.observe(info.FullMethod, time.Now(), &err)
		defer finish(ctx, log, info.FullMethod, &err)
		return handler(identity.FromIncoming(ctx), req)
	}
}

func streamServer(log *slog.Logger, m *serverMetrics) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
		defer m.observe(info.FullMethod, time.Now(), &err)
		defer finish(ss.Context(), log, info.FullMethod, &err)
		return handler(srv, &identifiedStream{ServerStream: ss, ctx: identity.FromIncoming(ss.Context())})
	}
}

type identifiedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *identifiedStream) Context() context.Context { return s.ctx }

// finish turns what a handler left behind into what leaves the service: a panic costs this one call, an error becomes a
// status with a public text. The cause stays in the log.
func finish(ctx context.Context, log *slog.Logger, method string, err *error) {
	if p := recover(); p != nil {
		log.ErrorContext(ctx, "panic in a gRPC handler", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = fault.New(fault.Panicked, fault.InternalText)
	}
	if *err == nil {
		return
	}
	s := fault.ToStatus(*err)
	if s.Code() == codes.Internal || s.Code() == codes.Unknown {
		log.ErrorContext(ctx, "call failed", "method", method, "error", *err)
	}
	*err = s.Err()
}
