package catalogue

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
)

func tool(name, schema string, elicitable ...string) *executorv1.Tool {
	t := &executorv1.Tool{Name: name, InputSchemaJson: []byte(schema)}
	for _, a := range elicitable {
		t.ElicitableArguments = append(t.ElicitableArguments, &executorv1.ElicitableArgument{
			Argument: a, Key: "key_" + a, Message: "Which?", PropertySchemaJson: []byte(`{"type":"string"}`),
		})
	}
	return t
}

// One malformed tool is left out with a warning; the others stay.
func TestSnapshotLeavesOutMalformedTools(t *testing.T) {
	const ok = `{"type":"object"}`
	for name, bad := range map[string]*executorv1.Tool{
		"no name":                        tool("", ok),
		"name with a space":              tool("a b", ok),
		"name too long":                  tool(strings.Repeat("a", 129), ok),
		"name that is taken":             tool("good", ok),
		"no schema":                      tool("x", ``),
		"schema no JSON":                 tool("x", `{`),
		"schema with a name twice":       tool("x", `{"type":"object","type":"object"}`),
		"schema of an array":             tool("x", `{"type":"array"}`),
		"schema null":                    tool("x", `null`),
		"schema with data after it":      tool("x", `{"type":"object"},{}`),
		"output schema no object":        {Name: "x", InputSchemaJson: []byte(ok), OutputSchemaJson: []byte(`true`)},
		"capabilities no object":         {Name: "x", InputSchemaJson: []byte(ok), RequiredClientCapabilitiesJson: []byte(`[]`)},
		"elicitable, no property":        tool("x", ok, "command"),
		"elicitable credential":          tool("x", `{"type":"object","properties":{"password":{"type":"string"}}}`, "password"),
		"two elicitable":                 tool("x", `{"type":"object","properties":{"a":{},"b":{}}}`, "a", "b"),
		"required of the wrong type":     tool("x", `{"type":"object","properties":{"a":{}},"required":"a"}`, "a"),
		"task alone":                     {Name: "x", InputSchemaJson: []byte(ok), TaskSupport: executorv1.TaskSupport_TASK_SUPPORT_REQUIRED},
		"header on a number":             tool("x", `{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`),
		"header on an object":            tool("x", `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`),
		"header without a type":          tool("x", `{"type":"object","properties":{"a":{"x-mcp-header":"A"}}}`),
		"header empty":                   tool("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}`),
		"header no token":                tool("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`),
		"header with a line break":       tool("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}`),
		"header not a string":            tool("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":1}}}`),
		"header twice":                   tool("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`),
		"header in items":                tool("x", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`),
		"header in a choice":             tool("x", `{"type":"object","oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`),
		"header at the root":             tool("x", `{"type":"object","x-mcp-header":"A"}`),
		"header behind a reference":      tool("x", `{"type":"object","$defs":{"a":{"type":"string","x-mcp-header":"A"}},"properties":{"b":{"$ref":"#/$defs/a"}}}`),
		"header in a pattern's property": tool("x", `{"type":"object","patternProperties":{"a":{"type":"string","x-mcp-header":"A"}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			s := newSnapshot(&executorv1.ListToolsResponse{Tools: []*executorv1.Tool{tool("good", ok), bad, tool("also_good", ok)}},
				slog.New(slog.NewTextHandler(&log, nil)))
			if len(s.Tools) != 2 || len(s.List.GetTools()) != 2 || s.Tool("good") == nil || s.Tool("also_good") == nil {
				t.Errorf("%d tools left", len(s.Tools))
			}
			if !strings.Contains(log.String(), "tool left out") {
				t.Errorf("no warning: %q", log.String())
			}
		})
	}
}

// Data that only looks like an annotation is none.
func TestMirrors(t *testing.T) {
	got, err := mirrorsOf([]byte(`{"type":"object","properties":{
		"x-mcp-header":{"type":"string"},
		"a":{"type":"string","x-mcp-header":"Region","default":{"x-mcp-header":"no"}},
		"b":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"deep-er"}}},
		"d":{"enum":[{"x-mcp-header":"no"}]}}}`))
	want := []Mirror{{Header: "Mcp-Param-Region", Path: []string{"a"}}, {Header: "Mcp-Param-Deep-Er", Path: []string{"b", "c"}, Integer: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

// The schema says what is legal for the client that asks; nothing else of it changes.
func TestDescriptorShapes(t *testing.T) {
	for name, tt := range map[string]struct{ schema, asking, unasking string }{
		"alone": {
			`{"type":"object","properties":{"a":{}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{}}}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`,
		},
		"with another": {
			`{"required":["b","a"],"type":"object","properties":{"a":{},"b":{"default":1.0}}}`,
			`{"required":["b"],"type":"object","properties":{"a":{},"b":{"default":1.0}}}`,
			`{"required":["b","a"],"type":"object","properties":{"a":{},"b":{"default":1.0}}}`,
		},
		"not named": {
			`{"type":"object","properties":{"a":{}}}`,
			`{"type":"object","properties":{"a":{}}}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`,
		},
		"others named": {
			`{"type":"object","properties":{"a":{}},"required":["b"]}`,
			`{"type":"object","properties":{"a":{}},"required":["b"]}`,
			`{"type":"object","properties":{"a":{}},"required":["b","a"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newTool(tool("x", tt.schema, "a"))
			if err != nil {
				t.Fatal(err)
			}
			for form, want := range map[bool]string{true: tt.asking, false: tt.unasking} {
				if want = `{"name":"x","inputSchema":` + want + `}`; string(got.Descriptor(form)) != want {
					t.Errorf("form %t:\n got %s\nwant %s", form, got.Descriptor(form), want)
				}
			}
		})
	}
}

// A cursor is good for the list that issued it, and nothing that was made up is.
func TestCursor(t *testing.T) {
	list := &executorv1.ListToolsResponse{}
	for i := range PageSize + 1 {
		list.Tools = append(list.Tools, tool("t"+string(rune('A'+i%26))+strings.Repeat("x", i/26), `{"type":"object"}`))
	}
	s := newSnapshot(list, slog.New(slog.DiscardHandler))
	_, next, ok := s.Page("", false)
	if !ok || next == "" {
		t.Fatalf("first page: next %q, %t", next, ok)
	}
	if tools, last, ok := s.Page(next, true); !ok || last != "" || strings.Count(string(tools), `"name"`) != 1 {
		t.Errorf("second page: %s, %q, %t", tools, last, ok)
	}
	for _, cursor := range []string{"x", "bm9uZQ", next + "=", next + "A", cursorAfter("no_such"), cursorAfter(list.Tools[0].GetName()), cursorAfter(list.Tools[PageSize].GetName()), cursorAfter("")} {
		if _, _, ok := s.Page(cursor, false); ok {
			t.Errorf("cursor %q is taken", cursor)
		}
	}
}
