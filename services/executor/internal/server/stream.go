package server

import (
	"sync"
	"time"

	"google.golang.org/grpc"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
)

// progressInterval is the least time between two progress events: a device may print faster than anyone can read.
const progressInterval = 100 * time.Millisecond

// StreamTool runs a call and reports each line that arrives, the newest where they come fast, with a number that rises.
func (s *Server) StreamTool(req *executorv1.StreamToolRequest, stream grpc.ServerStreamingServer[executorv1.StreamToolResponse]) error {
	r := newReporter(stream.Send)
	// The call runs here, in the handler, so that a panic in it is this call's alone.
	resp, err := func() (*executorv1.CallToolResponse, error) {
		defer r.end()
		return s.call(stream.Context(), req.GetCall(), r.line)
	}()
	if err != nil {
		return err
	}
	return stream.Send(&executorv1.StreamToolResponse{Event: &executorv1.StreamToolResponse_Result{Result: resp}})
}

// reporter sends progress beside a running call. A caller that reads slowly gets fewer events; it does not slow the device down.
type reporter struct {
	mu     sync.Mutex
	newest string
	count  float64

	fresh chan struct{} // holds one token while newest has not been sent
	done  chan struct{}
	ended chan struct{}
}

func newReporter(send func(*executorv1.StreamToolResponse) error) *reporter {
	r := &reporter{fresh: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{})}
	go r.run(send)
	return r
}

// line notes a line. It never blocks.
func (r *reporter) line(text string) {
	r.mu.Lock()
	r.newest, r.count = text, r.count+1
	r.mu.Unlock()
	select {
	case r.fresh <- struct{}{}:
	default:
	}
}

// end stops the reports, and returns when none is under way: a stream takes one message at a time.
func (r *reporter) end() {
	close(r.done)
	<-r.ended
}

func (r *reporter) run(send func(*executorv1.StreamToolResponse) error) {
	defer close(r.ended)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-r.fresh:
		case <-r.done:
			return
		}
		r.mu.Lock()
		p := &executorv1.Progress{Progress: r.count, Message: r.newest}
		r.mu.Unlock()
		if send(&executorv1.StreamToolResponse{Event: &executorv1.StreamToolResponse_Progress{Progress: p}}) != nil {
			// The stream has ended, and with it the call's context.
			return
		}
		pause.Reset(progressInterval)
		select {
		case <-pause.C:
		case <-r.done:
			return
		}
	}
}
