// Command ze-test drives an MCP server through functional tests written as lines of standard input.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/zegate/zegate/cmd/ze-test/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(script.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
