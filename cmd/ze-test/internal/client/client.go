// Package client is a small MCP client of revision 2026-07-28 over HTTP, written from the revision alone, so that it and the
// server under test share no code and no misunderstanding.
package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Version is the protocol revision that every request declares.
const Version = "2026-07-28"

// An answer that is larger is given up.
const maxAnswerBytes = 64 << 20

// Params is the params of a request, members as JSON; _meta is the client's business.
type Params map[string]json.RawMessage

// Client sends requests to one server. It is for one goroutine.
type Client struct {
	url          string
	token        string
	capabilities json.RawMessage
	http         *http.Client
	id           int64
}

// New makes a client of the MCP endpoint at url. The token goes into the Authorization header, empty for none; capabilities
// is the JSON object that each request declares; timeout bounds each request.
func New(url, token, capabilities string, timeout time.Duration) *Client {
	return &Client{url: url, token: token, capabilities: json.RawMessage(capabilities), http: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Changes make a request differ from what a well-behaved client sends.
type Changes struct {
	// Verb replaces POST where it is not empty.
	Verb string
	// Header replaces headers; nil leaves one out.
	Header map[string]*string
	// Meta replaces members of _meta; nil leaves one out.
	Meta map[string]json.RawMessage
	// Body replaces the body where it is not nil.
	Body []byte
}

// Answer is what came back for a request.
type Answer struct {
	// Status is the HTTP status.
	Status int
	// Result is the result; nil where the answer has none.
	Result json.RawMessage
	// Error is the error; nil where the answer is none.
	Error *Error
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// Error is the error for a reader.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Call sends a request and returns its result. An error answer is an *Error.
func (c *Client) Call(ctx context.Context, method string, params Params) (json.RawMessage, error) {
	a, err := c.Send(ctx, method, params, Changes{})
	switch {
	case err != nil:
		return nil, err
	case a.Error != nil:
		return nil, a.Error
	case a.Result == nil:
		return nil, fmt.Errorf("%s: HTTP %d without a JSON-RPC answer", method, a.Status)
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("%s: a result with HTTP %d", method, a.Status)
	}
	return a.Result, nil
}

// Send sends a request with changes and returns whatever came back. An answer that is no JSON-RPC answer has neither a
// result nor an error; one that breaks the protocol is an error of Send.
func (c *Client) Send(ctx context.Context, method string, params Params, changes Changes) (*Answer, error) {
	c.id++
	req, err := c.request(ctx, method, params, changes)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: read the answer: %w", method, err)
	}
	if len(body) > maxAnswerBytes {
		return nil, fmt.Errorf("%s: the answer is larger than %d bytes", method, maxAnswerBytes)
	}
	a := &Answer{Status: resp.StatusCode}
	if err := a.read(resp.Header.Get("Content-Type"), body, c.id); err != nil {
		return nil, fmt.Errorf("%s: HTTP %d: %w", method, resp.StatusCode, err)
	}
	return a, nil
}

func (c *Client) request(ctx context.Context, method string, params Params, changes Changes) (*http.Request, error) {
	body := changes.Body
	if body == nil {
		var err error
		if body, err = c.body(method, params, changes.Meta); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	verb := changes.Verb
	if verb == "" {
		verb = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, verb, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("MCP-Protocol-Version", Version)
	h.Set("Mcp-Method", headerValue(method))
	if name, ok := mirroredName(method, params); ok {
		h.Set("Mcp-Name", headerValue(name))
	}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	for name, value := range changes.Header {
		switch {
		case value == nil:
			h.Del(name)
		case strings.EqualFold(name, "Host"):
			req.Host = *value
		default:
			h.Set(name, *value)
		}
	}
	return req, nil
}

func (c *Client) body(method string, params Params, changes map[string]json.RawMessage) ([]byte, error) {
	meta := map[string]json.RawMessage{
		"io.modelcontextprotocol/protocolVersion":    json.RawMessage(`"` + Version + `"`),
		"io.modelcontextprotocol/clientInfo":         json.RawMessage(`{"name":"ze-test","version":"1"}`),
		"io.modelcontextprotocol/clientCapabilities": c.capabilities,
	}
	for name, value := range changes {
		if value == nil {
			delete(meta, name)
			continue
		}
		meta[name] = value
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(params)
	if all == nil {
		all = Params{}
	}
	all["_meta"] = raw
	return json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  Params          `json:"params"`
	}{"2.0", strconv.AppendInt(nil, c.id, 10), method, all})
}

// mirroredName is the part of params that the Mcp-Name header repeats.
func mirroredName(method string, params Params) (name string, ok bool) {
	member := map[string]string{
		"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
		"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
	}[method]
	return name, member != "" && json.Unmarshal(params[member], &name) == nil
}

// headerValue writes a text as MCP's header values are written: visible ASCII as it is, the rest in the base64 sentinel.
func headerValue(v string) string {
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	if v == strings.TrimSpace(v) && !strings.ContainsFunc(v, odd) && !strings.HasPrefix(v, "=?base64?") {
		return v
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
}
