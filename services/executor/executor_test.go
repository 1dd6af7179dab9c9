package executor

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/test/bufconn"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/pkg/rpc"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
)

// start runs an executor until the test ends and returns a client of it.
func start(t *testing.T, cfg Config) executorv1.ExecutorServiceClient {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	ready := make(chan bool, 8)
	cfg.Host = lifecycle.Host{
		Shared: lifecycle.Shared{Drain: lifecycle.Drain{Grace: 10 * time.Second}}, Version: "test", Registry: prometheus.NewRegistry(),
		Ready: func(r bool) { ready <- r }, Listener: lis,
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, slog.New(slog.DiscardHandler)) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("run: %v", err)
	}
	conn, err := rpc.NewClient(rpc.ClientConfig{Dial: func(ctx context.Context) (net.Conn, error) { return lis.DialContext(ctx) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		_ = conn.Close()
	})
	return executorv1.NewExecutorServiceClient(conn)
}

func call(t *testing.T, c executorv1.ExecutorServiceClient, tool, args string) *executorv1.CallToolResponse {
	t.Helper()
	r, err := c.CallTool(t.Context(), &executorv1.CallToolRequest{Name: tool, ArgumentsJson: []byte(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	return r
}

func TestLabAnswersThePeerList(t *testing.T) {
	cfg := DefaultConfig()
	up := make(chan struct{})
	cfg.OnLabEstablished = func() { close(up) }
	c := start(t, cfg)
	<-up
	for _, line := range []string{
		"show bgp peer list", "show bgp", "show bgp summary", "show bgp rib", "show bgp rib best", "show bgp rib 203.0.113.0/24",
		"show bgp rib 203.0.113.130", "show bgp peer 127.0.0.1 detail", "show version", "show uptime", "help", "monitor bgp 2s", "cl bgp *", "CLEAR BGP *", "conf t", "sh bgp su", "clear bgp peer *", "show bgp peer x detail", "show bgp pier",
	} {
		r := call(t, c, "ze_execute", `{"command":"`+line+`"}`)
		t.Logf("%s: %v\n%s", line, r.GetFailureClass(), r.GetContent()[0].GetText().GetText())
	}
	t.Log(call(t, c, "ze_reference", ``).GetContent()[0].GetText().GetText())
	r := call(t, c, "ze_execute", `{"command":"show bgp peer list"}`)
	text := r.GetContent()[0].GetText().GetText()
	if r.GetIsError() || !strings.HasPrefix(text, `{"peers":{"127.0.0.1":{"name":"lab-far","remote-as":64513,"state":"established","uptime":`) {
		t.Errorf("peer list: %s", text)
	}
}
