package rpc

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	_ "google.golang.org/grpc/health" // clients look at the health of what they call
	"google.golang.org/grpc/keepalive"

	"github.com/zegate/zegate/pkg/identity"
)

// Calls go round the healthy replicas. gRPC retries by itself only calls that no server has seen; nothing else is retried
// here, since only the caller knows whether a call may run twice.
const serviceConfig = `{"loadBalancingConfig":[{"round_robin":{}}],"healthCheckConfig":{"serviceName":""}}`

// ClientConfig says what to connect to.
type ClientConfig struct {
	// Target is a gRPC target, such as dns:///executor:9000 or unix:///run/executor.sock.
	Target string
	// TLS is mutual TLS with the server; zero means plaintext.
	TLS TLS
	// Dial replaces the network: a channel inside the process. Target and TLS are then unused.
	Dial func(context.Context) (net.Conn, error)
}

// NewClient makes a connection, which connects when it is first used and again after every loss. It carries the context's
// caller with each call.
func NewClient(cfg ClientConfig) (*grpc.ClientConn, error) {
	if cfg.Dial != nil {
		cfg.Target, cfg.TLS = "passthrough:///in-process", TLS{}
	}
	creds, err := cfg.TLS.credentials()
	if err != nil {
		return nil, err
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 2 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithChainUnaryInterceptor(unaryClient),
		grpc.WithChainStreamInterceptor(streamClient),
	}
	if cfg.Dial != nil {
		opts = append(opts, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return cfg.Dial(ctx) }))
	}
	conn, err := grpc.NewClient(cfg.Target, opts...)
	if err != nil {
		return nil, fmt.Errorf("gRPC target %q: %w", cfg.Target, err)
	}
	return conn, nil
}

func unaryClient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(identity.ToOutgoing(ctx), method, req, reply, cc, opts...)
}

func streamClient(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return stream(identity.ToOutgoing(ctx), desc, cc, method, opts...)
}
