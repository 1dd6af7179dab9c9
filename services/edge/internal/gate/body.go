package gate

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zegate/zegate/pkg/fault"
)

// bodyTimeout is how long a client may take to send its body.
const bodyTimeout = 30 * time.Second

// Buffers of a size that most requests need are used again; larger ones are left to the collector.
const pooledBody = 64 << 10

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// CheckContentType is step 5 for bodies: JSON, in UTF-8, not compressed.
func CheckContentType(r *http.Request) *fault.Error {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" || len(r.Header.Values("Content-Type")) > 1 {
		return fault.New(fault.UnsupportedMediaType, "unsupported media type: send the body as Content-Type: application/json")
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedMediaType, "unsupported media type: send the body in UTF-8")
	}
	if r.Header.Get("Content-Encoding") != "" && !strings.EqualFold(r.Header.Get("Content-Encoding"), "identity") {
		return fault.New(fault.UnsupportedMediaType, "unsupported media type: send the body without Content-Encoding")
	}
	return nil
}

// ReadBody reads a body of at most the configured length. The bytes may be used until release is called, which must happen
// on errors too.
func (g *Gate) ReadBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), _ *fault.Error) {
	release = func() {}
	limit := g.cfg.MaxBodyBytes
	tooLarge := fault.New(fault.BodyTooLarge, "the body is larger than this server takes: at most %d bytes", limit)
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, release, tooLarge
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	// Reading goes on for as long as the request does: that is how its end is noticed.
	defer func() { _ = rc.SetReadDeadline(time.Time{}) }()
	buf := bodies.Get().(*bytes.Buffer)
	release = func() {
		if buf.Cap() <= pooledBody {
			buf.Reset()
			bodies.Put(buf)
		}
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case err == nil:
		return buf.Bytes(), release, nil
	case errors.As(err, &over):
		return nil, release, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, release, fault.New(fault.BodyTimeout, "the body did not arrive within %s", bodyTimeout)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, release, fault.Wrap(err, fault.ParseError, "parse error: the body ended early")
	}
	return nil, release, fault.Wrap(err, fault.ParseError, "parse error: the body could not be read")
}

// SetRetryAfter tells the client how long to wait, in whole seconds, when the fault knows.
func SetRetryAfter(w http.ResponseWriter, e *fault.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}
