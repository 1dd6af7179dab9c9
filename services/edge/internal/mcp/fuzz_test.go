package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Whatever the body, the reader either finds one request or notification in it, or says what is wrong with a code of its
// own; and what it found is what a second reader finds.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{},"_meta":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":null}`, `{"a":1,"a":2}`, "\xff", `{"id":"\ud800"}`, `{}{}`, ` {} `, `nul`,
		`{"jsonrpc":"2.0","id":1e3,"method":"x","params":{"requestState":null}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, e := decode(body)
		if e != nil {
			if code := e.Reason.Wire().JSONRPC; code != -32700 && code != -32600 {
				t.Errorf("code %d", code)
			}
			if m.id != nil && !jsontext.Value(m.id).IsValid() {
				t.Errorf("id %q", m.id)
			}
			return
		}
		var again struct {
			Method string          `json:"method"`
			ID     json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(body, &again); err != nil {
			t.Fatalf("taken, but not by encoding/json: %v", err)
		}
		// encoding/json matches names in any case, so it may have found another member.
		if !strings.Contains(strings.ToLower(string(body)), `"method"`) {
			t.Error("a method was found where there is none")
		}
		if m.id != nil && (bytes.Equal(m.id, []byte("null")) || m.id[0] == '{' || m.id[0] == '[') {
			t.Errorf("id %s", m.id)
		}
		if !jsontext.Value(body).IsValid() {
			t.Error("taken, but not strict JSON")
		}
	})
}

// Whatever a client puts into a header, what comes out is UTF-8 that decodes to itself, or an error.
func FuzzDecodeHeader(f *testing.F) {
	for _, seed := range []string{"ze_execute", "=?base64?emVfZXhlY3V0ZQ==?=", "=?base64??=", "=?base64?/w==?=", "é", "a\tb", "=?base64?", "=?BASE64?eA==?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		got, err := decodeHeader(v)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) {
			t.Errorf("%q decodes to %q", v, got)
		}
		if !strings.HasPrefix(v, sentinelPrefix) && got != v {
			t.Errorf("%q became %q", v, got)
		}
	})
}
