// Package gobgp runs commands on a GoBGP daemon through its gRPC API.
//
// The API has no notion of a read-only user, so what keeps reads harmless is that no handler of a read command calls anything
// but List, Get and Watch methods.
package gobgp

import (
	"context"
	"fmt"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/zegate/zegate/services/executor/internal/backend"
	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

const (
	dialTimeout = 2 * time.Second
	// maxMessage is the largest message that is taken, in bytes: a destination with a thousand paths stays far below.
	maxMessage = 16 << 20
)

// Backend is one GoBGP daemon.
type Backend struct {
	conn    *grpc.ClientConn
	api     api.GoBgpServiceClient
	grammar *command.Grammar
	run     map[string]handler
	now     func() time.Time
}

// handler runs one command.
type handler func(*Backend, context.Context, command.Invocation, *output.Collector) error

// New makes a back end for the daemon at target: unix:///run/gobgp.sock, or host:port. It connects when it is first used, and
// again after every loss.
func New(target string) (*Backend, error) {
	conn, err := grpc.NewClient(target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(), // a device is not reached through whatever the environment names for the web
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: dialTimeout,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", target, err)
	}
	b := &Backend{conn: conn, api: api.NewGoBgpServiceClient(conn), run: make(map[string]handler, len(table)), now: time.Now}
	commands := make([]command.Command, len(table))
	for i, row := range table {
		commands[i], b.run[row.Syntax] = row.Command, row.run
	}
	if b.grammar, err = command.NewGrammar(commands); err != nil {
		return nil, err
	}
	return b, nil
}

// Close ends the connection.
func (b *Backend) Close() error { return b.conn.Close() }

// Grammar is the commands that Run takes.
func (b *Backend) Grammar() *command.Grammar { return b.grammar }

// Run runs a command. A read whose connection broke before anything arrived is tried once more on a new one.
func (b *Backend) Run(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	run, known := b.run[inv.Command.Syntax]
	if !known {
		return command.Fail(command.UnknownCommand, "%q is not a GoBGP command", inv.Command.Syntax)
	}
	if err := b.connect(ctx); err != nil {
		return err
	}
	err := run(b, ctx, inv, out)
	if status.Code(err) == codes.Unavailable && inv.Command.Access == command.Read && out.Empty() {
		if err := b.connect(ctx); err != nil {
			return err
		}
		err = run(b, ctx, inv, out)
	}
	return failure(ctx, err)
}

// connect waits until the connection is up, for at most dialTimeout.
func (b *Backend) connect(ctx context.Context) error {
	state := b.conn.GetState()
	if state == connectivity.Ready {
		return nil
	}
	dial, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if state == connectivity.TransientFailure {
		// Somebody is waiting: do not sit out the pause between two tries.
		b.conn.ResetConnectBackoff()
	}
	for state != connectivity.Ready {
		b.conn.Connect()
		changed := b.conn.WaitForStateChange(dial, state)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		was := state
		if state = b.conn.GetState(); !changed || state == connectivity.TransientFailure && was != connectivity.TransientFailure {
			return command.Fail(command.Unavailable, "GoBGP cannot be reached; check that gobgpd runs and that its --api-hosts is the configured target, then try again")
		}
	}
	return nil
}

// failure turns what gRPC reports into a failure of ours. GoBGP answers nearly every error as Unknown with a text.
func failure(ctx context.Context, err error) error {
	s, isStatus := status.FromError(err)
	if err == nil || ctx.Err() != nil || !isStatus {
		return err
	}
	switch s.Code() {
	case codes.Unavailable:
		return command.FailFrom(err, command.Unavailable, "the connection to GoBGP was lost; try again")
	case codes.DeadlineExceeded, codes.Canceled:
		// The deadline of the call reaches GoBGP, whose clock may be the first to see it pass.
		return command.FailFrom(err, command.Timeout, "GoBGP did not answer in time; ask for less, or try again")
	case codes.ResourceExhausted:
		return command.FailFrom(err, command.TooLarge, "GoBGP's answer has a part of more than %d bytes; ask for less", maxMessage)
	case codes.Unimplemented:
		return command.FailFrom(err, command.Failed, "this GoBGP is of a version that does not know the call")
	case codes.PermissionDenied, codes.Unauthenticated:
		return command.FailFrom(err, command.Failed, "GoBGP refused the call: it asks for credentials")
	}
	return command.FailFrom(err, command.Failed, "GoBGP: %s", output.Clean([]byte(s.Message()), output.Plain))
}

// FactsCommand is the command that tells all that Facts tells.
func (b *Backend) FactsCommand() string { return "show bgp" }

// Facts asks the daemon about itself.
func (b *Backend) Facts(ctx context.Context) (backend.Facts, error) {
	if err := b.connect(ctx); err != nil {
		return backend.Facts{}, err
	}
	facts, err := b.facts(ctx)
	return facts, failure(ctx, err)
}

func (b *Backend) facts(ctx context.Context) (backend.Facts, error) {
	f := backend.Facts{Daemon: daemon}
	r, err := b.api.GetBgp(ctx, &api.GetBgpRequest{})
	if err != nil {
		return f, err
	}
	f.RouterID, f.LocalAS = address(r.GetGlobal().GetRouterId()), r.GetGlobal().GetAsn()
	peers, err := b.peers(ctx, false)
	if err != nil {
		return f, err
	}
	f.Version, f.Families = version(peers), families(peers)
	return f, nil
}
