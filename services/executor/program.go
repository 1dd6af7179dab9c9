package executor

import (
	"context"
	"log/slog"

	"github.com/zegate/zegate/pkg/lifecycle"
)

// Program is the executable that runs an executor alone.
func Program() lifecycle.Program {
	cfg := DefaultConfig()
	return lifecycle.Program{
		Name:     "executor",
		Sections: []lifecycle.Section{{Name: "executor", Config: &cfg}},
		Validate: func(shared lifecycle.Shared) error {
			cfg.Host.Shared = shared
			return cfg.Validate()
		},
		Flags: []lifecycle.Flag{
			{Path: "executor.listen", Usage: "serve gRPC on `ADDR`, host:port or unix:///path"},
			{Path: "executor.admin_listen", Usage: "serve health and metrics on `ADDR`"},
		},
		AdminListen: func() string { return cfg.AdminListen },
		AdminKey:    "executor.admin_listen",
		Services: []lifecycle.Service{{Name: "executor", Run: func(ctx context.Context, host lifecycle.Host, log *slog.Logger) error {
			cfg.Host = host
			return Run(ctx, cfg, log)
		}}},
	}
}
