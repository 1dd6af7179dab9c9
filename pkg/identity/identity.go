// Package identity is the caller: who it is, what it may do, and how both cross gRPC.
//
// The edge alone establishes a caller, after authentication; tokens never travel further. Back ends read the caller from
// request metadata (DESIGN section 3), never from a message.
package identity

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/metadata"
)

// Scopes that Zegate knows.
const (
	// ScopeRead allows commands that change nothing.
	ScopeRead = "mcp.read"
	// ScopeWrite allows commands that change something.
	ScopeWrite = "mcp.write"
	// ScopeAdmin shows every caller's tasks.
	ScopeAdmin = "mcp.admin"
)

// Anonymous is the subject of a caller that was not asked who it is.
const Anonymous = "anonymous"

// Caller is who makes a request. The zero Caller may do nothing.
type Caller struct {
	// Subject names the caller; unique per credential.
	Subject string
	// Scopes is what the caller may do.
	Scopes []string
}

// Has tells whether the caller holds a scope.
func (c Caller) Has(scope string) bool { return slices.Contains(c.Scopes, scope) }

type key struct{}

// NewContext returns a context in which c is the caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// FromContext is the caller of a request; the zero Caller when there is none.
func FromContext(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}

// Metadata keys. A subject is any text, so it travels as a binary value.
const (
	subjectKey = "zegate-subject-bin"
	scopesKey  = "zegate-scopes"
)

// ToOutgoing puts the context's caller on an outgoing gRPC call, in place of whatever was there.
func ToOutgoing(ctx context.Context) context.Context {
	c := FromContext(ctx)
	md, _ := metadata.FromOutgoingContext(ctx)
	md = md.Copy()
	md.Set(subjectKey, c.Subject)
	md.Set(scopesKey, strings.Join(c.Scopes, " "))
	return metadata.NewOutgoingContext(ctx, md)
}

// FromIncoming takes the caller off an incoming gRPC call.
func FromIncoming(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	var c Caller
	if v := md.Get(subjectKey); len(v) == 1 {
		c.Subject = v[0]
	}
	if v := md.Get(scopesKey); len(v) == 1 {
		c.Scopes = strings.Fields(v[0])
	}
	return NewContext(ctx, c)
}
