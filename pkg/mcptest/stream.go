package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// Stream is an answer that is read while it comes.
type Stream struct {
	// Status and Header are those of the answer.
	Status int
	Header http.Header

	method string
	cancel context.CancelFunc
	body   io.ReadCloser
	lines  *bufio.Reader
	seen   bytes.Buffer
}

// Open sends a request and returns as soon as the answer's head is there. The stream is closed when the test ends, at the
// latest.
func (c *Client) Open(t testing.TB, r Request) *Stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	resp := c.send(ctx, t, r)
	s := &Stream{Status: resp.StatusCode, Header: resp.Header, method: r.Method, cancel: cancel, body: resp.Body, lines: bufio.NewReader(resp.Body)}
	t.Cleanup(s.Close)
	return s
}

// Next is the next message; ok is false at the end of the stream. Each message is checked, and so is the order so far.
func (s *Stream) Next(t testing.TB) (m Message, ok bool) {
	t.Helper()
	var event bytes.Buffer
	for {
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			return Message{}, false
		}
		s.seen.Write(line)
		event.Write(line)
		if len(bytes.TrimSpace(line)) != 0 {
			continue
		}
		texts, err := Events(event.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", s.method, err)
		}
		event.Reset()
		if len(texts) == 0 {
			continue // a comment
		}
		if err := json.Unmarshal(texts[0], &m); err != nil {
			t.Fatalf("%s: message: %v", s.method, err)
		}
		if m.Method == "" || s.method == "subscriptions/listen" {
			CheckAnswer(t, s.method, s.Status, s.Header.Get("Content-Type"), s.seen.Bytes())
		}
		return m, true
	}
}

// Close ends the stream, which is how a client cancels.
func (s *Stream) Close() {
	s.cancel()
	_ = s.body.Close()
}
