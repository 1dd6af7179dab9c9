package gobgp

import (
	"context"
	"slices"

	"github.com/osrg/gobgp/v4/api"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

// change calls do for each selected peer, by its address. An empty address means every peer to GoBGP, so none is ever sent: * is
// spelled out here.
func (b *Backend) change(ctx context.Context, inv command.Invocation, out *output.Collector, done string, do func(ctx context.Context, address string) error) error {
	peers, err := b.selected(ctx, inv, false)
	if err != nil {
		return err
	}
	changed := make([]string, 0, len(peers))
	for _, p := range peers {
		a := peerAddress(p)
		if a == "" {
			continue
		}
		if err := do(ctx, a); err != nil {
			return err
		}
		changed = append(changed, a)
	}
	return write(out, struct {
		Done  string   `json:"done"`
		Peers []string `json:"peers"`
	}{done, changed})
}

func (b *Backend) clearPeer(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	soft := slices.Contains(inv.Words, "soft")
	done := "reset"
	if soft {
		done = "soft reset"
	}
	return b.change(ctx, inv, out, done, func(ctx context.Context, address string) error {
		_, err := b.api.ResetPeer(ctx, &api.ResetPeerRequest{Address: address, Soft: soft, Direction: api.ResetPeerRequest_DIRECTION_BOTH})
		return err
	})
}

func (b *Backend) requestPeer(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	if inv.Words[len(inv.Words)-1] == "enable" {
		return b.change(ctx, inv, out, "enabled", func(ctx context.Context, address string) error {
			_, err := b.api.EnablePeer(ctx, &api.EnablePeerRequest{Address: address})
			return err
		})
	}
	// GoBGP's ShutdownPeer ends the session once and lets it come back; DisablePeer is the opposite of EnablePeer.
	return b.change(ctx, inv, out, "shut down", func(ctx context.Context, address string) error {
		_, err := b.api.DisablePeer(ctx, &api.DisablePeerRequest{Address: address})
		return err
	})
}
