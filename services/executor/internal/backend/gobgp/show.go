package gobgp

import (
	"context"

	"github.com/osrg/gobgp/v4/api"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

const daemon = "GoBGP"

type listedPeer struct {
	Name     string `json:"name"`
	RemoteAS uint32 `json:"remote-as"`
	State    string `json:"state"`
	Uptime   int64  `json:"uptime"`
}

func (b *Backend) listed(p *api.Peer) listedPeer {
	return listedPeer{Name: peerName(p), RemoteAS: remoteAS(p), State: state(p), Uptime: b.uptime(p)}
}

func remoteAS(p *api.Peer) uint32 {
	if as := p.GetState().GetPeerAsn(); as != 0 {
		return as
	}
	return p.GetConf().GetPeerAsn()
}

func (b *Backend) showPeerList(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	return write(out, struct {
		Peers byPeer[listedPeer] `json:"peers"`
	}{byPeer[listedPeer]{peers, b.listed}})
}

type summarisedPeer struct {
	listedPeer
	Received         uint64 `json:"received"`
	Accepted         uint64 `json:"accepted"`
	MessagesReceived uint64 `json:"messages-received"`
	MessagesSent     uint64 `json:"messages-sent"`
}

func (b *Backend) summarised(p *api.Peer) summarisedPeer {
	s := summarisedPeer{
		listedPeer:       b.listed(p),
		MessagesReceived: p.GetState().GetMessages().GetReceived().GetTotal(),
		MessagesSent:     p.GetState().GetMessages().GetSent().GetTotal(),
	}
	for _, a := range p.GetAfiSafis() {
		s.Received += a.GetState().GetReceived()
		s.Accepted += a.GetState().GetAccepted()
	}
	return s
}

func (b *Backend) showSummary(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	g, err := b.api.GetBgp(ctx, &api.GetBgpRequest{})
	if err != nil {
		return err
	}
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	return write(out, struct {
		RouterID    string                 `json:"router-id"`
		LocalAS     uint32                 `json:"local-as"`
		PeerCount   int                    `json:"peer-count"`
		Established int                    `json:"established"`
		Peers       byPeer[summarisedPeer] `json:"peers"`
	}{address(g.GetGlobal().GetRouterId()), g.GetGlobal().GetAsn(), len(peers), countEstablished(peers), byPeer[summarisedPeer]{peers, b.summarised}})
}

type tableSize struct {
	Destinations uint64 `json:"destinations"`
	Paths        uint64 `json:"paths"`
}

func (b *Backend) showSpeaker(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	g, err := b.api.GetBgp(ctx, &api.GetBgpRequest{})
	if err != nil {
		return err
	}
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	var sizes [len(unicast)]tableSize
	for i, f := range unicast {
		r, err := b.api.GetTable(ctx, &api.GetTableRequest{TableType: api.TableType_TABLE_TYPE_GLOBAL, Family: f})
		if err != nil && !noSuchTable(err) {
			return err
		}
		sizes[i] = tableSize{r.GetNumDestination(), r.GetNumPath()}
	}
	return write(out, struct {
		Daemon          string   `json:"daemon"`
		Version         string   `json:"version,omitzero"`
		RouterID        string   `json:"router-id"`
		LocalAS         uint32   `json:"local-as"`
		ListenAddresses []string `json:"listen-addresses"`
		ListenPort      int32    `json:"listen-port"`
		Families        []string `json:"families"`
		Tables          struct {
			IPv4 tableSize `json:"ipv4-unicast"`
			IPv6 tableSize `json:"ipv6-unicast"`
		} `json:"tables"`
		PeerCount   int `json:"peer-count"`
		Established int `json:"established"`
	}{
		Daemon: daemon, Version: version(peers), RouterID: address(g.GetGlobal().GetRouterId()), LocalAS: g.GetGlobal().GetAsn(),
		ListenAddresses: g.GetGlobal().GetListenAddresses(), ListenPort: g.GetGlobal().GetListenPort(), Families: families(peers),
		Tables: struct {
			IPv4 tableSize `json:"ipv4-unicast"`
			IPv6 tableSize `json:"ipv6-unicast"`
		}{sizes[0], sizes[1]},
		PeerCount: len(peers), Established: countEstablished(peers),
	})
}

func (b *Backend) showVersion(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	answer := struct {
		Daemon  string `json:"daemon"`
		Version string `json:"version,omitzero"`
		Note    string `json:"note,omitzero"`
	}{Daemon: daemon, Version: version(peers)}
	if answer.Version == "" {
		answer.Note = "GoBGP's API tells the version only where a peer is set to be sent it (send-software-version)"
	}
	return write(out, answer)
}

type upPeer struct {
	State  string `json:"state"`
	Uptime int64  `json:"uptime"`
}

func (b *Backend) showUptime(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	return write(out, struct {
		Peers byPeer[upPeer] `json:"peers"`
		Note  string         `json:"note"`
	}{
		byPeer[upPeer]{peers, func(p *api.Peer) upPeer { return upPeer{state(p), b.uptime(p)} }},
		"seconds that each session has been up; GoBGP's API does not tell how long the daemon has run",
	})
}
