package lifecycle

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// explain turns an error of the YAML library into one that says where, what, and what to write instead.
func explain(file string, text []byte, root reflect.Type, err error) error {
	var unknown *yaml.UnknownFieldError
	var wrongType *yaml.TypeError
	var duplicate *yaml.DuplicateKeyError
	switch {
	case errors.As(err, &unknown):
		path := pathAt(text, unknown.Token)
		name := path[len(path)-1]
		message := fmt.Sprintf("%s:%d: %s: unknown key", file, unknown.Token.Position.Line, joinPath(path))
		known := keysAt(root, path[:len(path)-1])
		if near := nearest(name, known); near != "" {
			return fmt.Errorf("%s; did you mean %s?", message, near)
		}
		return fmt.Errorf("%s; known here: %s", message, strings.Join(known, ", "))
	case errors.As(err, &wrongType):
		return fmt.Errorf("%s:%d: %s: write %s", file, wrongType.Token.Position.Line, joinPath(pathAt(text, wrongType.Token)), describe(wrongType.DstType))
	case errors.As(err, &duplicate):
		return fmt.Errorf("%s:%d: %s: the key comes twice; keep one", file, duplicate.Token.Position.Line, joinPath(pathAt(text, duplicate.Token)))
	}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%d: %s", file, syntax.Token.Position.Line, syntax.Message)
	}
	return fmt.Errorf("%s: %s", file, strings.TrimSpace(yaml.FormatError(err, false, false)))
}

// pathAt is the chain of keys that leads to the token.
func pathAt(text []byte, t *token.Token) []string {
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return []string{t.Value}
	}
	v := &finder{at: t.Position.Offset}
	for _, doc := range f.Docs {
		if doc.Body != nil {
			v.find(doc.Body, nil)
		}
	}
	if v.found == nil {
		return []string{t.Value}
	}
	return v.found
}

// finder looks for the innermost key or value that starts at an offset.
type finder struct {
	at    int
	found []string
}

func (f *finder) find(n ast.Node, path []string) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			f.find(v, path)
		}
	case *ast.MappingValueNode:
		here := append(path[:len(path):len(path)], n.Key.GetToken().Value)
		if n.Key.GetToken().Position.Offset == f.at {
			f.found = here
		}
		f.find(n.Value, here)
	case *ast.SequenceNode:
		for i, v := range n.Values {
			f.find(v, append(path[:len(path):len(path)], fmt.Sprintf("[%d]", i)))
		}
	default:
		if n != nil && n.GetToken() != nil && n.GetToken().Position.Offset == f.at && len(path) > 0 {
			f.found = path
		}
	}
}

func joinPath(path []string) string {
	return strings.ReplaceAll(strings.Join(path, "."), ".[", "[")
}

// keysAt are the keys that may stand at a path.
func keysAt(t reflect.Type, path []string) []string {
	for _, name := range path {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && !strings.HasPrefix(name, "[") {
			t = t.Elem()
		}
		if strings.HasPrefix(name, "[") && t.Kind() == reflect.Slice {
			t = t.Elem()
			continue
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		for i := range t.NumField() {
			if yamlName(t.Field(i)) == name {
				t = t.Field(i).Type
				break
			}
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		if name := yamlName(t.Field(i)); name != "" {
			names = append(names, name)
		}
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
	case reflect.Struct, reflect.Map:
		return "a section with keys of its own"
	default:
		return "a whole number"
	}
}

// nearest is the known name that is at most two edits away, or a third of its length.
func nearest(name string, known []string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(name, k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
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
