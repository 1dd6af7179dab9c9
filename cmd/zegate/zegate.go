package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"

	"google.golang.org/grpc/test/bufconn"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/services/edge"
	"github.com/zegate/zegate/services/executor"
	"github.com/zegate/zegate/services/taskrunner"
)

// Bytes that a connection between two services holds before its writer waits.
const channelBytes = 1 << 20

func program() lifecycle.Program {
	z := &zegate{
		edge: edge.DefaultConfig(), executor: executor.DefaultConfig(), taskrunner: taskrunner.DefaultConfig(),
		channels: map[string]*bufconn.Listener{"executor": bufconn.Listen(channelBytes), "taskrunner": bufconn.Listen(channelBytes)},
		bound:    make(chan net.Addr, 1),
	}
	z.edge.Host.Dial = z.dial
	z.executor.OnLabEstablished = z.labs.Done
	return lifecycle.Program{
		Name: "zegate",
		Sections: []lifecycle.Section{
			{Name: "edge", Config: &z.edge}, {Name: "executor", Config: &z.executor}, {Name: "taskrunner", Config: &z.taskrunner},
		},
		Validate: z.validate,
		Flags: []lifecycle.Flag{
			{Path: "edge.listen", Usage: "serve MCP and REST on `ADDR`"},
			{Path: "edge.admin_listen", Usage: "serve health and metrics on `ADDR`"},
		},
		AdminListen: func() string { return z.edge.AdminListen },
		AdminKey:    "edge.admin_listen",
		Services: []lifecycle.Service{
			{Name: "executor", Run: z.runExecutor}, {Name: "taskrunner", Run: z.runTaskrunner}, {Name: "edge", Run: z.runEdge},
		},
		Started: z.started,
	}
}

// zegate is the three services and the channels between them.
type zegate struct {
	edge       edge.Config
	executor   executor.Config
	taskrunner taskrunner.Config
	channels   map[string]*bufconn.Listener
	bound      chan net.Addr
	labs       sync.WaitGroup // labs whose session is not up yet
}

func (z *zegate) validate(shared lifecycle.Shared) error {
	z.edge.Host.Shared, z.executor.Host.Shared, z.taskrunner.Host.Shared = shared, shared, shared
	z.executor.Host.Listener, z.taskrunner.Host.Listener = z.channels["executor"], z.channels["taskrunner"]
	for _, validate := range []func() error{z.edge.Validate, z.executor.Validate, z.taskrunner.Validate} {
		if err := validate(); err != nil {
			return err
		}
	}
	for _, d := range z.executor.Devices {
		if d.Backend == executor.BackendLab {
			z.labs.Add(1)
		}
	}
	return nil
}

func (z *zegate) dial(service string) func(context.Context) (net.Conn, error) {
	return z.channels[service].DialContext
}

func (z *zegate) runExecutor(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
	host.Listener = z.channels["executor"]
	z.executor.Host = host
	return executor.Run(ctx, z.executor, log)
}

func (z *zegate) runTaskrunner(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
	host.Listener = z.channels["taskrunner"]
	z.taskrunner.Host = host
	return taskrunner.Run(ctx, z.taskrunner, log)
}

func (z *zegate) runEdge(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
	host.Dial = z.dial
	host.Bound = func(addr net.Addr) { z.bound <- addr }
	z.edge.Host = host
	return edge.Run(ctx, z.edge, log)
}

// started greets the person who started the program, once the lab has something to show.
func (z *zegate) started(ctx context.Context, out io.Writer) {
	established := make(chan struct{})
	go func() { z.labs.Wait(); close(established) }()
	select {
	case <-established:
	case <-ctx.Done():
		return
	}
	scheme := "http"
	if z.edge.TLS.Cert != "" {
		scheme = "https"
	}
	url := scheme + "://" + (<-z.bound).String() + edge.MCPPath
	if z.edge.PublicURL != "" {
		url = z.edge.PublicURL
	}
	_, _ = fmt.Fprintf(out, greeting, url, z.deviceNames())
}

func (z *zegate) deviceNames() []string {
	var names []string
	for _, d := range z.executor.Devices {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// The request is the first half of the round trip: a call without its command, from a client that can ask its user.
const greeting = `
Zegate serves MCP at %[1]s, on the devices %[2]s.

For a client that reads a JSON file of servers:

  {"mcpServers": {"zegate": {"type": "http", "url": "%[1]s"}}}

Or by hand; the answer is the question that a client asks its user:

  curl -s %[1]s \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ze_execute' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ze_execute","arguments":{},
         "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                  "io.modelcontextprotocol/clientInfo":{"name":"curl","version":"8"},
                  "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}'

`
