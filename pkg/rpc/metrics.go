package rpc

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/status"
)

// serverMetrics counts calls. Labels are the contract's methods and gRPC's codes, so their number is fixed.
type serverMetrics struct {
	seconds *prometheus.HistogramVec
}

func newServerMetrics(r prometheus.Registerer) *serverMetrics {
	if r == nil {
		return nil
	}
	m := &serverMetrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "zegate_rpc_server_duration_seconds",
		Help:    "Time that a gRPC call took, by method and status code.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
	}, []string{"method", "code"})}
	// In one process several services share the registry and so the collector.
	if err := r.Register(m.seconds); err != nil {
		if are := (prometheus.AlreadyRegisteredError{}); errors.As(err, &are) {
			m.seconds = are.ExistingCollector.(*prometheus.HistogramVec)
		}
	}
	return m
}

func (m *serverMetrics) observe(method string, start time.Time, err *error) {
	if m != nil {
		m.seconds.WithLabelValues(method, status.Code(*err).String()).Observe(time.Since(start).Seconds())
	}
}
