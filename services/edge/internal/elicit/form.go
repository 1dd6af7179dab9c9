package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// property is the schema of one primitive value: MCP's PrimitiveSchemaDefinition less the forms that Zegate does not emit
// (titled and multi-select enums).
type property struct {
	kind    string // string, number, integer, boolean
	enum    []string
	minLen  int
	maxLen  int
	minimum float64
	maximum float64
}

// allowed names the keywords of each primitive type in MCP's schema.
var allowed = map[string][]string{
	"string":  {"type", "title", "description", "default", "minLength", "maxLength", "format", "enum"},
	"number":  {"type", "title", "description", "default", "minimum", "maximum"},
	"integer": {"type", "title", "description", "default", "minimum", "maximum"},
	"boolean": {"type", "title", "description", "default"},
}

// checkForm refuses a form that must not be sent: one that is not a flat object of primitives, or that asks for something
// that looks like a credential (seed, "Limits"; MCP elicitation forbids it in form mode). It looks at the schema as it is
// about to leave, so no caller can go round it.
func checkForm(requestedSchema []byte) (map[string]property, error) {
	var properties []byte
	var required []byte
	var typ []byte
	err := rawjson.Members(requestedSchema, func(name string, v []byte) error {
		switch name {
		case "type":
			typ = v
		case "properties":
			properties = v
		case "required":
			required = v
		default:
			return fmt.Errorf("keyword %q is not part of a form", name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("requested schema: %w", err)
	}
	if string(typ) != `"object"` {
		return nil, errors.New(`requested schema: type must be "object"`)
	}
	props := map[string]property{}
	err = rawjson.Members(properties, func(name string, v []byte) error {
		if looksLikeCredential(name) {
			return fmt.Errorf("property %q looks like a credential, which a form must not ask for", name)
		}
		p, err := parseProperty(v)
		if err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		props[name] = p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("requested schema: properties: %w", err)
	}
	if len(props) == 0 {
		return nil, errors.New("requested schema: no properties")
	}
	var names []string
	if required != nil {
		if err := json.Unmarshal(required, &names); err != nil {
			return nil, errors.New("requested schema: required must be an array of names")
		}
	}
	for _, n := range names {
		if _, ok := props[n]; !ok {
			return nil, fmt.Errorf("requested schema: required names %q, which is no property", n)
		}
	}
	return props, nil
}

func parseProperty(schema []byte) (property, error) {
	keywords := map[string][]byte{}
	if err := rawjson.Members(schema, func(name string, v []byte) error {
		keywords[name] = v
		return nil
	}); err != nil {
		return property{}, fmt.Errorf("schema: %w", err)
	}
	p := property{maxLen: math.MaxInt, minimum: math.Inf(-1), maximum: math.Inf(1)}
	if err := json.Unmarshal(keywords["type"], &p.kind); err != nil {
		return p, errors.New("schema: type must be one of string, number, integer, boolean")
	}
	known, ok := allowed[p.kind]
	if !ok {
		return p, fmt.Errorf("schema: type %q is not primitive: use string, number, integer or boolean", p.kind)
	}
	for name := range keywords {
		if !slices.Contains(known, name) {
			return p, fmt.Errorf("schema: keyword %q is not allowed on a %s", name, p.kind)
		}
	}
	for name, into := range map[string]any{
		"enum": &p.enum, "minLength": &p.minLen, "maxLength": &p.maxLen, "minimum": &p.minimum, "maximum": &p.maximum,
	} {
		if v, given := keywords[name]; given {
			if err := json.Unmarshal(v, into); err != nil {
				return p, fmt.Errorf("schema: %s has a value of the wrong type", name)
			}
		}
	}
	return p, nil
}

// fits tells whether a value is of the property's type.
func (p property) fits(value []byte) bool {
	switch k := rawjson.KindOf(value); p.kind {
	case "string":
		return k == rawjson.String
	case "boolean":
		return k == rawjson.True || k == rawjson.False
	case "number":
		return k == rawjson.Number
	default:
		f, ok := number(value)
		return ok && f == math.Trunc(f)
	}
}

// allows tells whether a value of the property's type is within its limits.
func (p property) allows(value []byte) bool {
	switch p.kind {
	case "string":
		text := rawjson.Text(value)
		n := utf8.RuneCountInString(text)
		return n >= p.minLen && n <= p.maxLen && (p.enum == nil || slices.Contains(p.enum, text))
	case "number", "integer":
		f, ok := number(value)
		return ok && f >= p.minimum && f <= p.maximum
	}
	return true
}

// blank tells whether a value of the property's type says nothing: a string of nothing but Unicode white space.
func (p property) blank(value []byte) bool {
	return p.kind == "string" && strings.TrimSpace(rawjson.Text(value)) == ""
}

// article is the type with its article, for a message.
func (p property) article() string {
	if p.kind == "integer" {
		return "an integer"
	}
	return "a " + p.kind
}

func number(value []byte) (float64, bool) {
	if rawjson.KindOf(value) != rawjson.Number {
		return 0, false
	}
	var f float64
	if err := json.Unmarshal(value, &f); err != nil {
		return 0, false
	}
	return f, true
}

// Words that name a credential, alone or as neighbours. Whole words: "tokenizer" and "spin" name none.
var credentialWords = map[string]bool{
	"password": true, "passphrase": true, "secret": true, "token": true, "apikey": true, "privatekey": true,
	"credential": true, "card": true, "cvv": true, "pin": true, "otp": true,
}

// looksLikeCredential tells whether a property name, in any case and with any word separator, speaks of a credential.
func looksLikeCredential(name string) bool {
	var words []string
	for _, chunk := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if credentialWords[singular(chunk)] {
			return true
		}
		for _, w := range camelWords(chunk) {
			words = append(words, singular(w))
		}
	}
	for i, w := range words {
		if credentialWords[w] || i > 0 && credentialWords[words[i-1]+w] {
			return true
		}
	}
	return false
}

func singular(word string) string { return strings.TrimSuffix(strings.ToLower(word), "s") }

// camelWords splits at the humps: "userAPIKey" is user, API, Key.
func camelWords(chunk string) []string {
	runes := []rune(chunk)
	var words []string
	start := 0
	for i := 1; i < len(runes); i++ {
		lowerToUpper := unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1])
		acronymEnds := unicode.IsUpper(runes[i]) && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if lowerToUpper || acronymEnds {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}
