package gobgp

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/osrg/gobgp/v4/api"
	"google.golang.org/grpc/status"

	"github.com/zegate/zegate/services/executor/internal/command"
	"github.com/zegate/zegate/services/executor/internal/output"
)

// unicast is the tables that the RIB commands show.
var unicast = [...]*api.Family{
	{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST},
	{Afi: api.Family_AFI_IP6, Safi: api.Family_SAFI_UNICAST},
}

// batch is how many destinations GoBGP puts together before it sends them. Its own default is the whole table, in memory.
const batch = 256

// noSuchTable tells whether a speaker that was not set up for a family said so; it does, as Unknown with this text.
func noSuchTable(err error) bool {
	return strings.HasPrefix(status.Convert(err).Message(), "address family:")
}

type ribRoute struct {
	Prefix string    `json:"prefix"`
	Paths  []ribPath `json:"paths"`
}

type ribPath struct {
	Best             bool     `json:"best"`
	Valid            bool     `json:"valid"`
	From             string   `json:"from"`
	NextHop          string   `json:"next-hop"`
	ASPath           string   `json:"as-path"`
	Origin           string   `json:"origin"`
	MED              *uint32  `json:"med,omitzero"`
	LocalPref        *uint32  `json:"local-pref,omitzero"`
	Communities      []string `json:"communities,omitzero"`
	LargeCommunities []string `json:"large-communities,omitzero"`
	Stale            bool     `json:"stale,omitzero"`
	Age              int64    `json:"age"`
}

func (b *Backend) path(p *api.Path) ribPath {
	r := ribPath{Best: p.GetBest(), Valid: !p.GetIsNexthopInvalid() && !p.GetFiltered(), From: address(p.GetNeighborIp()), Stale: p.GetStale(), Age: b.since(p.GetAge())}
	if r.From == "" {
		r.From = "local"
	}
	for _, a := range p.GetPattrs() {
		switch {
		case a.GetOrigin() != nil:
			r.Origin = origin(a.GetOrigin().GetOrigin())
		case a.GetAsPath() != nil:
			r.ASPath = asPath(a.GetAsPath().GetSegments())
		case a.GetNextHop() != nil:
			r.NextHop = a.GetNextHop().GetNextHop()
		case a.GetMpReach() != nil && len(a.GetMpReach().GetNextHops()) > 0:
			r.NextHop = a.GetMpReach().GetNextHops()[0]
		case a.GetMultiExitDisc() != nil:
			r.MED = new(a.GetMultiExitDisc().GetMed())
		case a.GetLocalPref() != nil:
			r.LocalPref = new(a.GetLocalPref().GetLocalPref())
		case a.GetCommunities() != nil:
			for _, c := range a.GetCommunities().GetCommunities() {
				r.Communities = append(r.Communities, fmt.Sprintf("%d:%d", c>>16, c&0xffff))
			}
		case a.GetLargeCommunities() != nil:
			for _, c := range a.GetLargeCommunities().GetCommunities() {
				r.LargeCommunities = append(r.LargeCommunities, fmt.Sprintf("%d:%d:%d", c.GetGlobalAdmin(), c.GetLocalData1(), c.GetLocalData2()))
			}
		}
	}
	return r
}

// origin names the values of RFC 4271, section 4.3.
func origin(o uint32) string {
	names := [...]string{"igp", "egp", "incomplete"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprint(o)
}

// asPath is the path as operators write it: sets in braces, confederations in parentheses.
func asPath(segments []*api.AsSegment) string {
	var parts []string
	for _, s := range segments {
		numbers := make([]string, len(s.GetNumbers()))
		for i, n := range s.GetNumbers() {
			numbers[i] = fmt.Sprint(n)
		}
		switch s.GetType() {
		case api.AsSegment_TYPE_AS_SET:
			parts = append(parts, "{"+strings.Join(numbers, ",")+"}")
		case api.AsSegment_TYPE_AS_CONFED_SEQUENCE:
			parts = append(parts, "("+strings.Join(numbers, " ")+")")
		case api.AsSegment_TYPE_AS_CONFED_SET:
			parts = append(parts, "["+strings.Join(numbers, ",")+"]")
		default:
			parts = append(parts, numbers...)
		}
	}
	return strings.Join(parts, " ")
}

func (b *Backend) showRIB(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	return b.rib(ctx, out, nil, false)
}

func (b *Backend) showRIBBest(ctx context.Context, _ command.Invocation, out *output.Collector) error {
	return b.rib(ctx, out, nil, true)
}

func (b *Backend) showRIBPrefix(ctx context.Context, inv command.Invocation, out *output.Collector) error {
	want := inv.Values["prefix"]
	family := unicast[0]
	if strings.Contains(want, ":") {
		family = unicast[1]
	}
	// One family alone: GoBGP looks a prefix up in the table it is told, and a prefix of the other family has no place there.
	routes := &window{limit: out.MaxBytes()}
	err := b.listPaths(ctx, family, []*api.TableLookupPrefix{{Prefix: want, Type: api.TableLookupPrefix_TYPE_EXACT}}, false, routes)
	if err != nil && !noSuchTable(err) {
		return err
	}
	if len(routes.kept) == 0 {
		return command.Fail(command.Failed, "no route to %s in the RIB; to see every route: show bgp rib", want)
	}
	return routes.write(out)
}

func (b *Backend) rib(ctx context.Context, out *output.Collector, lookup []*api.TableLookupPrefix, best bool) error {
	routes := &window{limit: out.MaxBytes()}
	for _, f := range unicast {
		if err := b.listPaths(ctx, f, lookup, best, routes); err != nil && !noSuchTable(err) {
			return err
		}
	}
	return routes.write(out)
}

func (b *Backend) listPaths(ctx context.Context, family *api.Family, lookup []*api.TableLookupPrefix, best bool, into *window) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := b.api.ListPath(ctx, &api.ListPathRequest{TableType: api.TableType_TABLE_TYPE_GLOBAL, Family: family, Prefixes: lookup, BatchSize: batch})
	if err != nil {
		return err
	}
	return each(stream, func(r *api.ListPathResponse) error {
		d := r.GetDestination()
		route := ribRoute{Prefix: d.GetPrefix(), Paths: make([]ribPath, 0, len(d.GetPaths()))}
		for _, p := range d.GetPaths() {
			if !best || p.GetBest() {
				route.Paths = append(route.Paths, b.path(p))
			}
		}
		if len(route.Paths) == 0 {
			return nil
		}
		text, err := encode(route)
		if err != nil {
			return err
		}
		into.add(d.GetPrefix(), text)
		return nil
	})
}

// window keeps the first routes of a RIB in the order of their prefixes, while they come in no order and may be any number: no
// more than fill the output's cap, and what is past them is counted.
type window struct {
	limit int
	kept  routeHeap
	bytes int    // in kept
	total uint64 // in all
	count int
}

type keptRoute struct {
	prefix netip.Prefix
	text   []byte
}

func (w *window) add(prefix string, text []byte) {
	p, _ := netip.ParsePrefix(prefix)
	w.count++
	w.total += uint64(len(text)) + 2
	w.bytes += len(text) + 2
	heap.Push(&w.kept, keptRoute{p, text})
	for len(w.kept) > 1 && w.bytes-len(w.kept[0].text)-2 > w.limit {
		w.bytes -= len(heap.Pop(&w.kept).(keptRoute).text) + 2
	}
}

// write writes a document with a route a line, so that where it must be cut it is cut between routes.
func (w *window) write(out *output.Collector) error {
	slices.SortFunc(w.kept, func(a, b keptRoute) int { return comparePrefixes(a.prefix, b.prefix) })
	const head = `{"routes":[`
	tail := fmt.Sprintf("\n],\"count\":%d}", w.count)
	if w.count > len(w.kept) {
		out.SetTotal(uint64(len(head)+len(tail)) + w.total - 1)
	}
	if _, err := io.WriteString(out, head); err != nil {
		return err
	}
	for i, r := range w.kept {
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		if _, err := out.Write(append([]byte(separator), r.text...)); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, tail)
	return err
}

func comparePrefixes(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

// routeHeap has the last prefix on top.
type routeHeap []keptRoute

func (h routeHeap) Len() int           { return len(h) }
func (h routeHeap) Less(i, j int) bool { return comparePrefixes(h[i].prefix, h[j].prefix) > 0 }
func (h routeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *routeHeap) Push(x any)        { *h = append(*h, x.(keptRoute)) }

func (h *routeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
