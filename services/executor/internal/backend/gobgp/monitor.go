package gobgp

import (
	"context"
	"fmt"
	"time"

	"github.com/osrg/gobgp/v4/api"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

const tick = time.Second

type monitorPeer struct {
	Time  string `json:"time"`
	Event string `json:"event"` // peer
	Peer  string `json:"peer"`
	State string `json:"state"`
	Admin string `json:"admin-state"`
}

type monitorRoute struct {
	Time    string `json:"time"`
	Event   string `json:"event"` // announce or withdraw
	Prefix  string `json:"prefix"`
	From    string `json:"from"`
	NextHop string `json:"next-hop,omitzero"`
	ASPath  string `json:"as-path,omitzero"`
}

type monitorTotals struct {
	Time        string `json:"time"`
	Event       string `json:"event"` // totals
	Peers       int    `json:"peers"`
	Established int    `json:"established"`
	Received    uint64 `json:"messages-received"`
	Sent        uint64 `json:"messages-sent"`
}

// monitor watches until its time is over. A watch that ran its time is a success, whatever it saw.
func (b *Backend) monitor(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	d := monitorDefault
	if v, given := inv.Values["duration"]; given {
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			return command.FailFrom(err, command.InvalidArgument, "duration %q cannot be read", v)
		}
	}
	// The time is kept here and not as a deadline of the call, which would reach GoBGP and could end the watch as a failure.
	watch, stop := context.WithCancel(ctx)
	defer stop()
	over := time.NewTimer(d)
	defer over.Stop()
	stream, err := b.api.WatchEvent(watch, &api.WatchEventRequest{
		Peer:      &api.WatchEventRequest_Peer{},
		Table:     &api.WatchEventRequest_Table{Filters: []*api.WatchEventRequest_Table_Filter{{Type: api.WatchEventRequest_Table_Filter_TYPE_BEST}}},
		BatchSize: batch,
	})
	if err != nil {
		return err
	}
	events, ended := make(chan *api.WatchEventResponse), make(chan error, 1)
	go func() {
		ended <- each(stream, func(e *api.WatchEventResponse) error {
			select {
			case events <- e:
				return nil
			case <-watch.Done():
				return watch.Err()
			}
		})
	}()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for err == nil {
		select {
		case e := <-events:
			err = b.writeEvent(out, e)
		case <-ticker.C:
			err = b.writeTotals(watch, out)
		case err = <-ended:
			if err == nil {
				err = command.Fail(command.Unavailable, "GoBGP ended the watch before its time; try again")
			}
		case <-over.C:
			return nil
		}
	}
	return err
}

func (b *Backend) stamp() string { return b.now().UTC().Format(time.RFC3339Nano) }

func (b *Backend) writeEvent(out *output.Collector, e *api.WatchEventResponse) error {
	// The event that ends the list of peers comes with a peer that has no address.
	if p := e.GetPeer(); peerAddress(p.GetPeer()) != "" {
		err := writeLine(out, monitorPeer{b.stamp(), "peer", peerAddress(p.GetPeer()), state(p.GetPeer()), enum(p.GetPeer().GetState().GetAdminState().String(), "ADMIN_STATE_")})
		if err != nil {
			return err
		}
	}
	for _, p := range e.GetTable().GetPaths() {
		r := b.path(p)
		m := monitorRoute{Time: b.stamp(), Event: "announce", Prefix: nlri(p), From: r.From, NextHop: r.NextHop, ASPath: r.ASPath}
		if p.GetIsWithdraw() {
			m.Event, m.NextHop, m.ASPath = "withdraw", "", ""
		}
		if err := writeLine(out, m); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) writeTotals(ctx context.Context, out *output.Collector) error {
	peers, err := b.peers(ctx, false)
	if err != nil {
		return err
	}
	t := monitorTotals{Time: b.stamp(), Event: "totals", Peers: len(peers), Established: countEstablished(peers)}
	for _, p := range peers {
		t.Received += p.GetState().GetMessages().GetReceived().GetTotal()
		t.Sent += p.GetState().GetMessages().GetSent().GetTotal()
	}
	return writeLine(out, t)
}

func writeLine(out *output.Collector, v any) error {
	b, err := encode(v)
	if err == nil {
		_, err = out.Write(append(b, '\n'))
	}
	return err
}

// nlri is what a path leads to: its prefix, or else the name of its kind.
func nlri(p *api.Path) string {
	if pfx := p.GetNlri().GetPrefix(); pfx != nil {
		return fmt.Sprintf("%s/%d", pfx.GetPrefix(), pfx.GetPrefixLen())
	}
	return familyName(p.GetFamily())
}
