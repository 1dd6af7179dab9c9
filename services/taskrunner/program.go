package taskrunner

import (
	"context"
	"log/slog"

	"github.com/zegate/zegate/pkg/lifecycle"
)

// Program is the executable that runs a task runner alone.
func Program() lifecycle.Program {
	cfg := DefaultConfig()
	return lifecycle.Program{
		Name:     "taskrunner",
		Sections: []lifecycle.Section{{Name: "taskrunner", Config: &cfg}},
		Validate: func(shared lifecycle.Shared) error {
			cfg.Host.Shared = shared
			return cfg.Validate()
		},
		Flags: []lifecycle.Flag{
			{Path: "taskrunner.listen", Usage: "serve gRPC on `ADDR`, host:port or unix:///path"},
			{Path: "taskrunner.admin_listen", Usage: "serve health and metrics on `ADDR`"},
		},
		AdminListen: func() string { return cfg.AdminListen },
		AdminKey:    "taskrunner.admin_listen",
		Services: []lifecycle.Service{{Name: "taskrunner", Run: func(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
			cfg.Host = host
			return Run(ctx, cfg, log)
		}}},
	}
}
