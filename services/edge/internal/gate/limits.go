package gate

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/zegate/zegate/pkg/fault"
)

// Limits bounds what one caller may do; 0 means no limit.
type Limits struct {
	// RequestsPerSecond is the sustained rate of requests.
	RequestsPerSecond float64 `yaml:"requests_per_second"`
	// Burst is how many requests may come at once.
	Burst int `yaml:"burst"`
	// ConcurrentCalls is how many tool calls may run at once.
	ConcurrentCalls int `yaml:"concurrent_calls"`
	// Streams is how many subscriptions may be open at once.
	Streams int `yaml:"streams"`
}

// Beyond this many callers, those that have been idle are forgotten; a forgotten caller starts with a full burst.
const rememberedCallers = 10_000

// callers counts what each caller does.
type callers struct {
	limits Limits

	mu     sync.Mutex
	states map[string]*caller
}

type caller struct {
	limiter *rate.Limiter
	calls   int
	streams int
}

// state is the caller's. The lock is held.
func (c *callers) state(subject string) *caller {
	s := c.states[subject]
	if s == nil {
		if len(c.states) >= rememberedCallers {
			c.forget()
		}
		s = &caller{limiter: rate.NewLimiter(rate.Limit(c.limits.RequestsPerSecond), max(c.limits.Burst, 1))}
		if c.states == nil {
			c.states = map[string]*caller{}
		}
		c.states[subject] = s
	}
	return s
}

// forget drops callers with nothing in flight whose burst is full again.
func (c *callers) forget() {
	for subject, s := range c.states {
		if s.calls == 0 && s.streams == 0 && s.limiter.Tokens() >= float64(s.limiter.Burst()) {
			delete(c.states, subject)
		}
	}
}

// request counts a request against the caller's rate.
func (c *callers) request(subject string) *fault.Error {
	if c.limits.RequestsPerSecond <= 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	reservation := c.state(subject).limiter.Reserve()
	wait := reservation.Delay()
	if wait == 0 {
		return nil
	}
	reservation.Cancel()
	return limited(wait, "too many requests from this caller")
}

func (c *callers) call(subject string) (func(), *fault.Error) {
	return c.acquire(subject, c.limits.ConcurrentCalls, func(s *caller) *int { return &s.calls }, "too many calls of this caller are running")
}

func (c *callers) stream(subject string) (func(), *fault.Error) {
	return c.acquire(subject, c.limits.Streams, func(s *caller) *int { return &s.streams }, "too many subscriptions of this caller are open")
}

func (c *callers) acquire(subject string, limit int, count func(*caller) *int, text string) (func(), *fault.Error) {
	if limit <= 0 {
		return func() {}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state(subject)
	n := count(s)
	if *n >= limit {
		return nil, limited(time.Second, text)
	}
	*n++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		*n--
	}, nil
}

func limited(wait time.Duration, text string) *fault.Error {
	// Whole seconds, as in the Retry-After header.
	wait = (wait + time.Second - 1).Truncate(time.Second)
	e := fault.New(fault.RateLimited, "%s: try again in %s", text, wait)
	e.RetryAfter = wait
	return e
}
