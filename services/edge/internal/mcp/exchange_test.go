package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the answers into testdata/*.txtar")

// Each file tells one story in requests and answers. A request is an HTTP request line, headers and a body, where
//   - headers that a client always sends are added: Host, Content-Type, Accept, and the mirrors of the body; a header that
//     is written replaces the added one, and a line "-Name" leaves it out;
//   - $META in the body stands for the _meta of a client that declares nothing, $FORM for one that declares form mode,
//     $URL for one that declares url mode alone.
//
// An answer is the status, the headers that matter, and the body.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runExchanges(t, file) })
	}
}

func runExchanges(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, serverOptions(string(archive.Comment)))
	var out []txtar.File
	var request *exchangeRequest
	for _, f := range archive.Files {
		switch name, _, _ := strings.Cut(f.Name, " "); name {
		case "request":
			request = parseExchange(t, f)
			out = append(out, f)
			got := txtar.File{Name: "answer" + strings.TrimPrefix(f.Name, "request"), Data: s.exchange(t, request)}
			out = append(out, got)
		case "answer":
			got := out[len(out)-1]
			if !*update {
				if diff := cmp.Diff(string(f.Data), string(got.Data)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
		default:
			t.Fatalf("%s: section %q is neither request nor answer", file, f.Name)
		}
	}
	if *update {
		archive.Files = out
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if len(out) != len(archive.Files) {
		t.Errorf("%d sections, but %d requests and answers: run with -update", len(archive.Files), len(out))
	}
}

// serverOptions reads the lines "option: value" of a story's comment.
func serverOptions(comment string) options {
	var o options
	for line := range strings.Lines(comment) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
		case "token":
			o.token = value
		case "origin":
			o.origins = append(o.origins, value)
		case "max-body":
			_, _ = fmt.Sscan(value, &o.maxBody)
		case "burst":
			_, _ = fmt.Sscan(value, &o.burst)
		case "public-url":
			o.publicURL = value
		}
	}
	return o
}

type exchangeRequest struct {
	method, path string
	header       http.Header
	without      []string
	body         []byte
	rpcMethod    string
}

func meta(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

var expansions = strings.NewReplacer(
	"$META", meta(`{}`),
	"$FORM", meta(`{"elicitation":{"form":{}}}`),
	"$URL", meta(`{"elicitation":{"url":{}}}`),
)

func parseExchange(t *testing.T, f txtar.File) *exchangeRequest {
	t.Helper()
	head, body, _ := strings.Cut(string(f.Data), "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	r := &exchangeRequest{header: http.Header{}, body: []byte(expansions.Replace(strings.TrimSuffix(body, "\n")))}
	var ok bool
	if r.method, r.path, ok = strings.Cut(lines[0], " "); !ok {
		t.Fatalf("%s: %q is no request line", f.Name, lines[0])
	}
	for _, line := range lines[1:] {
		if name, without := strings.CutPrefix(line, "-"); without {
			r.without = append(r.without, http.CanonicalHeaderKey(name))
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		r.header.Add(name, strings.TrimSpace(value))
	}
	r.addHeaders()
	return r
}

// addHeaders adds what a well-behaved client sends with such a body.
func (r *exchangeRequest) addHeaders() {
	var b struct {
		Method string `json:"method"`
		Params struct {
			Name   any            `json:"name"`
			URI    any            `json:"uri"`
			TaskID any            `json:"taskId"`
			Meta   map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(r.body, &b)
	r.rpcMethod = b.Method
	add := func(name string, value any) {
		name = http.CanonicalHeaderKey(name)
		text, isText := value.(string)
		if r.header[name] == nil && !slices.Contains(r.without, name) && isText && text != "" {
			r.header.Set(name, text)
		}
	}
	if r.method == http.MethodPost {
		add("Content-Type", "application/json")
		add("Accept", "application/json, text/event-stream")
		add("MCP-Protocol-Version", b.Params.Meta["io.modelcontextprotocol/protocolVersion"])
		add("Mcp-Method", b.Method)
		for _, v := range []any{b.Params.Name, b.Params.URI, b.Params.TaskID} {
			add("Mcp-Name", v)
		}
	}
}

// Headers that an answer shows in a story.
var shownHeaders = []string{
	"Allow", "Www-Authenticate", "Retry-After", "Content-Type", "Cache-Control", "X-Accel-Buffering", "Vary",
	"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Mcp-Session-Id",
}

func (s *server) exchange(t *testing.T, r *exchangeRequest) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, s.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = r.header.Clone()
	if host := r.header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, r.rpcMethod, resp, body)
	var out bytes.Buffer
	fmt.Fprintln(&out, resp.StatusCode)
	for _, name := range shownHeaders {
		for _, v := range resp.Header[name] {
			fmt.Fprintf(&out, "%s: %s\n", name, v)
		}
	}
	if len(body) > 0 {
		fmt.Fprintf(&out, "\n%s\n", bytes.TrimRight(body, "\n"))
	}
	return out.Bytes()
}
