package edge

import (
	"context"
	"log/slog"

	"github.com/zegate/zegate/pkg/lifecycle"
)

// Program is the executable that runs an edge alone.
func Program() lifecycle.Program {
	cfg := DefaultConfig()
	return lifecycle.Program{
		Name:     "edge",
		Sections: []lifecycle.Section{{Name: "edge", Config: &cfg}},
		Validate: func(shared lifecycle.Shared) error {
			cfg.Host.Shared = shared
			return cfg.Validate()
		},
		Flags: []lifecycle.Flag{
			{Path: "edge.listen", Usage: "serve MCP and REST on `ADDR`"},
			{Path: "edge.admin_listen", Usage: "serve health and metrics on `ADDR`"},
			{Path: "edge.executor", Usage: "gRPC `TARGET` of the executors"},
			{Path: "edge.taskrunner", Usage: "gRPC `TARGET` of the task runners; none means no tasks"},
		},
		AdminListen: func() string { return cfg.AdminListen },
		AdminKey:    "edge.admin_listen",
		Services: []lifecycle.Service{{Name: "edge", Run: func(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
			cfg.Host = host
			return Run(ctx, cfg, log)
		}}},
	}
}
