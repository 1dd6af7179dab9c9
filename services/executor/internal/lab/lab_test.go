package lab

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTwoLabsShareAHost(t *testing.T) {
	var labs []*Lab
	for range 2 {
		l, err := Start(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Stop)
		labs = append(labs, l)
	}
	for _, l := range labs {
		if err := l.Established(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Dir(strings.TrimPrefix(labs[0].Target(), "unix://"))
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the lab's folder has mode %v, want 0700", info.Mode().Perm())
	}
	labs[0].Stop()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the lab's folder is still there after Stop: %v", err)
	}
}

func TestEstablishedEndsWithItsContext(t *testing.T) {
	l := &Lab{up: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Established(ctx); err == nil {
		t.Error("a session that never came up is reported as established")
	}
}
