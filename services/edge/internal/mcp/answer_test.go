package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zegate/zegate/pkg/fault"
)

func newAnswer(a accept) (*answer, *httptest.ResponseRecorder) {
	w := httptest.NewRecorder()
	return &answer{w: w, rc: http.NewResponseController(w), accept: a}, w
}

// An answer that takes long becomes a stream, which a comment keeps alive; one that comes in time does not.
func TestAnswerPatience(t *testing.T) {
	both := accept{json: true, sse: true}
	for _, tt := range []struct {
		name   string
		accept accept
		after  time.Duration
		want   string
		stream bool
	}{
		{"in time", both, patience - time.Second, `{}`, false},
		{"late", both, patience + time.Second, ":\n\ndata: {}\n\n", true},
		{"very late", both, patience + 2*keepAlive + time.Second, ":\n\n:\n\n:\n\ndata: {}\n\n", true},
		{"late, and no stream is read", accept{json: true}, time.Hour, `{}`, false},
		{"in time, and streams alone are read", accept{sse: true}, time.Second, "data: {}\n\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, w := newAnswer(tt.accept)
				a.wait()
				<-time.After(tt.after)
				a.finish([]byte(`{}`), http.StatusOK)
				<-time.After(time.Hour) // nothing follows the answer
				if diff := cmp.Diff(tt.want, w.Body.String()); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
				if got := w.Header().Get("Content-Type") == "text/event-stream"; got != tt.stream {
					t.Errorf("content type %q", w.Header().Get("Content-Type"))
				}
			})
		})
	}
}

// An error after the stream was opened ends the stream: the status is already gone.
func TestAnswerLateError(t *testing.T) {
	a, w := newAnswer(accept{json: true, sse: true})
	a.stream()
	finishFault(t.Context(), a, []byte("1"), fault.New(fault.Panicked, fault.InternalText))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	a.finish([]byte(`{}`), http.StatusOK)
	if strings.Count(w.Body.String(), "data:") != 1 {
		t.Errorf("two answers: %s", w.Body)
	}
}

func TestParseAccept(t *testing.T) {
	for header, want := range map[string]accept{
		"":                                    {json: true},
		"application/json":                    {json: true},
		"application/json, text/event-stream": {json: true, sse: true},
		"text/event-stream":                   {sse: true},
		"*/*":                                 {json: true},
		"application/*":                       {json: true},
		"text/*":                              {sse: true},
		"text/event-stream, */*":              {json: true, sse: true},
		"APPLICATION/JSON":                    {json: true},
		"application/json;q=0.1":              {json: true},
		"text/event-stream;q=0, application/json": {json: true},
		"*/*;q=0, text/event-stream":              {sse: true},
		"application/json;q=0, */*":               {},
		"text/html":                               {},
		"text/html, ;;;":                          {},
	} {
		h := http.Header{}
		if header != "" {
			h.Set("Accept", header)
		}
		got, e := parseAccept(h)
		if got != want || (e != nil) != (want == accept{}) {
			t.Errorf("parseAccept(%q) = %+v, %v, want %+v", header, got, e, want)
		}
	}
}
