package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// Mirror is an argument that clients repeat in a header, so that proxies can route by it: a property annotated with
// x-mcp-header (MCP streamable HTTP, "Custom Headers from Tool Parameters").
type Mirror struct {
	// Header is the canonical header name, Mcp-Param-{name}.
	Header string
	// Path is the chain of property names that leads to the argument.
	Path []string
	// Integer tells that values are compared as numbers.
	Integer bool
}

const annotation = "x-mcp-header"

// mirrorsOf finds the annotated properties of an input schema and refuses an annotation that clients must refuse.
func mirrorsOf(schema []byte) ([]Mirror, error) {
	// Most schemas have none; looking for the word costs less than walking.
	if !bytes.Contains(schema, []byte(annotation)) {
		return nil, nil
	}
	var mirrors []Mirror
	if err := walkProperties(schema, nil, &mirrors); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, m := range mirrors {
		if seen[m.Header] {
			return nil, fmt.Errorf("%s names the header %s twice", annotation, m.Header)
		}
		seen[m.Header] = true
	}
	if n := countAnnotations(schema); n != len(mirrors) {
		return nil, fmt.Errorf("%s stands where it is not reached through properties alone", annotation)
	}
	return mirrors, nil
}

func walkProperties(schema []byte, path []string, mirrors *[]Mirror) error {
	properties := objectMember(schema, "properties")
	if rawjson.KindOf(properties) != rawjson.Object {
		return nil
	}
	return rawjson.Members(properties, func(name string, v []byte) error {
		if rawjson.KindOf(v) != rawjson.Object {
			return nil
		}
		here := append(path[:len(path):len(path)], name)
		if header := objectMember(v, annotation); header != nil {
			m, err := newMirror(header, objectMember(v, "type"), here)
			if err != nil {
				return fmt.Errorf("property %s: %w", strings.Join(here, "."), err)
			}
			*mirrors = append(*mirrors, m)
		}
		return walkProperties(v, here, mirrors)
	})
}

func newMirror(header, typ []byte, path []string) (Mirror, error) {
	if rawjson.KindOf(header) != rawjson.String {
		return Mirror{}, errors.New(annotation + " must be a string")
	}
	name := rawjson.Text(header)
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isTokenRune(r) }) {
		return Mirror{}, errors.New(annotation + " must be an HTTP field name")
	}
	switch string(typ) {
	case `"string"`, `"boolean"`, `"integer"`:
	default:
		return Mirror{}, errors.New(annotation + " is for a string, a boolean or an integer")
	}
	return Mirror{
		Header:  textproto.CanonicalMIMEHeaderKey("Mcp-Param-" + name),
		Path:    path,
		Integer: string(typ) == `"integer"`,
	}, nil
}

// isTokenRune tells whether r may stand in a field name (RFC 9110, tchar).
func isTokenRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// countAnnotations counts the annotation as a name anywhere that a schema may stand; a property that is called like it is
// not one. Values that are data (enum, const, default, examples) are not looked at.
func countAnnotations(schema []byte) int {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return 0
	}
	return countIn(v, false)
}

func countIn(v any, isPropertyMap bool) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			switch {
			case isPropertyMap:
				n += countIn(m, false)
			case name == annotation:
				n++
			case name == "enum" || name == "const" || name == "default" || name == "examples":
			default:
				n += countIn(m, name == "properties" || name == "patternProperties" || name == "$defs" || name == "dependentSchemas" || name == "definitions")
			}
		}
	case []any:
		for _, m := range v {
			n += countIn(m, false)
		}
	}
	return n
}
