package gobgp

import (
	"time"

	"github.com/zegate/zegate/services/executor/internal/command"
)

const (
	monitorDefault = 10 * time.Second
	monitorMax     = 10 * time.Minute
)

var (
	selector = map[string]command.Param{"selector": {Kind: command.Peer, Summary: "which peers: an address, a peer's name, or * for all"}}
	prefix   = map[string]command.Param{"prefix": {Kind: command.Prefix, Summary: "exactly this prefix, or the most specific one that holds this address"}}
	duration = map[string]command.Param{"duration": {
		Kind: command.Duration, Min: int64(time.Second), Max: int64(monitorMax), Summary: "how long to watch; " + monitorDefault.String() + " if left out",
	}}
)

const narrowRIB = "ask for one prefix (show bgp rib <prefix>) or for best paths alone (show bgp rib best)"

// table is every command of this back end. Times in the answers are whole seconds; 0 where a session is not up.
var table = []struct {
	command.Command
	run handler
}{
	{command.Command{
		Syntax: "show bgp", Summary: "The speaker: its version where it tells, its identifier, autonomous system, families, tables and sessions in numbers.",
		Access: command.Read, JSON: true, Examples: []string{"show bgp"},
	}, (*Backend).showSpeaker},
	{command.Command{
		Syntax: "show bgp summary", Summary: "Every peer with its state, uptime, and how many routes and messages went over the session.",
		Access: command.Read, JSON: true, Examples: []string{"show bgp summary"},
	}, (*Backend).showSummary},
	{command.Command{
		Syntax: "show bgp peer list", Summary: "Every peer with its name, autonomous system, state and uptime.",
		Access: command.Read, JSON: true, Examples: []string{"show bgp peer list"},
	}, (*Backend).showPeerList},
	{command.Command{
		Syntax: "show bgp peer <selector> detail", Params: selector, Summary: "Everything about the selected peers: timers, transport, capabilities, families, counters.",
		Access: command.Read, JSON: true, Narrow: "select one peer by its address", Examples: []string{"show bgp peer 192.0.2.1 detail", "show bgp peer * detail"},
	}, (*Backend).showPeerDetail},
	{command.Command{
		Syntax: "show bgp rib", Summary: "Every route in the RIB with all its paths. Large on a router with full tables.",
		Access: command.Read, JSON: true, LongRunning: true, Narrow: narrowRIB, Examples: []string{"show bgp rib"},
	}, (*Backend).showRIB},
	{command.Command{
		Syntax: "show bgp rib <prefix>", Params: prefix, Summary: "The paths to one prefix, or to the most specific prefix that holds an address.",
		Access: command.Read, JSON: true, Examples: []string{"show bgp rib 203.0.113.0/24", "show bgp rib 2001:db8::1"},
	}, (*Backend).showRIBPrefix},
	{command.Command{
		Syntax: "show bgp rib best", Summary: "Every route in the RIB with its best path. Large on a router with full tables.",
		Access: command.Read, JSON: true, LongRunning: true, Narrow: "ask for one prefix: show bgp rib <prefix>", Examples: []string{"show bgp rib best"},
	}, (*Backend).showRIBBest},
	{command.Command{
		Syntax: "show version", Summary: "The daemon and, where it tells, its version.",
		Access: command.Read, JSON: true, Examples: []string{"show version"},
	}, (*Backend).showVersion},
	{command.Command{
		Syntax: "show uptime", Summary: "How long each session has been up. GoBGP does not tell how long the daemon has run.",
		Access: command.Read, JSON: true, Examples: []string{"show uptime"},
	}, (*Backend).showUptime},
	{command.Command{
		Syntax: "monitor bgp [<duration>]", Params: duration, Summary: "Watch sessions and best paths change: one JSON object a line, and a line of totals each second.",
		Access: command.Read, LongRunning: true, Narrow: "watch for a shorter time: monitor bgp <duration>", Examples: []string{"monitor bgp", "monitor bgp 30s"},
	}, (*Backend).monitor},
	{command.Command{
		Syntax: "clear bgp peer <selector> [soft]", Params: selector, Summary: "Reset the selected sessions; soft sends routes again and applies policy anew without a reset.",
		Access: command.Write, JSON: true, Examples: []string{"clear bgp peer 192.0.2.1 soft"},
	}, (*Backend).clearPeer},
	{command.Command{
		Syntax: "request bgp peer <selector> (shutdown|enable)", Params: selector, Summary: "Take the selected sessions down for good, or allow them again.",
		Access: command.Write, JSON: true, Examples: []string{"request bgp peer 192.0.2.1 shutdown", "request bgp peer 192.0.2.1 enable"},
	}, (*Backend).requestPeer},
}
