package catalogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/elicit"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// Tool is one tool as the edge serves it.
type Tool struct {
	// Name is the tool's name.
	Name string
	// Elicit is the argument that a user may be asked for; nil when there is none.
	Elicit *elicit.Argument
	// RequiredCapabilities is the JSON object of client capabilities without which a call is refused; nil when there are
	// none.
	RequiredCapabilities []byte
	// Mirrors are the arguments that a client repeats in headers.
	Mirrors []Mirror

	asking   []byte // descriptor for a client that can be asked
	unasking []byte // descriptor for any other
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// newTool checks one descriptor and encodes it both ways. A descriptor that fails is left out of the catalogue, so that one
// malformed tool takes no other with it.
func newTool(d *executorv1.Tool) (*Tool, error) {
	if !toolName.MatchString(d.GetName()) {
		return nil, errors.New("the name must be 1 to 128 characters of A-Z, a-z, 0-9, underscore, hyphen and dot")
	}
	t := &Tool{Name: d.GetName()}
	schema := d.GetInputSchemaJson()
	if typ := objectMember(schema, "type"); string(typ) != `"object"` {
		return nil, errors.New(`input_schema_json must be a JSON object with type "object"`)
	}
	if out := d.GetOutputSchemaJson(); len(out) > 0 && !rawjson.IsObject(out) {
		return nil, errors.New("output_schema_json must be a JSON object")
	}
	if caps := d.GetRequiredClientCapabilitiesJson(); len(caps) > 0 {
		if !rawjson.IsObject(caps) {
			return nil, errors.New("required_client_capabilities_json must be a JSON object")
		}
		t.RequiredCapabilities = caps
	}
	var err error
	if t.Mirrors, err = mirrorsOf(schema); err != nil {
		return nil, err
	}
	asking := schema
	switch args := d.GetElicitableArguments(); len(args) {
	case 0:
	case 1:
		a := args[0]
		if !hasProperty(schema, a.GetArgument()) {
			return nil, fmt.Errorf("elicitable argument %q is no property of the input schema", a.GetArgument())
		}
		if t.Elicit, err = elicit.NewArgument(a.GetArgument(), a.GetKey(), a.GetMessage(), a.GetPropertySchemaJson()); err != nil {
			return nil, fmt.Errorf("elicitable argument: %w", err)
		}
		if asking, err = withRequired(schema, a.GetArgument(), false); err != nil {
			return nil, err
		}
		if schema, err = withRequired(schema, a.GetArgument(), true); err != nil {
			return nil, err
		}
	default:
		// A result carries one question and no state, so the answer to a first question would be lost by the second.
		return nil, errors.New("more than one elicitable argument")
	}
	t.unasking = AppendDescriptor(nil, d, schema)
	t.asking = t.unasking
	if t.Elicit != nil {
		t.asking = AppendDescriptor(nil, d, asking)
	}
	return t, nil
}

// Descriptor is the tool as tools/list shows it: form tells whether the client can be asked for a missing argument.
func (t *Tool) Descriptor(form bool) []byte {
	if form {
		return t.asking
	}
	return t.unasking
}

// AppendDescriptor appends the JSON of a checked tool, as MCP has it, with this input schema.
func AppendDescriptor(dst []byte, d *executorv1.Tool, schema []byte) []byte {
	dst = rawjson.AppendString(append(dst, `{"name":`...), d.GetName())
	if s := d.GetTitle(); s != "" {
		dst = rawjson.AppendString(append(dst, `,"title":`...), s)
	}
	if s := d.GetDescription(); s != "" {
		dst = rawjson.AppendString(append(dst, `,"description":`...), s)
	}
	dst = append(append(dst, `,"inputSchema":`...), schema...)
	if s := d.GetOutputSchemaJson(); len(s) > 0 {
		dst = append(append(dst, `,"outputSchema":`...), s...)
	}
	if a := d.GetAnnotations(); a != nil {
		dst = append(dst, `,"annotations":{`...)
		sep := ""
		for _, h := range []struct {
			name  string
			value *bool
		}{
			{"readOnlyHint", a.ReadOnlyHint},
			{"destructiveHint", a.DestructiveHint},
			{"idempotentHint", a.IdempotentHint},
			{"openWorldHint", a.OpenWorldHint},
		} {
			if h.value != nil {
				dst = fmt.Appendf(dst, `%s"%s":%t`, sep, h.name, *h.value)
				sep = ","
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// withRequired is an object schema in which required names the argument, or does not. Everything else stays as it was
// written.
func withRequired(schema []byte, argument string, named bool) ([]byte, error) {
	out := []byte{'{'}
	add := func(name string, v []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, name), ':'), v...)
	}
	found := false
	err := rawjson.Members(schema, func(name string, v []byte) error {
		if name != "required" {
			add(name, v)
			return nil
		}
		found = true
		var names []string
		if err := json.Unmarshal(v, &names); err != nil {
			return errors.New("input_schema_json: required must be an array of names")
		}
		kept := names[:0]
		has := false
		for _, n := range names {
			has = has || n == argument
			if named || n != argument {
				kept = append(kept, n)
			}
		}
		if named && !has {
			kept = append(kept, argument)
		}
		if len(kept) > 0 {
			add(name, appendNames(nil, kept))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if named && !found {
		add("required", appendNames(nil, []string{argument}))
	}
	return append(out, '}'), nil
}

func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, '[')
	for i, n := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, n)
	}
	return append(dst, ']')
}

// objectMember is the value of a member of an object; nil when it has none, or when v is no valid object.
func objectMember(v []byte, name string) []byte {
	var found []byte
	if err := rawjson.Members(v, func(n string, v []byte) error {
		if n == name {
			found = v
		}
		return nil
	}); err != nil {
		return nil
	}
	return found
}

func hasProperty(schema []byte, name string) bool {
	return objectMember(objectMember(schema, "properties"), name) != nil
}
