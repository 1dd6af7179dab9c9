package gate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/pkg/identity"
)

func newGate(t *testing.T, cfg Config) *Gate {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestHostsAndOrigins(t *testing.T) {
	loopback := newGate(t, Config{Loopback: true})
	public := newGate(t, Config{
		PublicURL: "https://MCP.example.net:8443/mcp", AllowedHosts: []string{"alt.example.net", "[2001:db8::1]:80"},
		AllowedOrigins: []string{"https://app.example.net"},
	})
	local := newGate(t, Config{Loopback: true, PublicURL: "https://mcp.example.net/mcp"})
	open := newGate(t, Config{AnyHost: true})
	for _, tt := range []struct {
		name         string
		gate         *Gate
		host, origin string
		want         bool
	}{
		{"loopback by name", loopback, "localhost:8080", "", true},
		{"loopback by address", loopback, "127.0.0.1:1", "", true},
		{"loopback by another address", loopback, "127.8.8.8", "", true},
		{"loopback by IPv6", loopback, "[::1]:8080", "", true},
		{"loopback in capitals", loopback, "LOCALHOST", "", true},
		{"loopback rebound", loopback, "evil.example.com:8080", "", false},
		{"loopback lookalike", loopback, "localhost.example.com", "", false},
		{"loopback lookalike address", loopback, "127.0.0.1.example.com", "", false},
		{"no host", loopback, "", "", false},
		{"loopback page", loopback, "localhost", "http://localhost:5173", true},
		{"loopback page, IPv6", loopback, "localhost", "http://[::1]:5173", true},
		{"loopback file", loopback, "localhost", "null", false},
		{"loopback page of another scheme", loopback, "localhost", "ftp://localhost", false},
		{"loopback page with a path", loopback, "localhost", "http://localhost/", false},
		{"page from elsewhere", loopback, "localhost", "https://evil.example.com", false},
		{"public by URL", public, "mcp.example.net:8443", "", true},
		{"public by URL, another port", public, "mcp.example.net", "", false},
		{"public by list", public, "alt.example.net", "", true},
		{"public by list, any port", public, "ALT.example.net:99", "", true},
		{"public by list, IPv6 with port", public, "[2001:db8::1]:80", "", true},
		{"public by list, IPv6 with another port", public, "[2001:db8::1]:81", "", false},
		{"loopback names on a public listener", public, "localhost", "", false},
		{"allowed page", public, "alt.example.net", "https://app.example.net", true},
		{"allowed page, another scheme", public, "alt.example.net", "http://app.example.net", false},
		{"allowed page, another port", public, "alt.example.net", "https://app.example.net:8443", false},
		{"loopback page on a public listener", public, "alt.example.net", "http://localhost", false},
		{"public name through a proxy on this machine", local, "mcp.example.net", "", true},
		{"insecure takes any host", open, "anything", "", true},
		{"insecure takes no page", open, "anything", "https://evil.example.com", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			e := tt.gate.checkHost(r)
			if e == nil {
				e = tt.gate.checkOrigin(w, r)
			}
			if (e == nil) != tt.want {
				t.Errorf("got %v, want allowed %t", e, tt.want)
			}
			if e != nil && e.Reason != fault.OriginNotAllowed {
				t.Errorf("reason %s", e.Reason)
			}
		})
	}
}

// A limit is a caller's own: one at its limit does not slow another, and time gives it room again.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callers{limits: Limits{RequestsPerSecond: 10, Burst: 2}}
		for range 2 {
			if e := c.request("a"); e != nil {
				t.Fatal(e)
			}
		}
		for range 5 {
			e := c.request("a")
			if e == nil || e.Reason != fault.RateLimited || e.RetryAfter <= 0 {
				t.Fatalf("third request at once: %v", e)
			}
		}
		if e := c.request("b"); e != nil {
			t.Errorf("another caller: %v", e)
		}
		<-time.After(150 * time.Millisecond)
		if e := c.request("a"); e != nil {
			t.Errorf("after a while: %v", e)
		}
	})
}

func TestConcurrency(t *testing.T) {
	g := newGate(t, Config{Limits: Limits{ConcurrentCalls: 1, Streams: 1}})
	as := func(subject string) context.Context {
		return identity.NewContext(t.Context(), identity.Caller{Subject: subject})
	}
	for name, acquire := range map[string]func(context.Context) (func(), *fault.Error){"calls": g.AcquireCall, "streams": g.AcquireStream} {
		release, e := acquire(as("a"))
		if e != nil {
			t.Fatalf("%s: %v", name, e)
		}
		if _, e := acquire(as("a")); e == nil || e.RetryAfter <= 0 {
			t.Errorf("%s: second of one caller: %v", name, e)
		}
		other, e := acquire(as("b"))
		if e != nil {
			t.Errorf("%s: another caller: %v", name, e)
		}
		other()
		release()
		again, e := acquire(as("a"))
		if e != nil {
			t.Fatalf("%s: after the release: %v", name, e)
		}
		again()
	}
	unlimited := newGate(t, Config{})
	for range 1000 {
		if _, e := unlimited.AcquireCall(as("a")); e != nil {
			t.Fatal(e)
		}
	}
}

// Callers that do nothing are forgotten, so that fresh names do not fill the memory; a caller with something in flight is not.
func TestCallersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callers{limits: Limits{RequestsPerSecond: 1000, Burst: 10, ConcurrentCalls: 1}}
		release, _ := c.call("busy")
		for i := range 3 * rememberedCallers {
			if e := c.request(strings.Repeat("x", i%7) + time.Duration(i).String()); e != nil {
				t.Fatal(e)
			}
			if i%1000 == 0 {
				<-time.After(time.Second)
			}
		}
		if n := len(c.states); n > rememberedCallers+1000 {
			t.Errorf("%d callers are remembered", n)
		}
		if _, e := c.call("busy"); e == nil {
			t.Error("the call in flight was forgotten")
		}
		release()
	})
}

func TestPreflightNamesHeaders(t *testing.T) {
	r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
	r.Header.Set("Access-Control-Request-Headers", "Mcp-Param-Region, x-other, mcp-param-é")
	w := httptest.NewRecorder()
	answerPreflight(w, r, []string{http.MethodPost})
	got := strings.Split(w.Header().Get("Access-Control-Allow-Headers"), ", ")
	for _, want := range []string{"authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not allowed: %v", want, got)
		}
	}
	if slices.Contains(got, "x-other") || w.Code != http.StatusNoContent {
		t.Errorf("%d, %v", w.Code, got)
	}
}
