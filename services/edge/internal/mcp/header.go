package mcp

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// Headers that repeat a part of the body (MCP streamable HTTP, "Request Metadata").
const (
	headerVersion = "MCP-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// mirroredName is the part of params that Mcp-Name repeats; ok is false for methods that have none.
func (m *message) mirroredName() (value []byte, path string, ok bool) {
	switch m.method {
	case "tools/call", "prompts/get":
		return m.name, "params.name", true
	case "resources/read":
		return m.uri, "params.uri", true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return m.taskID, "params.taskId", true
	}
	return nil, "", false
}

// checkHeaders is step 9: every mirrored header is there and says what the body says. Of a notification only headers that
// are there are compared, since the revision asks for none.
func checkHeaders(h http.Header, m *message) *fault.Error {
	required := !m.notification()
	version, haveVersion := text(metaVersion(m.meta))
	if err := mirrored(h, headerVersion, version, haveVersion, required, "_meta protocolVersion"); err != nil {
		return err
	}
	if err := mirrored(h, headerMethod, m.method, true, required, "method"); err != nil {
		return err
	}
	if v, path, ok := m.mirroredName(); ok {
		name, have := text(v)
		return mirrored(h, headerName, name, have, required, path)
	}
	return nil
}

// mirrored compares one header with the body value that it repeats, if the body has that value.
func mirrored(h http.Header, name, body string, haveBody, required bool, path string) *fault.Error {
	value, ok, err := headerValue(h, name)
	switch {
	case err != nil:
		return err
	case !ok && required:
		return fault.New(fault.HeaderMismatch, "header mismatch: the %s header is missing; this server speaks MCP %s", name, protocolVersion)
	case !ok || !haveBody:
		return nil
	case value != body:
		return fault.New(fault.HeaderMismatch, "header mismatch: %s is %s but %s is %s", name, quote(value), path, quote(body))
	}
	return nil
}

// headerValue is a header's decoded value. It must come once, in visible ASCII, and a base64 sentinel must hold UTF-8.
func headerValue(h http.Header, name string) (value string, ok bool, _ *fault.Error) {
	values := h.Values(name)
	if len(values) == 0 {
		return "", false, nil
	}
	if len(values) > 1 {
		return "", false, fault.New(fault.HeaderMismatch, "header mismatch: the %s header comes more than once", name)
	}
	value, err := decodeHeader(values[0])
	if err != nil {
		return "", false, fault.New(fault.HeaderMismatch, "header mismatch: the %s header %s", name, err)
	}
	return value, true, nil
}

const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// decodeHeader undoes MCP's value encoding: plain ASCII, or UTF-8 in the base64 sentinel.
func decodeHeader(v string) (string, error) {
	for i := range len(v) {
		if c := v[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", fmt.Errorf("holds a character that is not ASCII; encode the value as %s...%s", sentinelPrefix, sentinelSuffix)
		}
	}
	inner, ok := strings.CutPrefix(v, sentinelPrefix)
	if !ok {
		return v, nil
	}
	inner, ok = strings.CutSuffix(inner, sentinelSuffix)
	if !ok {
		return v, nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || !utf8.Valid(b) {
		return "", fmt.Errorf("holds base64 that does not decode to UTF-8 text")
	}
	return string(b), nil
}

// checkParamHeaders compares the headers of annotated arguments with the arguments.
func checkParamHeaders(h http.Header, mirrors []catalogue.Mirror, arguments []byte) *fault.Error {
	for _, m := range mirrors {
		value, ok, err := headerValue(h, m.Header)
		if err != nil {
			return err
		}
		body := valueAt(arguments, m.Path)
		path := "params.arguments." + strings.Join(m.Path, ".")
		switch k := rawjson.KindOf(body); {
		case k == rawjson.Invalid || k == rawjson.Null:
			if ok {
				return fault.New(fault.HeaderMismatch, "header mismatch: %s is %s but %s is not given", m.Header, quote(value), path)
			}
		case !ok:
			return fault.New(fault.HeaderMismatch, "header mismatch: the %s header is missing although %s is given; list the tools again", m.Header, path)
		case !sameValue(value, body, m.Integer):
			return fault.New(fault.HeaderMismatch, "header mismatch: %s is not the value of %s", m.Header, path)
		}
	}
	return nil
}

func valueAt(object []byte, path []string) []byte {
	for _, name := range path {
		if rawjson.KindOf(object) != rawjson.Object {
			return nil
		}
		var next []byte
		_ = rawjson.Members(object, func(n string, v []byte) error {
			if n == name {
				next = v
			}
			return nil
		})
		object = next
	}
	return object
}

// sameValue compares a decoded header with a body value: strings by their text, integers by number, the rest as written.
func sameValue(header string, body []byte, integer bool) bool {
	if rawjson.KindOf(body) == rawjson.String {
		return header == rawjson.Text(body)
	}
	if integer && rawjson.KindOf(body) == rawjson.Number {
		a, errA := strconv.ParseFloat(header, 64)
		b, errB := strconv.ParseFloat(string(body), 64)
		const safe = 1<<53 - 1 // beyond it, floats that are equal may stand for integers that are not
		if errA == nil && errB == nil && a >= -safe && a <= safe {
			return a == b
		}
	}
	return header == string(body)
}

// quote shows a caller its own text: quoted, on one line, and not longer than it takes to see the fault.
func quote(s string) string {
	const limit = 128
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return strconv.QuoteToASCII(s)
}
