package lifecycle

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// document is a file of settings. The library parses it; what is in it is assigned here, since its decoder rounds fractions,
// clears what a null stands for, and does not say which key was wrong.
type document struct {
	file string
	root ast.Node // nil when the file says nothing
}

func parseDocument(file string, text []byte) (*document, error) {
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: %s", file, syntax.Token.Position.Line, syntax.Message)
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d := &document{file: file}
	for _, doc := range f.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if d.root != nil {
			return nil, fmt.Errorf("%s: holds more than one document; keep one", file)
		}
		d.root = doc.Body
	}
	return d, nil
}

// assign sets v to what a node says. A null says nothing.
func (d *document) assign(n ast.Node, v reflect.Value, path string) error {
	if n == nil || n.Type() == ast.NullType {
		return nil
	}
	wrong := func() error {
		return fmt.Errorf("%s:%d: %s: write %s", d.file, n.GetToken().Position.Line, strings.TrimPrefix(path, "."), describe(v.Type()))
	}
	switch {
	case v.Kind() == reflect.Pointer:
		value := reflect.New(v.Type().Elem())
		if err := d.assign(n, value.Elem(), path); err != nil {
			return err
		}
		v.Set(value)
	case v.Kind() == reflect.Struct:
		return d.assignStruct(n, v, path, wrong)
	case v.Kind() == reflect.Slice:
		items, ok := n.(*ast.SequenceNode)
		if !ok {
			return wrong()
		}
		list := reflect.MakeSlice(v.Type(), len(items.Values), len(items.Values))
		for i, item := range items.Values {
			if err := d.assign(item, list.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		v.Set(list)
	case v.Kind() == reflect.Interface:
		// Another service's section.
	case !scalarFits(n, v.Type()) || yaml.NodeToValue(n, v.Addr().Interface()) != nil:
		return wrong()
	}
	return nil
}

func (d *document) assignStruct(n ast.Node, v reflect.Value, path string, wrong func() error) error {
	var members []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		members = n.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{n}
	default:
		return wrong()
	}
	seen := map[string]bool{}
	for _, m := range members {
		name := m.Key.GetToken().Value
		here := path + "." + name
		line := m.Key.GetToken().Position.Line
		if seen[name] {
			return fmt.Errorf("%s:%d: %s: the key comes twice; keep one", d.file, line, strings.TrimPrefix(here, "."))
		}
		seen[name] = true
		known := yamlNames(v.Type())
		i := slices.Index(known, name)
		if i < 0 || name == "" {
			return fmt.Errorf("%s:%d: %s: unknown key; %s", d.file, line, strings.TrimPrefix(here, "."), suggest(name, known))
		}
		if err := d.assign(m.Value, v.Field(i), here); err != nil {
			return err
		}
	}
	return nil
}

// scalarFits tells whether a node is written as a type asks.
func scalarFits(n ast.Node, t reflect.Type) bool {
	kind := n.Type()
	switch {
	case t == reflect.TypeFor[time.Duration]():
		_, err := time.ParseDuration(n.GetToken().Value)
		return err == nil
	case t.Kind() == reflect.String:
		return kind == ast.StringType || kind == ast.LiteralType || kind == ast.IntegerType || kind == ast.FloatType || kind == ast.BoolType
	case t.Kind() == reflect.Bool:
		return kind == ast.BoolType
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return kind == ast.FloatType || kind == ast.IntegerType
	}
	return kind == ast.IntegerType
}

// yamlNames are the keys of a struct's fields, by their index; empty for a field that is no setting of the file.
func yamlNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = yamlName(t.Field(i))
	}
	return names
}

// describe says what a setting of a type is written as.
func describe(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration such as 10s or 5m"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "a section with keys of its own"
	default:
		return "a whole number"
	}
}

// suggest names the known key that was probably meant, or else all of them.
func suggest(name string, known []string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(name, k); k != "" && d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "known here: " + strings.Join(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" }), ", ")
}

// editDistance is the number of letters to insert, drop or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
