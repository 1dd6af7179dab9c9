package mcp

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

const (
	// An answer that takes longer than this becomes a stream, so that nothing on the way takes the silence for a dead
	// connection.
	patience = 5 * time.Second
	// A comment on a silent stream keeps proxies from cutting it; nginx cuts after 60 s.
	keepAlive = 15 * time.Second
	// A reader that takes no byte for this long is given up.
	writeTimeout = 15 * time.Second
)

// answer writes the answer of one request: one JSON object, or a stream of server-sent events that ends with it.
type answer struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	accept accept

	mu        sync.Mutex
	timer     *time.Timer
	streaming bool
	done      bool
	status    int
	written   int
}

// wait turns the answer into a stream after the patience, if the client reads streams.
func (a *answer) wait() {
	if !a.accept.sse {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(patience, a.tick)
}

// tick opens the stream if need be and says that the request is still alive.
func (a *answer) tick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return
	}
	a.open()
	if a.write([]byte(":\n\n")) == nil {
		a.timer.Reset(keepAlive)
	}
}

// stream opens the stream now.
func (a *answer) stream() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done {
		a.open()
		a.flush()
	}
}

// open sends the head of a stream. The lock is held.
func (a *answer) open() {
	if a.streaming {
		return
	}
	a.streaming = true
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	a.status = http.StatusOK
	a.w.WriteHeader(http.StatusOK)
	if a.timer == nil {
		a.timer = time.AfterFunc(keepAlive, a.tick)
	} else {
		a.timer.Reset(keepAlive)
	}
}

// event sends one message on the stream.
func (a *answer) event(message []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return nil
	}
	a.open()
	return a.writeEvent(message)
}

// finish sends the last message: on the stream if there is one, otherwise by itself with its HTTP status.
func (a *answer) finish(message []byte, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return
	}
	a.done = true
	if a.timer != nil {
		defer a.timer.Stop()
	}
	if !a.streaming && !a.accept.json && status == http.StatusOK {
		a.open()
	}
	if a.streaming {
		_ = a.writeEvent(message)
		return
	}
	h := a.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(message)))
	h.Set("Cache-Control", "no-store")
	a.status = status
	_ = a.rc.SetWriteDeadline(time.Now().Add(writeTimeout + time.Duration(len(message)>>16)*time.Second))
	a.w.WriteHeader(status)
	n, _ := a.w.Write(message) //nolint:gosec // JSON, and served as such
	a.written += n
}

// abandon ends the answer without a message: the client has gone.
func (a *answer) abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

// writeEvent sends a message as one event. A document of an executor may span lines, which an event must not.
func (a *answer) writeEvent(message []byte) error {
	if bytes.ContainsAny(message, "\r\n") {
		v := jsontext.Value(message)
		if err := v.Compact(); err != nil {
			return err
		}
		message = v
	}
	event := make([]byte, 0, len(message)+8)
	event = append(append(append(event, "data: "...), message...), "\n\n"...)
	return a.write(event)
}

func (a *answer) write(b []byte) error {
	_ = a.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := a.w.Write(b) //nolint:gosec // an event of JSON, and served as such
	a.written += n
	if err != nil {
		return err
	}
	a.flush()
	return nil
}

func (a *answer) flush() { _ = a.rc.Flush() }

// appendError appends a JSON-RPC error answer. A nil id is left out.
func appendError(dst, id []byte, e *fault.Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	dst = strconv.AppendInt(append(dst, `,"error":{"code":`...), int64(e.Reason.Wire().JSONRPC), 10)
	dst = rawjson.AppendString(append(dst, `,"message":`...), e.Message)
	if e.Data != nil {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, `}}`...)
}
