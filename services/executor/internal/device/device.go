// Package device is one device as the executor offers it: a back end with its grammar, behind policy, limits and output rules.
// Every way to a device leads through Plan and Run.
package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/zegate/zegate/services/executor/internal/backend"
	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

// Backend speaks to one kind of device. It knows no protocol of ours: it takes a resolved command and writes what the device says.
type Backend interface {
	// Grammar is the commands that Run takes.
	Grammar() *command.Grammar
	// Run runs one command to its end, or until ctx ends, and writes its output to out; it stops when out is full. An error is
	// a *command.Failure, or ctx's. Several commands may run at once.
	Run(ctx context.Context, inv command.Invocation, out *output.Collector) error
	// Facts asks the device about itself, quickly. An error is a *command.Failure, or ctx's.
	Facts(ctx context.Context) (backend.Facts, error)
	// FactsCommand is a line that prints all that Facts tells, so that policy on it is policy on Facts.
	FactsCommand() string
	// Close ends every connection.
	Close() error
}

// Config is how a device is offered.
type Config struct {
	// Name is the device's name.
	Name string
	// Backend is the kind of its back end.
	Backend string
	// Rules are its policy.
	Rules command.Rules
	// LongRunning are patterns of commands that run long, in place of what the grammar says; nil keeps that.
	LongRunning []string
	// MaxConcurrent is how many commands run at once, at least 1.
	MaxConcurrent int
	// QueueLength is how many more may wait for at most QueueWait.
	QueueLength int
	QueueWait   time.Duration
	// Timeout bounds a command, LongTimeout one that runs long.
	Timeout, LongTimeout time.Duration
	// MaxOutputBytes caps a command's output.
	MaxOutputBytes int
}

// Device is a device on offer.
type Device struct {
	cfg     Config
	backend Backend
	grammar *command.Grammar
	policy  *command.Policy
	long    []command.Pattern
	queue   *queue
	log     *slog.Logger
}

// New makes a device of a back end, which it closes in Close.
func New(cfg Config, b Backend, log *slog.Logger) (*Device, error) {
	d := &Device{cfg: cfg, backend: b, queue: newQueue(cfg.MaxConcurrent, cfg.QueueLength, cfg.QueueWait), log: log.With("device", cfg.Name)}
	var err error
	if d.grammar, err = b.Grammar().With(own); err != nil {
		return nil, err
	}
	if d.policy, err = command.NewPolicy(cfg.Rules); err != nil {
		return nil, fmt.Errorf("policy.%w", err)
	}
	if d.long, err = command.ParsePatterns(cfg.LongRunning); err != nil {
		return nil, fmt.Errorf("long_running: %w", err)
	}
	return d, nil
}

// Name is the device's name.
func (d *Device) Name() string { return d.cfg.Name }

// Close ends the back end's connections.
func (d *Device) Close() error { return d.backend.Close() }

// Plan is a command that may run.
type Plan struct {
	command.Invocation
	// LongRunning says that the command may take longer than a caller likes to wait.
	LongRunning bool
}

// Plan reads a line of command and asks policy. Nothing is sent to the device. The error is a *command.Failure.
func (d *Device) Plan(line string) (Plan, error) {
	words, err := command.Parse(line)
	if err != nil {
		return Plan{}, err
	}
	inv, err := d.grammar.Resolve(words)
	if err != nil {
		var u *command.Unresolved
		if errors.As(err, &u) {
			if refused := d.policy.RefuseUnresolved(d.grammar, u); refused != nil {
				return Plan{}, refused
			}
		}
		return Plan{}, err
	}
	if dec := d.policy.Decide(inv); !dec.Allowed {
		return Plan{}, d.policy.Refuse(d.grammar, inv.Line(), dec, inv.Words)
	}
	return Plan{Invocation: inv, LongRunning: d.runsLong(inv)}, nil
}

func (d *Device) runsLong(inv command.Invocation) bool {
	if d.cfg.LongRunning == nil {
		return inv.Command.LongRunning
	}
	for _, p := range d.long {
		if p.Match(inv.Words) {
			return true
		}
	}
	return false
}

// Run runs a plan and returns its output. Progress, if not nil, is told of each line as it arrives. With a failure comes the output that had
// arrived before it. The error is a *command.Failure.
func (d *Device) Run(ctx context.Context, p Plan, progress func(line string)) (output.Result, error) {
	out := output.NewCollector(output.Options{
		MaxBytes: d.cfg.MaxOutputBytes, JSON: p.Command.JSON, Configuration: p.Command.Configuration, Narrow: p.Command.Narrow, Progress: progress,
	})
	if answer, is := answers[p.Command.Syntax]; is {
		answer(d, out)
		return out.Result(), nil
	}
	timeout := d.cfg.Timeout
	if p.LongRunning {
		timeout = d.cfg.LongTimeout
	}
	start := time.Now()
	err := d.limited(ctx, timeout, func(ctx context.Context) error { return d.backend.Run(ctx, p.Invocation, out) })
	d.note(ctx, p.Command, time.Since(start), err)
	return out.Result(), err
}

// limited does something on the device within its limits. An error is a *command.Failure.
func (d *Device) limited(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := d.queue.enter(ctx, d.cfg.Name); err != nil {
		return err
	}
	defer d.queue.leave()
	err := do(ctx)
	var f *command.Failure
	switch {
	case err == nil, errors.Is(err, output.ErrFull):
		return nil
	case ctx.Err() != nil:
		return ended(ctx, d.cfg.Name)
	case errors.As(err, &f):
		return f
	}
	return command.FailFrom(err, command.Failed, "%s could not run the command", d.cfg.Name)
}

// note logs a command by its syntax, since the line holds values that a user gave, and so may the text of a failure. Only why a device
// cannot be reached is of no user's making.
func (d *Device) note(ctx context.Context, c *command.Command, took time.Duration, err error) {
	var f *command.Failure
	if !errors.As(err, &f) {
		d.log.DebugContext(ctx, "command ran", "command", c.Syntax, "duration", took)
		return
	}
	attrs := []any{"command", c.Syntax, "duration", took, "class", f.Class.String()}
	if f.Class == command.Unavailable {
		attrs = append(attrs, "error", f)
	}
	d.log.InfoContext(ctx, "command failed", attrs...)
}

// ended is the failure of a context that has ended.
func ended(ctx context.Context, device string) *command.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return command.FailFrom(ctx.Err(), command.Timeout, "the command on %s did not end in time and was stopped; ask for less, or try again", device)
	}
	return command.FailFrom(ctx.Err(), command.Cancelled, "the command on %s was stopped because its caller went away", device)
}
