// Package mcptest is what tests need to judge an MCP server from outside: a checker of answers against the revision's JSON
// schema, and a client that sends any request, right or wrong, and has every answer checked.
package mcptest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaDirEnv names the environment variable that names the folder of the revision's schemas. A relative path counts from
// the root of the module, whatever package is being tested.
const SchemaDirEnv = "ZEGATE_MCP_SCHEMA_DIR"

// Files of the schema folder.
const (
	coreFile  = "mcp-2026-07-28.schema.json"
	tasksFile = "ext-tasks.schema.json"
)

// Checker judges what a server of MCP 2026-07-28 sent. The zero Checker knows the rules that need no schema: the shape of
// JSON-RPC, statuses, streams, and what this server promises beyond the revision. It is safe for concurrent use.
type Checker struct {
	schemas  bool
	compiler *jsonschema.Compiler

	mu       sync.Mutex // the compiler and the map are not safe by themselves
	compiled map[string]*jsonschema.Schema
}

// NewChecker reads the schemas from a folder. They are complete in themselves: nothing is fetched.
func NewChecker(dir string) (*Checker, error) {
	c := &Checker{schemas: true, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.UseLoader(refuseLoading{})
	c.compiler.AssertFormat()
	c.compiler.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: validateBase64})
	for _, name := range []string{coreFile, tasksFile} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("schemas: %w", err)
		}
		doc, err := jsonschema.UnmarshalJSON(f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("schemas: %s: %w", name, err)
		}
		if err := c.compiler.AddResource(resource(name), doc); err != nil {
			return nil, fmt.Errorf("schemas: %s: %w", name, err)
		}
	}
	return c, nil
}

func resource(name string) string { return "mem:///" + name }

type refuseLoading struct{}

func (refuseLoading) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not loaded: tests use no network", url)
}

func validateBase64(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := base64.StdEncoding.Strict().DecodeString(s)
	return err
}

var fromEnv = sync.OnceValues(func() (*Checker, error) {
	dir := os.Getenv(SchemaDirEnv)
	if dir == "" {
		fmt.Fprintf(os.Stderr, "mcptest: WARNING: %s is not set: answers are NOT checked against the revision's JSON schema, only against rules that need none\n", SchemaDirEnv)
		return &Checker{}, nil
	}
	dir, err := fromModuleRoot(dir)
	if err != nil {
		return nil, err
	}
	return NewChecker(dir)
})

// fromModuleRoot makes a path absolute. Tests run in the folder of their package, so a relative path would mean another
// folder in each.
func fromModuleRoot(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, path), nil
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", fmt.Errorf("%q is relative and no go.mod is above the working folder: write an absolute path", path)
		}
		root = parent
	}
}

// FromEnv is the checker of the folder that SchemaDirEnv names. Without the variable it is the zero Checker, and standard
// error says so, once for each test binary.
func FromEnv() (*Checker, error) { return fromEnv() }

// CheckAnswer fails the test when an HTTP answer to a request of this method is not what the revision allows; see
// Checker.Answer.
func CheckAnswer(t testing.TB, method string, status int, contentType string, body []byte) {
	t.Helper()
	c, err := FromEnv()
	if err != nil {
		t.Fatalf("%s: %v", SchemaDirEnv, err)
	}
	if err := c.Answer(method, status, contentType, body); err != nil {
		t.Errorf("answer to %s (HTTP %d, %s): %v\n%s", method, status, contentType, err, body)
	}
}

// Definition checks a JSON text against one definition of the core schema, such as "ListToolsResult".
func (c *Checker) Definition(name string, text []byte) error { return c.check(coreFile, name, text) }

// TasksDefinition checks a JSON text against one definition of the tasks extension's schema, such as "GetTaskResult".
func (c *Checker) TasksDefinition(name string, text []byte) error {
	return c.check(tasksFile, name, text)
}

func (c *Checker) check(file, name string, text []byte) error {
	v, err := parse(text)
	if err != nil || !c.schemas {
		return err
	}
	s, err := c.schema(resource(file) + "#/$defs/" + name)
	if err != nil {
		return err
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("not a %s: %w", name, err)
	}
	return nil
}

func (c *Checker) schema(url string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[url]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", url, err)
	}
	c.compiled[url] = s
	return s, nil
}

// isSchema tells what keeps a document from being a JSON Schema.
func (c *Checker) isSchema(doc any) error {
	if !c.schemas {
		return nil
	}
	const url = "mem:///schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(refuseLoading{})
	if err := compiler.AddResource(url, doc); err != nil {
		return err
	}
	_, err := compiler.Compile(url)
	return err
}

// parse reads one JSON text strictly: valid UTF-8, no name twice in an object, nothing behind the value.
func parse(text []byte) (any, error) {
	if !jsontext.Value(text).IsValid() {
		return nil, errors.New("not strict JSON: malformed, a name twice in one object, invalid UTF-8, or more than one value")
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}
