package auth_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zegate/zegate/services/edge/internal/auth"
)

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAuthenticate(t *testing.T) {
	list, err := auth.New(auth.Config{Mode: auth.ModeBearerList, Identities: []auth.Identity{
		{Name: "alice", TokenFile: file(t, "a-token\n"), Scopes: []string{"mcp.read"}},
		{Name: "bob", TokenFile: file(t, "b-token"), Scopes: []string{"mcp.read", "mcp.write"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	one, err := auth.New(auth.Config{Mode: auth.ModeBearer, TokenFile: file(t, " x \n"), Scopes: []string{"mcp.read"}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := auth.New(auth.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		auth          *auth.Authenticator
		authorization []string
		subject       string // empty: refused
		challenge     string
	}{
		{"none", none, nil, "anonymous", ""},
		{"none, with a token of somewhere else", none, []string{"Bearer x"}, "anonymous", ""},
		{"list, first", list, []string{"Bearer a-token"}, "alice", ""},
		{"list, last", list, []string{"bearer  b-token"}, "bob", ""},
		{"list, none", list, nil, "", `Bearer realm="zegate"`},
		{"list, unknown", list, []string{"Bearer c-token"}, "", `Bearer realm="zegate", error="invalid_token"`},
		{"list, prefix", list, []string{"Bearer a-toke"}, "", `Bearer realm="zegate", error="invalid_token"`},
		{"list, empty", list, []string{"Bearer "}, "", `Bearer realm="zegate"`},
		{"list, basic", list, []string{"Basic a-token"}, "", `Bearer realm="zegate"`},
		{"list, both", list, []string{"Bearer a-token", "Bearer b-token"}, "", `Bearer realm="zegate"`},
		{"one", one, []string{"Bearer x"}, "token-", ""},
		{"one, another", one, []string{"Bearer y"}, "", `Bearer realm="zegate", error="invalid_token"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{Header: http.Header{"Authorization": tt.authorization}}
			caller, e := tt.auth.Authenticate(r)
			if (e == nil) != (tt.subject != "") || !strings.HasPrefix(caller.Subject, tt.subject) {
				t.Errorf("caller %+v, %v", caller, e)
			}
			if e != nil && tt.auth.Challenge(r) != tt.challenge {
				t.Errorf("challenge %s, want %s", tt.auth.Challenge(r), tt.challenge)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	same := file(t, "same")
	for name, c := range map[string]auth.Config{
		"no file":    {Mode: auth.ModeBearer, TokenFile: filepath.Join(t.TempDir(), "none")},
		"empty file": {Mode: auth.ModeBearer, TokenFile: file(t, " \n")},
		"same token": {Mode: auth.ModeBearerList, Identities: []auth.Identity{{Name: "a", TokenFile: same}, {Name: "b", TokenFile: same}}},
	} {
		if _, err := auth.New(c); err == nil || !strings.Contains(err.Error(), "edge.auth") {
			t.Errorf("%s: %v, want an error that names the key", name, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    auth.Config
		want string
	}{
		{"default", auth.Default(), ""},
		{"unknown mode", auth.Config{Mode: "ldap"}, "edge.auth.mode"},
		{"no mode", auth.Config{}, "edge.auth.mode"},
		{"bearer without a token", auth.Config{Mode: auth.ModeBearer}, "token_file"},
		{"bearer with two", auth.Config{Mode: auth.ModeBearer, Token: "x", TokenFile: "y"}, "not both"},
		{"bearer", auth.Config{Mode: auth.ModeBearer, Token: "x"}, ""},
		{"empty list", auth.Config{Mode: auth.ModeBearerList}, "edge.auth.identities"},
		{"nameless", auth.Config{Mode: auth.ModeBearerList, Identities: []auth.Identity{{TokenFile: "x"}}}, "identities[0].name"},
		{"tokenless", auth.Config{Mode: auth.ModeBearerList, Identities: []auth.Identity{{Name: "x"}}}, "identities[0].token_file"},
		{"twice", auth.Config{Mode: auth.ModeBearerList, Identities: []auth.Identity{{Name: "x", TokenFile: "f"}, {Name: "x", TokenFile: "f"}}}, "identities[1].name"},
	} {
		err := tt.c.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
