// Package catalogue is the list of tools as the executors offer it and as each request sees it.
package catalogue

import (
	"context"
	"encoding/base64"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
)

// PageSize is how many tools a page of tools/list holds (DESIGN section 5).
const PageSize = 100

// Snapshot is one complete catalogue. It never changes.
type Snapshot struct {
	// Revision is the executors' hash of it.
	Revision string
	// Instructions is guidance for the model; may be empty.
	Instructions string
	// Tools are in the executors' order.
	Tools []*Tool
	// List is the same as the contract has it; it must not be changed.
	List *executorv1.ListToolsResponse

	byName map[string]int
	pages  [2][]page // by whether the client can be asked
}

type page struct {
	tools []byte // a JSON array
	next  string // cursor of the page after; empty on the last
}

// newSnapshot checks and encodes a catalogue. Tools that are malformed, come twice, or could never be called are left out,
// each with a warning.
func newSnapshot(list *executorv1.ListToolsResponse, log *slog.Logger) *Snapshot {
	s := &Snapshot{
		Revision:     list.GetRevision(),
		Instructions: list.GetInstructions(),
		List:         &executorv1.ListToolsResponse{Revision: list.GetRevision(), Instructions: list.GetInstructions()},
		byName:       map[string]int{},
	}
	for _, d := range list.GetTools() {
		t, err := newTool(d)
		switch _, twice := s.byName[d.GetName()]; {
		case err != nil:
			log.Warn("tool left out", "tool", d.GetName(), "reason", err)
		case twice:
			log.Warn("tool left out", "tool", d.GetName(), "reason", "the name is taken")
		case d.GetTaskSupport() == executorv1.TaskSupport_TASK_SUPPORT_REQUIRED:
			log.Warn("tool left out", "tool", d.GetName(), "reason", "it runs as a task only, and this edge serves no tasks")
		default:
			s.byName[t.Name] = len(s.Tools)
			s.Tools = append(s.Tools, t)
			s.List.Tools = append(s.List.Tools, d)
		}
	}
	s.pages[0] = s.encodePages(false)
	s.pages[1] = s.encodePages(true)
	return s
}

func (s *Snapshot) encodePages(form bool) []page {
	pages := []page{}
	for start := 0; start == 0 || start < len(s.Tools); start += PageSize {
		end := min(start+PageSize, len(s.Tools))
		tools := []byte{'['}
		for i, t := range s.Tools[start:end] {
			if i > 0 {
				tools = append(tools, ',')
			}
			tools = append(tools, t.Descriptor(form)...)
		}
		p := page{tools: append(tools, ']')}
		if end < len(s.Tools) {
			p.next = cursorAfter(s.Tools[end-1].Name)
		}
		pages = append(pages, p)
	}
	return pages
}

// Tool finds a tool by its name; nil when there is none.
func (s *Snapshot) Tool(name string) *Tool {
	if i, ok := s.byName[name]; ok {
		return s.Tools[i]
	}
	return nil
}

// Page is a page of the list: a JSON array of descriptors and the next page's cursor, empty on the last. form tells whether
// the client can be asked for a missing argument. ok is false when the cursor is not one of this catalogue's.
func (s *Snapshot) Page(cursor string, form bool) (tools []byte, next string, ok bool) {
	pages := s.pages[0]
	if form {
		pages = s.pages[1]
	}
	if cursor == "" {
		return pages[0].tools, pages[0].next, true
	}
	name, ok := parseCursor(cursor)
	if !ok {
		return nil, "", false
	}
	i, ok := s.byName[name]
	if !ok || (i+1)%PageSize != 0 || (i+1)/PageSize >= len(pages) {
		return nil, "", false
	}
	p := pages[(i+1)/PageSize]
	return p.tools, p.next, true
}

// A cursor names the last tool of the page before, so it means the same on every replica.
const cursorPrefix = "after:"

func cursorAfter(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + name))
}

func parseCursor(cursor string) (name string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) <= len(cursorPrefix) || string(b[:len(cursorPrefix)]) != cursorPrefix {
		return "", false
	}
	return string(b[len(cursorPrefix):]), true
}

// Catalogue follows the executors' catalogue.
type Catalogue struct {
	client executorv1.ExecutorServiceClient
	log    *slog.Logger

	mu      sync.Mutex
	current *Snapshot
	changed chan struct{} // closed when current changes
}

// New makes a catalogue that is empty until Follow has loaded one.
func New(client executorv1.ExecutorServiceClient, log *slog.Logger) *Catalogue {
	return &Catalogue{client: client, log: log, changed: make(chan struct{})}
}

// Current is the newest complete catalogue and a channel that is closed when there is a newer one. The snapshot is nil
// until a first one was loaded.
func (c *Catalogue) Current() (*Snapshot, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current, c.changed
}

// Wait returns true when a first catalogue was loaded, and false when ctx ended before.
func (c *Catalogue) Wait(ctx context.Context) bool {
	for {
		s, changed := c.Current()
		if s != nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// Loaded is the newest complete catalogue, or the fault to answer with while there is none.
func (c *Catalogue) Loaded() (*Snapshot, *fault.Error) {
	if s, _ := c.Current(); s != nil {
		return s, nil
	}
	e := fault.New(fault.Unavailable, "no executor has been reached yet, so there is no tool list: try again shortly")
	e.RetryAfter = time.Second
	return nil, e
}

const (
	loadTimeout = 5 * time.Second
	loadTries   = 20
	minBackoff  = 100 * time.Millisecond
	maxBackoff  = 5 * time.Second
)

// Follow loads the catalogue and keeps it current until ctx ends. While no executor answers, the last one stays.
func (c *Catalogue) Follow(ctx context.Context) {
	backoff := minBackoff
	for ctx.Err() == nil {
		if c.watch(ctx) {
			backoff = minBackoff
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// watch loads the catalogue, and again at every revision that one executor reports, until its stream breaks; it tells
// whether anything was loaded. An executor that cannot be watched is asked again and again by Follow.
func (c *Catalogue) watch(ctx context.Context) (loaded bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.load(ctx, ""); err != nil {
		c.report(ctx, "load the catalogue", err)
		return false
	}
	stream, err := c.client.WatchTools(ctx, &executorv1.WatchToolsRequest{})
	for err == nil {
		var m *executorv1.WatchToolsResponse
		if m, err = stream.Recv(); err == nil {
			err = c.load(ctx, m.GetRevision())
		}
	}
	if status.Code(err) != codes.Unimplemented {
		c.report(ctx, "watch the catalogue", err)
	}
	return true
}

// load takes the catalogue from an executor. With a revision it does so until one has answered that revision: during a
// rollout the one that is asked need not be the one that reported it. After some tries it keeps what it has.
func (c *Catalogue) load(ctx context.Context, revision string) error {
	for range loadTries {
		if now, _ := c.Current(); now != nil && now.Revision == revision {
			return nil
		}
		list, err := c.list(ctx)
		if err != nil {
			return err
		}
		if revision == "" || list.GetRevision() == revision {
			c.set(list)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(minBackoff):
		}
	}
	c.log.Warn("no executor answers the catalogue that one of them reported", "revision", revision)
	return nil
}

func (c *Catalogue) list(ctx context.Context) (*executorv1.ListToolsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	return c.client.ListTools(ctx, &executorv1.ListToolsRequest{})
}

func (c *Catalogue) set(list *executorv1.ListToolsResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && c.current.Revision == list.GetRevision() {
		return
	}
	c.current = newSnapshot(list, c.log)
	close(c.changed)
	c.changed = make(chan struct{})
	c.log.Info("catalogue loaded", "tools", len(c.current.Tools), "revision", c.current.Revision)
}

func (c *Catalogue) report(ctx context.Context, doing string, err error) {
	if ctx.Err() == nil {
		c.log.Warn("cannot "+doing, "error", err)
	}
}
