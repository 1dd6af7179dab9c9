// Package rpctest runs gRPC services in a test through the production interceptors, over memory instead of a network.
package rpctest

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/zegate/zegate/pkg/rpc"
)

// Serve runs what register puts on a server until the test ends, and returns a connection to it.
func Serve(t testing.TB, register func(grpc.ServiceRegistrar)) *grpc.ClientConn {
	t.Helper()
	srv, err := rpc.NewServer(rpc.ServerConfig{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("new server: %v", err)
	}
	register(srv)
	lis := bufconn.Listen(1 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, lis, 0, 0) }()
	conn, err := rpc.NewClient(rpc.ClientConfig{Dial: lis.DialContext})
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return conn
}
