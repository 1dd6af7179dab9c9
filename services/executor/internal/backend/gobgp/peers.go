package gobgp

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/osrg/gobgp/v4/api"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

// peers is every peer, by address.
func (b *Backend) peers(ctx context.Context, advertised bool) ([]*api.Peer, error) {
	stream, err := b.api.ListPeer(ctx, &api.ListPeerRequest{EnableAdvertised: advertised})
	if err != nil {
		return nil, err
	}
	var peers []*api.Peer
	err = each(stream, func(r *api.ListPeerResponse) error {
		peers = append(peers, r.GetPeer())
		return nil
	})
	slices.SortFunc(peers, func(a, b *api.Peer) int { return compareAddresses(peerAddress(a), peerAddress(b)) })
	return peers, err
}

// each hands over every message of a stream, until it ends or visit fails.
func each[M any](stream grpc.ServerStreamingClient[M], visit func(*M) error) error {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(m); err != nil {
			return err
		}
	}
}

func peerAddress(p *api.Peer) string {
	if a := address(p.GetState().GetNeighborAddress()); a != "" {
		return a
	}
	return address(p.GetConf().GetNeighborAddress())
}

// address leaves out what GoBGP prints for no address.
func address(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().String()
	}
	return ""
}

// peerName is what an operator calls a peer: GoBGP has descriptions, not names.
func peerName(p *api.Peer) string {
	if d := p.GetConf().GetDescription(); d != "" {
		return d
	}
	return p.GetConf().GetNeighborInterface()
}

func compareAddresses(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return x.Compare(y)
}

// selected is the peers that a selector means. GoBGP answers a selector that fits nothing with an empty stream, so that is checked here.
func (b *Backend) selected(ctx context.Context, inv command.Invocation, advertised bool) ([]*api.Peer, error) {
	peers, err := b.peers(ctx, advertised)
	if err != nil {
		return nil, err
	}
	want := inv.Values["selector"]
	if want == "*" {
		return peers, nil
	}
	found := slices.DeleteFunc(slices.Clone(peers), func(p *api.Peer) bool { return peerAddress(p) != want && peerName(p) != want })
	if len(found) > 0 {
		return found, nil
	}
	known := make([]string, 0, len(peers))
	for _, p := range peers {
		known = append(known, peerAddress(p))
	}
	if len(known) == 0 {
		return nil, command.Fail(command.Failed, "no peer %q: GoBGP has no peers", want)
	}
	more := ""
	if len(known) > 16 {
		known, more = known[:16], " and more; list them with: show bgp peer list"
	}
	return nil, command.Fail(command.Failed, "no peer %q; the peers are: %s%s", want, strings.Join(known, ", "), more)
}

// byPeer is an object with one member for each peer, in the order of addresses.
type byPeer[T any] struct {
	peers []*api.Peer
	value func(*api.Peer) T
}

// MarshalJSONTo writes the object.
func (o byPeer[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, p := range o.peers {
		if err := e.WriteToken(jsontext.String(peerAddress(p))); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, o.value(p)); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// encode is the compact JSON of an answer. Text that a neighbour chose may be no UTF-8: it is made so.
func encode(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

func write(out *output.Collector, v any) error {
	b, err := encode(v)
	if err == nil {
		_, err = out.Write(b)
	}
	return err
}

func state(p *api.Peer) string {
	return enum(p.GetState().GetSessionState().String(), "SESSION_STATE_")
}

// enum turns SESSION_STATE_OPENSENT into opensent, and a zero value into unknown.
func enum(name, prefix string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
	if name == "unspecified" {
		return "unknown"
	}
	return name
}

func established(p *api.Peer) bool {
	return p.GetState().GetSessionState() == api.PeerState_SESSION_STATE_ESTABLISHED
}

func countEstablished(peers []*api.Peer) int {
	n := 0
	for _, p := range peers {
		if established(p) {
			n++
		}
	}
	return n
}

// uptime is how long a session has been up, in whole seconds; 0 while it is not.
func (b *Backend) uptime(p *api.Peer) int64 {
	if !established(p) {
		return 0
	}
	return b.since(p.GetTimers().GetState().GetUptime())
}

func (b *Backend) since(t *timestamppb.Timestamp) int64 {
	if t.GetSeconds() <= 0 {
		return 0
	}
	return max(0, int64(b.now().Sub(t.AsTime()).Seconds()))
}

func families(peers []*api.Peer) []string {
	var names []string
	for _, p := range peers {
		for _, a := range p.GetAfiSafis() {
			if a.GetConfig().GetEnabled() {
				names = append(names, familyName(a.GetConfig().GetFamily()))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// familyName turns AFI_IP and SAFI_UNICAST into ipv4-unicast.
func familyName(f *api.Family) string {
	afi := enum(f.GetAfi().String(), "AFI_")
	switch f.GetAfi() {
	case api.Family_AFI_IP:
		afi = "ipv4"
	case api.Family_AFI_IP6:
		afi = "ipv6"
	}
	return afi + "-" + enum(f.GetSafi().String(), "SAFI_")
}

// version is the daemon's version, which it tells only inside the capabilities that it announces to a peer.
func version(peers []*api.Peer) string {
	for _, p := range peers {
		for _, c := range p.GetState().GetLocalCap() {
			if v := c.GetSoftwareVersion().GetSoftwareVersion(); v != "" {
				v = strings.TrimPrefix(v, "GoBGP/")
				return string(output.Clean([]byte(v), output.Plain))
			}
		}
	}
	return ""
}
