package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zegate/zegate/pkg/rpc"
	"github.com/zegate/zegate/pkg/telemetry"
)

// Shared is the settings that every service of a process has in common: the top-level sections of the file that belong to
// no service (DESIGN section 6).
type Shared struct {
	// InternalTLS is mutual TLS between services.
	InternalTLS rpc.TLS `yaml:"internal_tls"`
	// Log is what is logged, and how.
	Log telemetry.Log `yaml:"log"`
	// Audit is where records of requests go.
	Audit Audit `yaml:"audit"`
	// Drain is how a service stops.
	Drain Drain `yaml:"drain"`
}

// Audit is where records of requests go.
type Audit struct {
	// File takes one JSON object a line; "stderr" is standard error, and empty means no records.
	File string `yaml:"file"`
}

// Drain is how a service stops: it says that it is not ready, waits Delay, then lets what runs finish for at most Grace.
type Drain struct {
	Delay time.Duration `yaml:"delay"`
	Grace time.Duration `yaml:"grace"`
}

// defaultShared is the sections when nothing is set.
func defaultShared() *Shared {
	return &Shared{Log: telemetry.DefaultLog(), Drain: Drain{Grace: 30 * time.Second}}
}

func (s *Shared) validate() error {
	if err := s.InternalTLS.Validate(); err != nil {
		return err
	}
	if err := s.Log.Validate(); err != nil {
		return fmt.Errorf("log.%w", err)
	}
	if s.Drain.Delay < 0 || s.Drain.Grace < 0 {
		return errors.New("drain: delay and grace must not be negative: write durations such as 5s and 30s")
	}
	return nil
}

// Host is what a process lends to a service that runs in it.
type Host struct {
	// Shared is the settings of the whole process.
	Shared Shared
	// Version is stamped at build time.
	Version string
	// Registry takes the service's metrics.
	Registry *prometheus.Registry
	// Ready tells whether the service can do its work, for /readyz. It may be called at any time, from any goroutine.
	Ready func(ready bool)
	// Bound is told the address that the service listens on.
	Bound func(addr net.Addr)
	// Listener replaces the service's own listener: a channel inside the process. Nil means listen on the network.
	Listener net.Listener
	// Dial replaces the way to another service of the same process, by the service's name. Nil means the network.
	Dial func(service string) func(context.Context) (net.Conn, error)
}
