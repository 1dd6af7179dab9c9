// Package server is the gRPC face of the executor: its tools, and calls of them.
package server

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/device"
)

// Server serves ze.executor.v1.
type Server struct {
	executorv1.UnimplementedExecutorServiceServer

	devices   map[string]*device.Device
	only      *device.Device // the one device, where there is just one
	version   string
	catalogue *executorv1.ListToolsResponse
	stopped   chan struct{}
	stop      sync.Once
}

// New makes a server of the executor's devices, of which there is at least one. Version is the executor's own.
func New(devices []*device.Device, version string) (*Server, error) {
	s := &Server{devices: make(map[string]*device.Device, len(devices)), version: version, stopped: make(chan struct{})}
	for _, d := range devices {
		s.devices[d.Name()] = d
	}
	if len(devices) == 1 {
		s.only = devices[0]
	}
	var err error
	s.catalogue, err = newCatalogue(devices)
	return s, err
}

// Register puts the service on a gRPC server.
func (s *Server) Register(r grpc.ServiceRegistrar) { executorv1.RegisterExecutorServiceServer(r, s) }

// Stop ends the watches, so that a server that drains does not wait for them. Calls go on.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopped) }) }

// ListTools answers the catalogue.
func (s *Server) ListTools(context.Context, *executorv1.ListToolsRequest) (*executorv1.ListToolsResponse, error) {
	return s.catalogue, nil
}

// WatchTools sends the revision of the catalogue, which is fixed when the executor starts.
func (s *Server) WatchTools(_ *executorv1.WatchToolsRequest, stream grpc.ServerStreamingServer[executorv1.WatchToolsResponse]) error {
	if err := stream.Send(&executorv1.WatchToolsResponse{Revision: s.catalogue.GetRevision()}); err != nil {
		return err
	}
	select {
	case <-s.stopped:
		return fault.New(fault.Unavailable, "the executor is stopping")
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

// CallTool runs a call to its end.
func (s *Server) CallTool(ctx context.Context, req *executorv1.CallToolRequest) (*executorv1.CallToolResponse, error) {
	return s.call(ctx, req, nil)
}

// call runs a call. An error is a fault; a tool that failed is a response. Progress may be nil.
func (s *Server) call(ctx context.Context, req *executorv1.CallToolRequest, progress func(line string)) (*executorv1.CallToolResponse, error) {
	run, known := runs[req.GetName()]
	if !known {
		return nil, fault.New(fault.UnknownTool, "unknown tool: the executor has no tool of that name; tools/list names them")
	}
	args, err := parseArguments(req.GetArgumentsJson())
	if err != nil {
		return nil, err
	}
	resp, err := run(s, ctx, req, args, progress)
	var f *command.Failure
	if errors.As(err, &f) {
		return failed(f, nil), nil
	}
	return resp, err
}

// runs is what each tool does. An error is a *command.Failure, or a fault.
var runs = map[string]func(*Server, context.Context, *executorv1.CallToolRequest, arguments, func(string)) (*executorv1.CallToolResponse, error){
	executeTool:   (*Server).execute,
	referenceTool: (*Server).reference,
	commandsTool:  (*Server).commands,
}

func (s *Server) execute(ctx context.Context, req *executorv1.CallToolRequest, args arguments, progress func(string)) (*executorv1.CallToolResponse, error) {
	if err := args.only(s.names(commandArgument)...); err != nil {
		return nil, err
	}
	line, err := args.text(commandArgument)
	if err != nil {
		return nil, err
	}
	d, err := s.device(args)
	if err != nil {
		return nil, err
	}
	plan, err := d.Plan(line)
	if err != nil {
		return nil, err
	}
	if plan.LongRunning && req.GetLongRunning() == executorv1.LongRunning_LONG_RUNNING_REFUSE {
		return nil, fault.New(fault.LongRunning, "%q runs long: run it as a task", plan.Command.Syntax)
	}
	out, err := d.Run(ctx, plan, progress)
	var f *command.Failure
	if errors.As(err, &f) {
		return failed(f, &out), nil
	}
	if err != nil {
		return nil, err
	}
	return succeeded(out), nil
}

func (s *Server) reference(ctx context.Context, _ *executorv1.CallToolRequest, args arguments, _ func(string)) (*executorv1.CallToolResponse, error) {
	if err := args.only(s.names()...); err != nil {
		return nil, err
	}
	d, err := s.device(args)
	if err != nil {
		return nil, err
	}
	return text(string(d.Reference(ctx, s.version))), nil
}

func (s *Server) commands(_ context.Context, _ *executorv1.CallToolRequest, args arguments, _ func(string)) (*executorv1.CallToolResponse, error) {
	if err := args.only(s.names()...); err != nil {
		return nil, err
	}
	d, err := s.device(args)
	if err != nil {
		return nil, err
	}
	return text(string(d.Commands())), nil
}

// names is the arguments that a tool takes: its own, and device where there is a choice.
func (s *Server) names(own ...string) []string {
	if s.only == nil {
		return append(own, deviceArgument)
	}
	return own
}

// device is the device that a call is for.
func (s *Server) device(args arguments) (*device.Device, error) {
	if s.only != nil {
		return s.only, nil
	}
	name, err := args.text(deviceArgument)
	if err != nil {
		return nil, err
	}
	d, known := s.devices[name]
	if !known {
		return nil, command.Fail(command.InvalidArgument, "device: no such device; the input schema lists them")
	}
	return d, nil
}
