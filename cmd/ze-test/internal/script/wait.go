package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How often a condition is looked at while it is waited for.
const pollInterval = 200 * time.Millisecond

func (r *runner) wait(ctx context.Context, rest string) error {
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return fmt.Errorf("wait: %q is not a duration such as 500ms", rest)
	}
	return pause(ctx, d)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (r *runner) waitEstablished(ctx context.Context, _ string) error {
	return r.waitPeerList(ctx, "wait-established", func(text string) bool { return hasPeer(text) && strings.Contains(text, `"established"`) })
}

func (r *runner) waitPeers(ctx context.Context, _ string) error {
	return r.waitPeerList(ctx, "wait-peers", hasPeer)
}

// hasPeer tells whether the output of "show bgp peer list" names a peer.
func hasPeer(text string) bool {
	_, rest, ok := strings.Cut(text, `"peers":{`)
	return ok && !strings.HasPrefix(rest, "}")
}

func (r *runner) waitPeerList(ctx context.Context, directive string, reached func(text string) bool) error {
	return r.until(ctx, directive, func(ctx context.Context) (bool, error) {
		text, err := r.execute(ctx, "show bgp peer list")
		return err == nil && reached(text), err
	})
}

func (r *runner) waitTool(ctx context.Context, rest string) error {
	if rest == "" {
		return errors.New("wait-tool: write the tool's name behind it")
	}
	name := r.expand(rest)
	return r.until(ctx, "wait-tool "+name, func(ctx context.Context) (bool, error) {
		names, err := r.client.ListTools(ctx)
		return slices.Contains(names, name), err
	})
}

// until looks at a condition until it is reached or the time is up. A tool that fails or a server that is not there yet is
// what waiting is for, so the last failure is told only then.
func (r *runner) until(ctx context.Context, what string, look func(context.Context) (bool, error)) error {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var last error
	for {
		reached, err := look(limited)
		if reached {
			return nil
		}
		if err != nil && limited.Err() == nil {
			last = err
		}
		if pause(limited, pollInterval) != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case last != nil:
		return fmt.Errorf("%s: not reached within %s; last: %s", what, r.timeout, last.Error())
	}
	return fmt.Errorf("%s: not reached within %s", what, r.timeout)
}
