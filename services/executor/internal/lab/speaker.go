package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/osrg/gobgp/v4/api"
	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"github.com/osrg/gobgp/v4/pkg/server"
)

// portTries bounds how often a port that was free a moment ago may be gone.
const portTries = 10

// listening starts a speaker on a free port. GoBGP takes a port, not a listener, so between the question for a free one and its
// use somebody else may take it; then the next one is tried, on a new server.
func listening(s speaker, log *slog.Logger) (*server.BgpServer, int, error) {
	for range portTries {
		port, err := freePort()
		if err != nil {
			return nil, 0, err
		}
		b := server.NewBgpServer(server.LoggerOption(log, nil))
		go b.Serve()
		if err = begin(b, s, int32(port)); err == nil {
			return b, port, nil
		}
		b.Stop()
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, 0, err
		}
	}
	return nil, 0, fmt.Errorf("no free port on %s after %d tries", loopback, portTries)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// begin starts BGP and puts the speaker's own routes into its table. A port of -1 does not listen.
func begin(b *server.BgpServer, s speaker, port int32) error {
	err := b.StartBgp(context.Background(), &api.StartBgpRequest{Global: &api.Global{
		Asn: s.asn, RouterId: s.routerID, ListenPort: port, ListenAddresses: []string{loopback},
	}})
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	paths := make([]*apiutil.Path, len(s.routes))
	for i, r := range s.routes {
		if paths[i], err = r.native(); err != nil {
			return fmt.Errorf("route %s of %s: %w", r.prefix, s.name, err)
		}
	}
	if _, err := b.AddPath(apiutil.AddPathRequest{Paths: paths}); err != nil {
		return fmt.Errorf("routes of %s: %w", s.name, err)
	}
	return nil
}

func (r route) native() (*apiutil.Path, error) {
	prefix, err := netip.ParsePrefix(r.prefix)
	if err != nil {
		return nil, err
	}
	nextHop, err := netip.ParseAddr(r.nextHop)
	if err != nil {
		return nil, err
	}
	nlri, err := bgp.NewIPAddrPrefix(prefix)
	if err != nil {
		return nil, err
	}
	p := &apiutil.Path{Family: bgp.RF_IPv4_UC, Nlri: nlri, Age: time.Now().Unix(), Attrs: []bgp.PathAttributeInterface{bgp.NewPathAttributeOrigin(r.origin)}}
	if len(r.path) > 0 {
		p.Attrs = append(p.Attrs, bgp.NewPathAttributeAsPath([]bgp.AsPathParamInterface{bgp.NewAs4PathParam(bgp.BGP_ASPATH_ATTR_TYPE_SEQ, r.path)}))
	}
	if nextHop.Is6() {
		p.Family = bgp.RF_IPv6_UC
		reach, err := bgp.NewPathAttributeMpReachNLRI(p.Family, []bgp.PathNLRI{{NLRI: nlri}}, nextHop)
		if err != nil {
			return nil, err
		}
		p.Attrs = append(p.Attrs, reach)
		return p, nil
	}
	hop, err := bgp.NewPathAttributeNextHop(nextHop)
	if err != nil {
		return nil, err
	}
	p.Attrs = append(p.Attrs, hop)
	return p, nil
}

// addPeer adds a session with other, which listens on port; port 0 waits for other to connect.
func addPeer(b *server.BgpServer, other speaker, port int) error {
	peer := &api.Peer{
		// The version is announced so that show version can tell it.
		Conf:      &api.PeerConf{NeighborAddress: loopback, PeerAsn: other.asn, Description: other.name, SendSoftwareVersion: true},
		Transport: &api.Transport{LocalAddress: loopback, RemotePort: uint32(port), PassiveMode: port == 0},
		Timers:    &api.Timers{Config: &api.TimersConfig{ConnectRetry: 1, IdleHoldTimeAfterReset: 1, HoldTime: 9, KeepaliveInterval: 3}},
	}
	for _, f := range []*api.Family{{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST}, {Afi: api.Family_AFI_IP6, Safi: api.Family_SAFI_UNICAST}} {
		peer.AfiSafis = append(peer.AfiSafis, &api.AfiSafi{Config: &api.AfiSafiConfig{Family: f, Enabled: true}})
	}
	if err := b.AddPeer(context.Background(), &api.AddPeerRequest{Peer: peer}); err != nil {
		return fmt.Errorf("peer %s: %w", other.name, err)
	}
	return nil
}
