// Package taskrunner is the service that keeps and runs tasks: tool calls that outlive the request that started them.
package taskrunner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/pkg/rpc"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
)

// Config is the section taskrunner of the settings.
type Config struct {
	// Listen is where gRPC is served: host:port, or unix:///path.
	Listen string `yaml:"listen"`
	// AdminListen is where the process serves health and metrics, host:port.
	AdminListen string `yaml:"admin_listen"`
	// Insecure allows gRPC without internal_tls on an address that other hosts reach.
	Insecure bool `yaml:"insecure"`

	// Host is what the process lends; not a setting.
	Host lifecycle.Host `yaml:"-"`
}

// DefaultConfig is the section when nothing is set.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:9001", AdminListen: "127.0.0.1:9092"}
}

// Validate tells what is wrong with the section, naming the key and what to write instead.
func (c Config) Validate() error {
	if !c.Insecure && !c.Host.Shared.InternalTLS.Enabled() && !rpc.LoopbackOnly(c.Listen) {
		return fmt.Errorf("taskrunner.listen: %q can be reached from other hosts and gRPC would not be encrypted; set internal_tls, listen on 127.0.0.1, or write insecure: true under taskrunner", c.Listen)
	}
	return nil
}

// Run serves until ctx ends, then drains.
func Run(ctx context.Context, cfg Config, log *slog.Logger) error {
	srv, err := rpc.NewServer(rpc.ServerConfig{TLS: cfg.Host.Shared.InternalTLS, Log: log, Registry: cfg.Host.Registry})
	if err != nil {
		return err
	}
	taskrunnerv1.RegisterTaskRunnerServiceServer(srv, taskrunnerv1.UnimplementedTaskRunnerServiceServer{})
	lis := cfg.Host.Listener
	if lis == nil {
		if lis, err = rpc.Listen(cfg.Listen); err != nil {
			return fmt.Errorf("taskrunner.listen: %w", err)
		}
	}
	defer func() {
		if err := lis.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			log.Warn("close the listener", "error", err)
		}
	}()
	cfg.Host.Bound(lis.Addr())
	defer context.AfterFunc(ctx, func() { cfg.Host.Ready(false) })()
	cfg.Host.Ready(true)
	return srv.Serve(ctx, lis, cfg.Host.Shared.Drain.Delay, cfg.Host.Shared.Drain.Grace)
}
