package rpc_test

import (
	"path/filepath"
	"testing"

	"github.com/zegate/zegate/pkg/rpc"
)

func TestLoopbackOnly(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.8.8.8:0": true, "localhost:1": true, "[::1]:1": true, "unix:///run/x.sock": true,
		":8080": false, "0.0.0.0:8080": false, "[::]:1": false, "192.0.2.1:1": false, "example.net:1": false, "127.0.0.1": false, "": false,
		"localhost.example.net:1": false,
	} {
		if got := rpc.LoopbackOnly(addr); got != want {
			t.Errorf("LoopbackOnly(%q) = %t", addr, got)
		}
	}
}

func TestListen(t *testing.T) {
	for addr, network := range map[string]string{"127.0.0.1:0": "tcp", "unix://" + filepath.Join(t.TempDir(), "s"): "unix"} {
		lis, err := rpc.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := lis.Addr().Network(); got != network {
			t.Errorf("Listen(%q) is on %s", addr, got)
		}
		if err := lis.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := rpc.Listen("no-port"); err == nil {
		t.Error("no error for an address without a port")
	}
}
