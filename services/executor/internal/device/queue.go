package device

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zegate/zegate/services/executor/internal/command"
)

// queue lets a number of commands run at once, and a number of others wait a bounded time, first come first served.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	length  int64
	wait    time.Duration
}

func newQueue(concurrent, length int, wait time.Duration) *queue {
	return &queue{slots: make(chan struct{}, concurrent), length: int64(length), wait: wait}
}

// enter takes a slot, which leave gives back. The failure is of the class Busy, Cancelled or Timeout.
func (q *queue) enter(ctx context.Context, device string) error {
	select {
	case q.slots <- struct{}{}:
		return nil
	default:
	}
	if q.waiting.Add(1) > q.length {
		q.waiting.Add(-1)
		return command.Fail(command.Busy, "%s runs %d commands and %d more wait; try again in a few seconds", device, cap(q.slots), q.length)
	}
	defer q.waiting.Add(-1)
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return command.Fail(command.Busy, "%s ran %d other commands for %s; try again in a few seconds", device, cap(q.slots), q.wait)
	case <-ctx.Done():
		return ended(ctx, device)
	}
}

func (q *queue) leave() { <-q.slots }
