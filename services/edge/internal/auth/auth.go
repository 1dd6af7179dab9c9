// Package auth establishes who is calling, from the Authorization header alone, before a body is read.
package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/pkg/identity"
)

// Modes of authentication.
const (
	// ModeNone asks nobody; for loopback.
	ModeNone = "none"
	// ModeBearer knows one token.
	ModeBearer = "bearer"
	// ModeBearerList knows one token per identity.
	ModeBearerList = "bearer-list"
)

// Config is the section edge.auth.
type Config struct {
	// Mode is none, bearer or bearer-list.
	Mode string `yaml:"mode"`
	// AnonymousScopes is what callers may do in mode none.
	AnonymousScopes []string `yaml:"anonymous_scopes"`
	// TokenFile holds the token of mode bearer; space around it is dropped.
	TokenFile string `yaml:"token_file"`
	// Token is the token of mode bearer, from the environment alone: ZEGATE_EDGE_AUTH_TOKEN.
	Token string `yaml:"-" env:"TOKEN"`
	// Scopes is what the holder of the token may do in mode bearer.
	Scopes []string `yaml:"scopes"`
	// Identities are the callers of mode bearer-list.
	Identities []Identity `yaml:"identities"`
}

// Identity is one caller of mode bearer-list.
type Identity struct {
	// Name is the caller's subject.
	Name string `yaml:"name"`
	// TokenFile holds the caller's token.
	TokenFile string `yaml:"token_file"`
	// Scopes is what the caller may do.
	Scopes []string `yaml:"scopes"`
}

// Default is the mode none with read commands.
func Default() Config {
	return Config{
		Mode:            ModeNone,
		AnonymousScopes: []string{identity.ScopeRead},
		Scopes:          []string{identity.ScopeRead, identity.ScopeWrite},
	}
}

// Validate tells what is wrong with the section, naming the key.
func (c Config) Validate() error {
	switch c.Mode {
	case ModeNone:
	case ModeBearer:
		if (c.TokenFile == "") == (c.Token == "") {
			return errors.New("edge.auth: mode bearer needs a token: write token_file, or set ZEGATE_EDGE_AUTH_TOKEN, and not both")
		}
	case ModeBearerList:
		if len(c.Identities) == 0 {
			return errors.New("edge.auth.identities: mode bearer-list needs at least one {name, token_file, scopes}")
		}
		names := map[string]bool{}
		for i, id := range c.Identities {
			switch {
			case id.Name == "":
				return fmt.Errorf("edge.auth.identities[%d].name: write a name", i)
			case id.TokenFile == "":
				return fmt.Errorf("edge.auth.identities[%d].token_file: write the file that holds the token of %s", i, id.Name)
			case names[id.Name]:
				return fmt.Errorf("edge.auth.identities[%d].name: %s comes twice", i, id.Name)
			}
			names[id.Name] = true
		}
	default:
		return fmt.Errorf("edge.auth.mode: %q is not a mode: write none, bearer or bearer-list", c.Mode)
	}
	return nil
}

// Authenticator tells callers apart.
type Authenticator struct {
	anonymous *identity.Caller
	known     []credential
}

type credential struct {
	digest [sha256.Size]byte
	caller identity.Caller
}

// New reads the tokens.
func New(c Config) (*Authenticator, error) {
	switch c.Mode {
	case ModeNone:
		return &Authenticator{anonymous: &identity.Caller{Subject: identity.Anonymous, Scopes: c.AnonymousScopes}}, nil
	case ModeBearer:
		token := c.Token
		if token == "" {
			var err error
			if token, err = readToken("edge.auth.token_file", c.TokenFile); err != nil {
				return nil, err
			}
		}
		digest := sha256.Sum256([]byte(token))
		// A token is a subject of its own: another token is another caller.
		subject := "token-" + hex.EncodeToString(digest[:6])
		return &Authenticator{known: []credential{{digest, identity.Caller{Subject: subject, Scopes: c.Scopes}}}}, nil
	}
	a := &Authenticator{}
	owners := map[[sha256.Size]byte]string{}
	for i, id := range c.Identities {
		key := fmt.Sprintf("edge.auth.identities[%d].token_file", i)
		token, err := readToken(key, id.TokenFile)
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256([]byte(token))
		if owner, taken := owners[digest]; taken {
			return nil, fmt.Errorf("%s: %s has the same token as %s", key, id.Name, owner)
		}
		owners[digest] = id.Name
		a.known = append(a.known, credential{digest, identity.Caller{Subject: id.Name, Scopes: id.Scopes}})
	}
	return a, nil
}

func readToken(key, file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", fmt.Errorf("%s: %s is empty", key, file)
	}
	return token, nil
}

// Authenticate finds the caller. It takes the same time whichever token fits, if any: digests are compared, all of them,
// each in constant time.
func (a *Authenticator) Authenticate(r *http.Request) (identity.Caller, *fault.Error) {
	if a.anonymous != nil {
		return *a.anonymous, nil
	}
	token, ok := bearerToken(r.Header)
	if !ok {
		return identity.Caller{}, fault.New(fault.Unauthenticated, "unauthenticated: send one Authorization: Bearer header with a token of this server")
	}
	digest := sha256.Sum256([]byte(token))
	found := -1
	for i := range a.known {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], a.known[i].digest[:]), i, found)
	}
	if found < 0 {
		return identity.Caller{}, fault.New(fault.Unauthenticated, "unauthenticated: the token is not one of this server's")
	}
	return a.known[found].caller, nil
}

// Challenge is the WWW-Authenticate header of a 401 (RFC 6750, section 3).
func (a *Authenticator) Challenge(r *http.Request) string {
	if _, sent := bearerToken(r.Header); sent {
		return `Bearer realm="zegate", error="invalid_token"`
	}
	return `Bearer realm="zegate"`
}

func bearerToken(h http.Header) (string, bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
