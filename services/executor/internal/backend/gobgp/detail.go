package gobgp

import (
	"context"
	"slices"

	"github.com/osrg/gobgp/v4/api"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

// detailedPeer leaves out the session's password and says only whether there is one.
type detailedPeer struct {
	listedPeer
	LocalAS          uint32           `json:"local-as"`
	Type             string           `json:"type"`
	AdminState       string           `json:"admin-state"`
	RouterID         string           `json:"router-id"`
	PeerGroup        string           `json:"peer-group,omitzero"`
	VRF              string           `json:"vrf,omitzero"`
	MD5              bool             `json:"md5"`
	Flaps            uint32           `json:"flaps"`
	LastError        string           `json:"last-error,omitzero"`
	Transport        detailTransport  `json:"transport"`
	Timers           detailTimers     `json:"timers"`
	Families         []detailFamily   `json:"families"`
	LocalCapability  []string         `json:"local-capabilities"`
	RemoteCapability []string         `json:"remote-capabilities"`
	Messages         detailBothWays   `json:"messages"`
	GracefulRestart  *detailGraceful  `json:"graceful-restart,omitzero"`
	Multihop         uint32           `json:"ebgp-multihop-ttl,omitzero"`
	Reflector        *detailReflector `json:"route-reflector,omitzero"`
}

type detailTransport struct {
	LocalAddress string `json:"local-address"`
	LocalPort    uint32 `json:"local-port,omitzero"`
	RemotePort   uint32 `json:"remote-port,omitzero"`
	Passive      bool   `json:"passive"`
}

type detailTimers struct {
	HoldTime     uint64 `json:"hold-time"`
	Keepalive    uint64 `json:"keepalive"`
	Negotiated   uint64 `json:"negotiated-hold-time"`
	ConnectRetry uint64 `json:"connect-retry"`
}

type detailFamily struct {
	Family     string `json:"family"`
	Received   uint64 `json:"received"`
	Accepted   uint64 `json:"accepted"`
	Advertised uint64 `json:"advertised"`
}

type detailBothWays struct {
	Received detailMessages `json:"received"`
	Sent     detailMessages `json:"sent"`
}

type detailMessages struct {
	Open         uint64 `json:"open"`
	Update       uint64 `json:"update"`
	Keepalive    uint64 `json:"keepalive"`
	Notification uint64 `json:"notification"`
	Refresh      uint64 `json:"refresh"`
	Total        uint64 `json:"total"`
}

type detailGraceful struct {
	RestartTime uint32 `json:"restart-time"`
	Restarting  bool   `json:"peer-restarting"`
}

type detailReflector struct {
	ClusterID string `json:"cluster-id"`
}

func (b *Backend) detailed(p *api.Peer) detailedPeer {
	s, t := p.GetState(), p.GetTimers()
	d := detailedPeer{
		listedPeer: b.listed(p),
		LocalAS:    s.GetLocalAsn(), Type: enum(s.GetType().String(), "PEER_TYPE_"), AdminState: enum(s.GetAdminState().String(), "ADMIN_STATE_"),
		RouterID: address(s.GetRouterId()), PeerGroup: p.GetConf().GetPeerGroup(), VRF: p.GetConf().GetVrf(),
		MD5: p.GetConf().GetAuthPassword() != "", Flaps: s.GetFlops(), LastError: lastError(s),
		Transport: detailTransport{address(p.GetTransport().GetLocalAddress()), p.GetTransport().GetLocalPort(), p.GetTransport().GetRemotePort(), p.GetTransport().GetPassiveMode()},
		Timers: detailTimers{
			t.GetConfig().GetHoldTime(), t.GetConfig().GetKeepaliveInterval(), t.GetState().GetNegotiatedHoldTime(), t.GetConfig().GetConnectRetry(),
		},
		LocalCapability: capabilities(s.GetLocalCap()), RemoteCapability: capabilities(s.GetRemoteCap()),
		Messages: detailBothWays{messages(s.GetMessages().GetReceived()), messages(s.GetMessages().GetSent())},
	}
	for _, a := range p.GetAfiSafis() {
		if a.GetConfig().GetEnabled() {
			st := a.GetState()
			d.Families = append(d.Families, detailFamily{familyName(a.GetConfig().GetFamily()), st.GetReceived(), st.GetAccepted(), st.GetAdvertised()})
		}
	}
	slices.SortFunc(d.Families, func(a, b detailFamily) int { return compareAddresses(a.Family, b.Family) })
	if p.GetGracefulRestart().GetEnabled() {
		d.GracefulRestart = &detailGraceful{p.GetGracefulRestart().GetRestartTime(), p.GetGracefulRestart().GetPeerRestarting()}
	}
	if p.GetEbgpMultihop().GetEnabled() {
		d.Multihop = p.GetEbgpMultihop().GetMultihopTtl()
	}
	if p.GetRouteReflector().GetRouteReflectorClient() {
		d.Reflector = &detailReflector{address(p.GetRouteReflector().GetRouteReflectorClusterId())}
	}
	return d
}

// lastError is why the session last went down, as far as GoBGP says.
func lastError(s *api.PeerState) string {
	if s.GetDisconnectReason() == api.PeerState_DISCONNECT_REASON_UNSPECIFIED {
		return s.GetDisconnectMessage()
	}
	reason := enum(s.GetDisconnectReason().String(), "DISCONNECT_REASON_")
	if m := s.GetDisconnectMessage(); m != "" {
		return reason + ": " + m
	}
	return reason
}

func messages(m *api.Message) detailMessages {
	return detailMessages{m.GetOpen(), m.GetUpdate(), m.GetKeepalive(), m.GetNotification(), m.GetRefresh(), m.GetTotal()}
}

// capabilities are names alone, sorted, since GoBGP lists them in the order of a map.
func capabilities(list []*api.Capability) []string {
	names := make([]string, 0, len(list))
	for _, c := range list {
		m := c.ProtoReflect()
		if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("cap")); f != nil {
			name := enum(string(f.Name()), "")
			if mp := c.GetMultiProtocol(); mp != nil {
				name += " " + familyName(mp.GetFamily())
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (b *Backend) showPeerDetail(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	peers, err := b.selected(ctx, inv, true)
	if err != nil {
		return err
	}
	return write(out, struct {
		Peers byPeer[detailedPeer] `json:"peers"`
	}{byPeer[detailedPeer]{peers, b.detailed}})
}
