package mcptest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Version is the protocol revision that requests declare unless they say otherwise.
const Version = "2026-07-28"

// Keys of a request's _meta.
const (
	KeyVersion      = "io.modelcontextprotocol/protocolVersion"
	KeyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	KeyClientInfo   = "io.modelcontextprotocol/clientInfo"
)

// Shapes of client capabilities, for Request.Capabilities.
const (
	None         = `{}`
	FormImplicit = `{"elicitation":{}}`
	Form         = `{"elicitation":{"form":{}}}`
	URLOnly      = `{"elicitation":{"url":{}}}`
	FormAndURL   = `{"elicitation":{"form":{},"url":{}}}`
)

// Client sends requests to one MCP endpoint. It keeps nothing of one request for the next, as the protocol asks.
type Client struct {
	// URL is that of the endpoint, such as http://127.0.0.1:8080/mcp.
	URL string
	// Token goes into the Authorization header; empty means none.
	Token string
	// HTTP sends the requests; nil means a client that gives up after 30 s.
	HTTP *http.Client

	ids atomic.Int64
}

var defaultHTTP = &http.Client{Timeout: 30 * time.Second}

// Request is one request. The zero value of each field asks for what a well-behaved client sends.
type Request struct {
	// Method is the JSON-RPC method.
	Method string
	// Params is params as a JSON object, without _meta unless it is to be sent as it stands. Empty means {}.
	Params string
	// ID is the JSON of the id; empty means the client's next number.
	ID string
	// Notification leaves the id out.
	Notification bool
	// Capabilities is the JSON of the client's capabilities; empty means {}.
	Capabilities string
	// Meta replaces members of _meta by other JSON; an empty text leaves a member out.
	Meta map[string]string
	// NoMeta sends params without _meta.
	NoMeta bool
	// Header replaces headers; an empty text leaves a header out. "Host" sets the request's host.
	Header map[string]string
	// Body replaces the whole body; the headers still follow from Method and Params.
	Body []byte
	// Verb is the HTTP method; empty means POST.
	Verb string
}

// Do sends a request, reads the answer to its end, and checks it.
func (c *Client) Do(t testing.TB, r Request) *Answer {
	t.Helper()
	resp := c.send(t.Context(), t, r)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: read the answer: %v", r.Method, err)
	}
	contentType := resp.Header.Get("Content-Type")
	CheckAnswer(t, r.Method, resp.StatusCode, contentType, body)
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
	if len(body) == 0 {
		return a
	}
	texts := [][]byte{body}
	if strings.HasPrefix(contentType, "text/event-stream") {
		if texts, err = Events(body); err != nil {
			t.Fatalf("%s: %v", r.Method, err)
		}
	}
	for _, text := range texts {
		var m Message
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: message: %v\n%s", r.Method, err, text)
		}
		a.Messages = append(a.Messages, m)
	}
	return a
}

func (c *Client) send(ctx context.Context, t testing.TB, r Request) *http.Response {
	t.Helper()
	req, err := c.Build(ctx, r)
	if err != nil {
		t.Fatalf("%s: build the request: %v", r.Method, err)
	}
	client := c.HTTP
	if client == nil {
		client = defaultHTTP
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", r.Method, err)
	}
	return resp
}

// Build makes the HTTP request.
func (c *Client) Build(ctx context.Context, r Request) (*http.Request, error) {
	params, err := r.params()
	if err != nil {
		return nil, err
	}
	body := r.Body
	if body == nil {
		if body, err = c.body(r, params); err != nil {
			return nil, err
		}
	}
	verb := r.Verb
	if verb == "" {
		verb = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, verb, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("MCP-Protocol-Version", Version)
	h.Set("Mcp-Method", r.Method)
	if name, ok := mirroredName(r.Method, params); ok {
		h.Set("Mcp-Name", EncodeHeader(name))
	}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	for name, value := range r.Header {
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			h.Del(name)
		default:
			h.Set(name, value)
		}
	}
	return req, nil
}

func (r Request) params() (map[string]json.RawMessage, error) {
	params := map[string]json.RawMessage{}
	if r.Params != "" {
		if err := json.Unmarshal([]byte(r.Params), &params); err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
	}
	if _, given := params["_meta"]; given || r.NoMeta {
		return params, nil
	}
	capabilities := r.Capabilities
	if capabilities == "" {
		capabilities = None
	}
	meta := map[string]json.RawMessage{
		KeyVersion:      json.RawMessage(`"` + Version + `"`),
		KeyCapabilities: json.RawMessage(capabilities),
		KeyClientInfo:   json.RawMessage(`{"name":"mcptest","version":"1"}`),
	}
	for name, value := range r.Meta {
		if value == "" {
			delete(meta, name)
			continue
		}
		meta[name] = json.RawMessage(value)
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("_meta: %w", err)
	}
	params["_meta"] = raw
	return params, nil
}

func (c *Client) body(r Request, params map[string]json.RawMessage) ([]byte, error) {
	message := struct {
		JSONRPC string                     `json:"jsonrpc"`
		ID      json.RawMessage            `json:"id,omitempty"`
		Method  string                     `json:"method"`
		Params  map[string]json.RawMessage `json:"params"`
	}{JSONRPC: "2.0", Method: r.Method, Params: params}
	switch {
	case r.Notification:
	case r.ID != "":
		message.ID = json.RawMessage(r.ID)
	default:
		message.ID = strconv.AppendInt(nil, c.ids.Add(1), 10)
	}
	return json.Marshal(message)
}

// mirroredName is the part of params that the Mcp-Name header repeats.
func mirroredName(method string, params map[string]json.RawMessage) (name string, ok bool) {
	var member string
	switch method {
	case "tools/call", "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		member = "taskId"
	default:
		return "", false
	}
	return name, json.Unmarshal(params[member], &name) == nil
}

// EncodeHeader writes a text as an MCP header value: as it is when it is visible ASCII without outer blanks, otherwise, and
// when it could be taken for one, in the base64 sentinel (MCP streamable HTTP, "Value Encoding").
func EncodeHeader(v string) string {
	plain := v == strings.Trim(v, " \t") && !strings.HasPrefix(v, "=?base64?") &&
		!strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' })
	if plain {
		return v
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
}
