// Package executor is the service that runs tool calls on network devices.
package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"github.com/zegate/zegate/pkg/rpc"
	"github.com/zegate/zegate/services/executor/internal/backend/gobgp"
	"github.com/zegate/zegate/services/executor/internal/device"
	"github.com/zegate/zegate/services/executor/internal/lab"
	"github.com/zegate/zegate/services/executor/internal/server"
)

// Run serves until ctx ends, then lets calls in flight finish as Host.Shared.Drain says. It is ready when it serves, whatever its
// devices do: a device that is down fails its own commands only.
func Run(ctx context.Context, cfg Config, log *slog.Logger) (err error) {
	if err := cfg.Validate(); err != nil {
		return err
	}
	lis, err := cfg.listen()
	if err != nil {
		return err
	}
	defer func() { _ = lis.Close() }()

	devices := make([]*device.Device, 0, len(cfg.Devices))
	defer func() {
		for _, d := range devices {
			err = errors.Join(err, d.Close())
		}
	}()
	for _, dc := range cfg.Devices {
		d, err := open(ctx, dc.complete(), cfg.OnLabEstablished, log)
		if err != nil {
			return fmt.Errorf("device %q: %w", dc.Name, err)
		}
		devices = append(devices, d)
	}

	srv, err := server.New(devices, cfg.Host.Version)
	if err != nil {
		return err
	}
	grpcServer, err := rpc.NewServer(rpc.ServerConfig{TLS: cfg.Host.Shared.InternalTLS, Log: log, Registry: cfg.Host.Registry})
	if err != nil {
		return err
	}
	srv.Register(grpcServer)
	defer context.AfterFunc(ctx, srv.Stop)()
	defer context.AfterFunc(ctx, func() { cfg.Host.Ready(false) })()
	cfg.Host.Ready(true)
	log.InfoContext(ctx, "executor serves", "address", lis.Addr().String(), "devices", len(devices))
	return grpcServer.Serve(ctx, lis, cfg.Host.Shared.Drain.Delay, cfg.Host.Shared.Drain.Grace)
}

func (c Config) listen() (net.Listener, error) {
	if c.Host.Listener != nil {
		return c.Host.Listener, nil
	}
	network, address := c.network()
	lis, err := net.Listen(network, address)
	if network == "unix" && errors.Is(err, syscall.EADDRINUSE) && abandoned(address) {
		if err := os.Remove(address); err != nil {
			return nil, fmt.Errorf("executor.listen: %w", err)
		}
		lis, err = net.Listen(network, address)
	}
	if err != nil {
		return nil, fmt.Errorf("executor.listen: %w", err)
	}
	return lis, nil
}

// abandoned tells whether a socket file is left over from a process that is gone.
func abandoned(path string) bool {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// open makes a device of its settings. A lab is started; a daemon is not waited for.
func open(ctx context.Context, cfg Device, established func(), log *slog.Logger) (*device.Device, error) {
	var b device.Backend
	var err error
	switch cfg.Backend {
	case BackendLab:
		b, err = openLab(ctx, established, log)
	case BackendGoBGP:
		b, err = gobgp.New(cfg.GoBGP.Target)
	default:
		return nil, fmt.Errorf("backend %q is not known", cfg.Backend)
	}
	if err != nil {
		return nil, err
	}
	d, err := device.New(device.Config{
		Name: cfg.Name, Backend: cfg.Backend, Rules: cfg.rules(), LongRunning: cfg.LongRunning,
		MaxConcurrent: cfg.MaxConcurrent, QueueLength: *cfg.Queue.Length, QueueWait: cfg.Queue.Wait,
		Timeout: cfg.Timeout, LongTimeout: cfg.LongTimeout, MaxOutputBytes: cfg.MaxOutputBytes,
	}, b, log)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return d, nil
}

// labBackend ends its lab when it is closed.
type labBackend struct {
	*gobgp.Backend
	lab *lab.Lab
}

func openLab(ctx context.Context, established func(), log *slog.Logger) (device.Backend, error) {
	l, err := lab.Start(log)
	if err != nil {
		return nil, err
	}
	b, err := gobgp.New(l.Target())
	if err != nil {
		l.Stop()
		return nil, err
	}
	if established != nil {
		go func() {
			if l.Established(ctx) == nil {
				established()
			}
		}()
	}
	return labBackend{b, l}, nil
}

// Close ends the connection, then the lab.
func (b labBackend) Close() error {
	err := b.Backend.Close()
	b.lab.Stop()
	return err
}
