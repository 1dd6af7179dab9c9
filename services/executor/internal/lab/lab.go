// Package lab is a device that needs no set-up: two BGP speakers in this process with a session between them and a few routes.
//
// The speakers are real GoBGP. One of them serves its gRPC API on a unix socket in a private folder, so the lab is reached
// exactly as a daemon of its own would be. All of it stays on 127.0.0.1, on a port that the system picks, with addresses,
// prefixes and autonomous systems set aside for documentation and private use: several labs share a host.
package lab

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/osrg/gobgp/v4/pkg/apiutil"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
	"github.com/osrg/gobgp/v4/pkg/server"
)

const (
	loopback   = "127.0.0.1"
	apiTimeout = 2 * time.Second
)

// speaker is how one side is set up.
type speaker struct {
	name     string // what the other side calls it
	asn      uint32
	routerID string
	routes   []route
}

type route struct {
	prefix  string
	nextHop string
	origin  uint8
	path    []uint32 // behind the speaker's own autonomous system
}

// Prefixes of RFC 5737 and RFC 3849, autonomous systems of RFC 6996.
var (
	near = speaker{name: "lab-near", asn: 64512, routerID: "192.0.2.1", routes: []route{
		{prefix: "192.0.2.0/24", nextHop: "192.0.2.1"},
		{prefix: "198.51.100.0/25", nextHop: "192.0.2.1"},
		{prefix: "2001:db8:1::/48", nextHop: "2001:db8::1"},
	}}
	far = speaker{name: "lab-far", asn: 64513, routerID: "192.0.2.2", routes: []route{
		{prefix: "198.51.100.128/25", nextHop: "192.0.2.2"},
		{prefix: "203.0.113.0/24", nextHop: "192.0.2.2", path: []uint32{64514}},
		{prefix: "203.0.113.128/25", nextHop: "192.0.2.2", origin: 2, path: []uint32{64514, 64515}},
		{prefix: "2001:db8:2::/48", nextHop: "2001:db8::2"},
	}}
)

// Lab is a running lab.
type Lab struct {
	dir       string
	near, far *server.BgpServer
	up        chan struct{}
	stopOnce  sync.Once
	stopWatch context.CancelFunc
}

// Start starts both speakers. The session comes up within about two seconds; Established waits for
// it and for its routes. Every record of the speakers goes to
// log at the level debug.
func Start(log *slog.Logger) (*Lab, error) {
	dir, err := os.MkdirTemp("", "zegate-lab-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	log = slog.New(quiet{log.Handler()})
	l := &Lab{dir: dir, up: make(chan struct{})}
	if err := l.start(log); err != nil {
		l.Stop()
		return nil, fmt.Errorf("lab: %w", err)
	}
	return l, nil
}

func (l *Lab) start(log *slog.Logger) error {
	// Both speakers are configured before either serves: GoBGP keeps route selection options in a global.
	var port int
	var err error
	if l.far, port, err = listening(far, log); err != nil {
		return err
	}
	l.near = server.NewBgpServer(server.LoggerOption(log, nil), server.GrpcListenAddress(l.Target()))
	go l.near.Serve()
	// Only one side needs to listen.
	if err := begin(l.near, near, -1); err != nil {
		return err
	}
	if err := l.watch(); err != nil {
		return err
	}
	if err := addPeer(l.far, near, 0); err != nil {
		return err
	}
	if err := addPeer(l.near, far, port); err != nil {
		return err
	}
	return l.served()
}

// watch closes up when the session has brought every route of the far side, so that whoever waited sees the whole lab. The two
// callbacks come from one goroutine.
func (l *Lab) watch() error {
	ctx, stop := context.WithCancel(context.Background())
	l.stopWatch = stop
	established, learned := false, make(map[string]bool)
	whole := sync.OnceFunc(func() { close(l.up) })
	check := func() {
		if established && len(learned) == len(far.routes) {
			whole()
		}
	}
	return l.near.WatchEvent(ctx, server.WatchEventMessageCallbacks{
		OnPeerUpdate: func(e *apiutil.WatchEventMessage_PeerEvent, _ time.Time) {
			established = established || e.Peer.State.SessionState == bgp.BGP_FSM_ESTABLISHED
			check()
		},
		OnBestPath: func(paths []*apiutil.Path, _ time.Time) {
			for _, p := range paths {
				if p.PeerASN == far.asn && !p.Withdrawal {
					learned[p.Nlri.String()] = true
				}
			}
			check()
		},
	}, server.WatchPeer(), server.WatchBestPath(false))
}

// served waits until the API answers: GoBGP listens in the background and only logs it when it cannot.
func (l *Lab) served() error {
	var last error
	for deadline := time.Now().Add(apiTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var conn net.Conn
		if conn, last = (&net.Dialer{}).DialContext(context.Background(), "unix", l.socket()); last == nil {
			return conn.Close()
		}
	}
	return last
}

func (l *Lab) socket() string { return filepath.Join(l.dir, "gobgp.sock") }

// Target is where the lab's GoBGP API is served, as a gRPC target.
func (l *Lab) Target() string { return "unix://" + l.socket() }

// Established waits until the session is up and every route is there, or until ctx ends.
func (l *Lab) Established(ctx context.Context) error {
	select {
	case <-l.up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop ends the speakers and removes everything that the lab has put on disk.
func (l *Lab) Stop() {
	l.stopOnce.Do(func() {
		if l.stopWatch != nil {
			l.stopWatch()
		}
		for _, s := range []*server.BgpServer{l.near, l.far} {
			if s != nil {
				s.Stop()
			}
		}
		_ = os.RemoveAll(l.dir)
	})
}
