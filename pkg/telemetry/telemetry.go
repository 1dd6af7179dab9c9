// Package telemetry is what a process tells its operators: logs and metrics.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Log is the section log.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `yaml:"level"`
	// Format is json or text.
	Format string `yaml:"format"`
}

// DefaultLog is the section when nothing is set.
func DefaultLog() Log { return Log{Level: "info", Format: "json"} }

// Validate tells what is wrong with the section.
func (l Log) Validate() error {
	_, err := l.handler(io.Discard)
	return err
}

// NewLogger makes a logger that writes to w. A section that does not validate logs as the default does.
func (l Log) NewLogger(w io.Writer) *slog.Logger {
	h, err := l.handler(w)
	if err != nil {
		h = slog.NewJSONHandler(w, nil)
	}
	return slog.New(h)
}

func (l Log) handler(w io.Writer) (slog.Handler, error) {
	var level slog.Level
	switch l.Level {
	case "debug", "info", "warn", "error":
		if err := level.UnmarshalText([]byte(l.Level)); err != nil {
			return nil, fmt.Errorf("level: %w", err)
		}
	default:
		return nil, fmt.Errorf("level: %q is no level: write debug, info, warn or error", l.Level)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch l.Format {
	case "json":
		return slog.NewJSONHandler(w, opts), nil
	case "text":
		return slog.NewTextHandler(w, opts), nil
	}
	return nil, fmt.Errorf("format: %q is no format: write json or text", l.Format)
}

// NewRegistry makes a registry of metrics that holds the Go runtime's, the process's, and which build this is.
func NewRegistry(program, version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "zegate_build_info", Help: "Which build runs; the value is always 1.",
		ConstLabels: prometheus.Labels{"program": program, "version": version, "goversion": runtime.Version()},
	})
	build.Set(1)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	return r
}
