// Package gate is what every request passes before its body is looked at, whichever interface it is for: HTTP method, host
// and origin, who is calling, and how much that caller may do.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/pkg/identity"
	"github.com/zegate/zegate/services/edge/internal/audit"
)

// Authenticator establishes who is calling, from headers alone.
type Authenticator interface {
	// Authenticate is the caller, or a fault that may be shown to anyone.
	Authenticate(r *http.Request) (identity.Caller, *fault.Error)
	// Challenge is the WWW-Authenticate header that goes with a 401 for this request.
	Challenge(r *http.Request) string
}

// Config is what the gate decides by.
type Config struct {
	// Loopback tells that the listener is reached from this machine alone; then loopback names are allowed on any port.
	Loopback bool
	// AnyHost switches the check of Host off; for a listener whose settings say that it is insecure.
	AnyHost bool
	// PublicURL is where clients reach the edge; its host is allowed. May be empty.
	PublicURL string
	// AllowedHosts are further hosts, each a name or name:port; without a port, any port is allowed.
	AllowedHosts []string
	// AllowedOrigins are origins of web pages that may call, scheme://host[:port], compared exactly.
	AllowedOrigins []string
	// MaxBodyBytes bounds a request's body.
	MaxBodyBytes int64
	// Limits bounds what one caller may do.
	Limits Limits
	// Auth says who is calling.
	Auth Authenticator
	// Audit takes a record of each request.
	Audit *audit.Log
	// Log takes what went wrong inside.
	Log *slog.Logger
}

// Gate holds the bounds that are counted over requests: rates and calls in flight, per caller.
type Gate struct {
	cfg     Config
	hosts   []string
	callers callers
}

// New makes a gate.
func New(cfg Config) (*Gate, error) {
	g := &Gate{cfg: cfg, callers: callers{limits: cfg.Limits}}
	for _, h := range cfg.AllowedHosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	if cfg.PublicURL != "" {
		u, err := url.Parse(cfg.PublicURL)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("public_url: %q is not an absolute URL", cfg.PublicURL)
		}
		g.hosts = append(g.hosts, strings.ToLower(u.Host))
	}
	return g, nil
}

// Refuser answers a request that does not get through, in the form of the interface that it was for.
type Refuser func(w http.ResponseWriter, r *http.Request, e *fault.Error)

// Guard lets requests through to next: those with one of the methods, for a host and from an origin that are allowed, whose
// caller is known and within its rate. The caller is then in the request's context, and so is its audit record, which is
// written when next returns.
func (g *Gate) Guard(iface string, methods []string, refuse Refuser, next http.Handler) http.Handler {
	allow := strings.Join(append(slices.Clone(methods), http.MethodOptions), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, record := audit.Begin(r.Context())
		defer g.cfg.Audit.Write(ctx, record)
		record.Interface, record.Remote = iface, r.RemoteAddr
		r = r.WithContext(ctx)
		preflight := r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
		deny := func(e *fault.Error) {
			record.Outcome, record.Reason = "refused", string(e.Reason)
			refuse(w, r, e)
			record.Status = e.Reason.Wire().REST
		}
		if !preflight && !slices.Contains(methods, r.Method) {
			w.Header().Set("Allow", allow)
			deny(fault.New(fault.MethodNotAllowed, "method not allowed: use %s", strings.Join(methods, " or ")))
			return
		}
		if e := g.checkHost(r); e != nil {
			deny(e)
			return
		}
		if e := g.checkOrigin(w, r); e != nil {
			deny(e)
			return
		}
		if preflight {
			answerPreflight(w, r, methods)
			record.Outcome, record.Status = "complete", http.StatusNoContent
			return
		}
		caller, e := g.cfg.Auth.Authenticate(r)
		if e != nil {
			w.Header().Set("WWW-Authenticate", g.cfg.Auth.Challenge(r))
			deny(e)
			return
		}
		record.Caller = caller.Subject
		if e := g.callers.request(caller.Subject); e != nil {
			SetRetryAfter(w, e)
			deny(e)
			return
		}
		next.ServeHTTP(w, r.WithContext(identity.NewContext(ctx, caller)))
	})
}

// AcquireCall takes one of the caller's places for calls in flight; release gives it back.
func (g *Gate) AcquireCall(ctx context.Context) (release func(), _ *fault.Error) {
	return g.callers.call(identity.FromContext(ctx).Subject)
}

// AcquireStream takes one of the caller's places for open subscriptions; release gives it back.
func (g *Gate) AcquireStream(ctx context.Context) (release func(), _ *fault.Error) {
	return g.callers.stream(identity.FromContext(ctx).Subject)
}

// checkHost keeps out requests that a browser was tricked into sending to this address under another name.
func (g *Gate) checkHost(r *http.Request) *fault.Error {
	if g.cfg.AnyHost || g.cfg.Loopback && isLoopbackHost(r.Host) || g.hostListed(strings.ToLower(r.Host)) {
		return nil
	}
	return fault.New(fault.OriginNotAllowed, "forbidden: this server does not answer for the host in the Host header; its operator can allow it with edge.public_url or edge.allowed_hosts")
}

func (g *Gate) hostListed(host string) bool {
	if host == "" {
		return false
	}
	name := stripPort(host)
	return slices.ContainsFunc(g.hosts, func(h string) bool { return h == host || h == name })
}

// checkOrigin keeps out web pages that are not allowed, and tells the browser of those that are.
func (g *Gate) checkOrigin(w http.ResponseWriter, r *http.Request) *fault.Error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	if len(origins) > 1 || !g.originAllowed(origins[0]) {
		return fault.New(fault.OriginNotAllowed, "forbidden: web pages of this origin may not call this server; its operator can allow it with edge.allowed_origins")
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After")
	return nil
}

func (g *Gate) originAllowed(origin string) bool {
	if origin == "null" {
		return false
	}
	if slices.Contains(g.cfg.AllowedOrigins, origin) {
		return true
	}
	if !g.cfg.Loopback {
		return false
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Path == "" && u.RawQuery == "" && isLoopbackHost(u.Host)
}

// isLoopbackHost tells whether a host, with or without a port, is a name of this machine's loopback.
func isLoopbackHost(host string) bool {
	name := stripPort(strings.ToLower(host))
	if name == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

func stripPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// Headers that a page may send. Mcp-Param-* are named by the tools, so any of them is allowed.
var corsHeaders = []string{
	"accept", "authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name",
	"mcp-session-id", "last-event-id", "traceparent", "tracestate", "baggage",
}

func answerPreflight(w http.ResponseWriter, r *http.Request, methods []string) {
	headers := slices.Clone(corsHeaders)
	for _, name := range strings.Split(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if strings.HasPrefix(name, "mcp-param-") && !strings.ContainsFunc(name, func(c rune) bool { return c < '!' || c > '~' }) {
			headers = append(headers, name)
		}
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
	h.Set("Access-Control-Max-Age", "7200")
	h.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}
