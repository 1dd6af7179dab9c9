// Package lifecycle is the body of every main: settings, signals, the admin port, and the exit code.
package lifecycle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/zegate/zegate/pkg/rpc"
	"github.com/zegate/zegate/pkg/telemetry"
)

// version is stamped by the build: -ldflags "-X github.com/zegate/zegate/pkg/lifecycle.version=v1.2.3".
var version = ""

// Version is what this build calls itself: the stamped version, or what the Go tool knows of the build.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // it ran, and something went wrong
	exitUsage  = 2 // it did not start: flags, environment or file
)

// Program is one executable.
type Program struct {
	// Name is the executable's name.
	Name string
	// Sections are the sections of the settings that it uses.
	Sections []Section
	// Validate tells what is wrong with the sections once everything is read, naming the key and what to write instead.
	Validate func(shared Shared) error
	// Flags are the settings that have a flag, by their path: edge.admin_listen has the flag --admin-listen.
	Flags []Flag
	// AdminListen is the address of the admin port, once the settings are read; the key AdminKey names it.
	AdminListen func() string
	AdminKey    string
	// Services run side by side. They start in this order and stop in the opposite one.
	Services []Service
	// Started is called once every service was ready for the first time; nil means that nobody needs to know. It may print to
	// out, for the person who started the program.
	Started func(ctx context.Context, out io.Writer)
}

// Flag gives a setting a flag.
type Flag struct {
	// Path is the setting's path, such as edge.listen.
	Path string
	// Usage says what it is, for the help text.
	Usage string
}

// Service is one service of a program.
type Service struct {
	// Name is the service's name, in logs and in /readyz.
	Name string
	// Run serves until ctx ends, drains and returns.
	Run func(ctx context.Context, host Host, log *slog.Logger) error
}

// Main runs the program and exits.
func Main(p Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once: the handler is gone by then.
	context.AfterFunc(ctx, stop)
	code := p.Execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Execute is Main without the process: it runs until ctx ends and returns the exit code.
func (p Program) Execute(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	file := fs.String("config", "", "`FILE` with settings (YAML)")
	profiles := fs.Bool("pprof", false, "serve profiles on the admin port, which must then be on loopback")
	flags := map[string]string{}
	for _, f := range p.Flags {
		fs.Func(flagName(f.Path), f.Usage, func(text string) error { flags[f.Path] = text; return nil })
	}
	fs.Usage = func() { p.usage(fs) }
	command, rest := splitCommand(args)
	if err := fs.Parse(rest); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	fail := func(code int, err error) int {
		_, _ = fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return code
	}
	switch {
	case command == "config" && fs.NArg() == 2 && fs.Arg(0) == "check":
		*file = fs.Arg(1)
	case command == "config":
		return fail(exitUsage, fmt.Errorf("write %s config check FILE", p.Name))
	case fs.NArg() > 0:
		return fail(exitUsage, fmt.Errorf("%q is neither a flag nor a command; see %s --help", fs.Arg(0), p.Name))
	}
	if command == "version" {
		_, _ = fmt.Fprintln(stdout, p.Name, Version())
		return exitOK
	}
	shared := defaultShared()
	if err := (settings{sections: p.Sections, shared: shared}).load(*file, environ, flags); err != nil {
		return fail(exitUsage, err)
	}
	if command != "healthcheck" {
		if err := p.Validate(*shared); err != nil {
			return fail(exitUsage, err)
		}
	}
	switch command {
	case "config":
		_, _ = fmt.Fprintf(stdout, "%s: ok\n", *file)
		return exitOK
	case "healthcheck":
		if err := checkHealth(ctx, p.AdminListen()); err != nil {
			return fail(exitFailed, err)
		}
		return exitOK
	}
	if *profiles && !rpc.LoopbackOnly(p.AdminListen()) {
		return fail(exitUsage, fmt.Errorf("--pprof: %s is %s, which others can reach: profiles are served on 127.0.0.1 alone", p.AdminKey, p.AdminListen()))
	}
	if err := p.serve(ctx, *shared, *profiles, stdout, stderr); err != nil {
		return fail(exitFailed, err)
	}
	return exitOK
}

// Commands come first, so that their own words are not taken for a flag's value.
var commands = []string{"config", "healthcheck", "version"}

func splitCommand(args []string) (command string, rest []string) {
	if len(args) > 0 && slices.Contains(commands, args[0]) {
		return args[0], args[1:]
	}
	return "", args
}

func (p Program) usage(fs *flag.FlagSet) {
	out := fs.Output()
	_, _ = fmt.Fprintf(out, `Usage: %[1]s [flags]                 serve until SIGTERM or SIGINT
       %[1]s healthcheck [flags]     ask the one that runs with these flags whether it is ready
       %[1]s config check FILE       tell what is wrong with a file of settings
       %[1]s version

Every setting can also come from the environment: ZEGATE_ and its path in capitals, such as %s. A flag counts
more than the environment, the environment more than the file. Lists are separated by commas.

Flags:
`, p.Name, "ZEGATE_"+strings.ToUpper(strings.ReplaceAll(p.Flags[0].Path, ".", "_")))
	fs.PrintDefaults()
}

// serve runs the services until ctx ends or one of them fails, then stops them, the last one first: whoever calls stops
// before whoever is called.
func (p Program) serve(ctx context.Context, shared Shared, profiles bool, stdout, stderr io.Writer) error {
	log := shared.Log.NewLogger(stderr)
	registry := telemetry.NewRegistry(p.Name, Version())
	ready := newReadiness(p.Services)
	admin, err := newAdmin(p.AdminKey, p.AdminListen(), ready, registry, profiles)
	if err != nil {
		return err
	}
	defer admin.close()
	failed := make(chan error, len(p.Services)+1)
	go func() {
		if err := admin.serve(); err != nil {
			failed <- err
		}
	}()
	type running struct {
		stop context.CancelFunc
		done chan struct{}
		err  error
	}
	var services []*running
	for _, s := range p.Services {
		// A service ends when its turn comes, not when the process is told to.
		sctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		r := &running{stop: stop, done: make(chan struct{})}
		services = append(services, r)
		host := Host{
			Shared: shared, Version: Version(), Registry: registry,
			Ready: func(is bool) { ready.set(s.Name, is) },
			Bound: func(net.Addr) {},
		}
		go func() {
			defer close(r.done)
			if r.err = s.Run(sctx, host, log.With("service", s.Name)); r.err != nil {
				r.err = fmt.Errorf("%s: %w", s.Name, r.err)
				failed <- r.err
			}
		}()
	}
	started, stopWaiting := context.WithCancel(ctx)
	defer stopWaiting()
	go func() {
		select {
		case <-ready.all:
			if p.Started != nil {
				p.Started(started, stdout)
			}
		case <-started.Done():
		}
	}()
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case err = <-failed:
	}
	stopWaiting()
	for _, r := range slices.Backward(services) {
		r.stop()
		<-r.done
		if err == nil {
			err = r.err
		}
	}
	return err
}
