package lifecycle

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Section is one top-level section of the settings that a process uses.
type Section struct {
	// Name is the section's key in the file.
	Name string
	// Config points to the struct that takes the section, filled with its defaults. Fields are named by yaml tags; a field
	// tagged `yaml:"-" env:"NAME"` is taken from the environment alone.
	Config any
}

// The services' sections. A process takes its own and leaves the others alone: all read one file.
var serviceSections = []string{"edge", "executor", "taskrunner"}

// settings is where the sections of a process come together.
type settings struct {
	sections []Section
	shared   *Shared
}

// load fills the sections: what the file says, over that the environment, over that the flags. Keys of flags are paths such
// as edge.listen.
func (s settings) load(file string, environ []string, flags map[string]string) error {
	if file != "" {
		if err := s.loadFile(file); err != nil {
			return err
		}
	}
	for _, key := range s.keys() {
		name := "ZEGATE_" + strings.ToUpper(strings.ReplaceAll(key.path, ".", "_"))
		if text, ok := lookup(environ, name); ok {
			if err := key.set(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if text, ok := flags[key.path]; ok {
			if err := key.set(text); err != nil {
				return fmt.Errorf("--%s: %w", flagName(key.path), err)
			}
		}
	}
	return s.shared.validate()
}

// loadFile takes what the file says of the sections. The sections of services that are not this process's are left alone.
func (s settings) loadFile(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	doc, err := parseDocument(file, text)
	if err != nil {
		return err
	}
	// One struct made of all sections, so that the top level is looked at like any other.
	var fields []reflect.StructField
	var targets []reflect.Value
	add := func(name string, target reflect.Value) {
		fields = append(fields, reflect.StructField{
			Name: "F" + strconv.Itoa(len(fields)), Type: target.Type(), Tag: reflect.StructTag(`yaml:"` + name + `"`),
		})
		targets = append(targets, target)
	}
	for _, section := range s.sections {
		add(section.Name, reflect.ValueOf(section.Config).Elem())
	}
	for _, name := range serviceSections {
		if !slices.ContainsFunc(s.sections, func(section Section) bool { return section.Name == name }) {
			var other any
			add(name, reflect.ValueOf(&other).Elem())
		}
	}
	shared := reflect.ValueOf(s.shared).Elem()
	for i := range shared.NumField() {
		add(yamlName(shared.Type().Field(i)), shared.Field(i))
	}
	root := reflect.New(reflect.StructOf(fields)).Elem()
	for i, target := range targets {
		root.Field(i).Set(target)
	}
	if err := doc.assign(doc.root, root, ""); err != nil {
		return err
	}
	for i, target := range targets {
		target.Set(root.Field(i))
	}
	return nil
}

// key is one setting that a text can be set to.
type key struct {
	path  string
	field reflect.Value
}

// keys are all settings but those in lists of structs, which only the file can hold.
func (s settings) keys() []key {
	var keys []key
	for _, section := range s.sections {
		keys = appendKeys(keys, section.Name, reflect.ValueOf(section.Config).Elem())
	}
	shared := reflect.ValueOf(s.shared).Elem()
	for i := range shared.NumField() {
		keys = appendKeys(keys, yamlName(shared.Type().Field(i)), shared.Field(i))
	}
	return keys
}

func appendKeys(keys []key, path string, v reflect.Value) []key {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := yamlName(f)
		if env := f.Tag.Get("env"); env != "" {
			name = strings.ToLower(env)
		}
		if name == "" {
			continue
		}
		here := path + "." + name
		switch field := v.Field(i); {
		case field.Kind() == reflect.Struct:
			keys = appendKeys(keys, here, field)
		case field.Kind() != reflect.Slice || field.Type().Elem().Kind() == reflect.String:
			keys = append(keys, key{here, field})
		}
	}
	return keys
}

// set parses a text as the setting's type; a list of texts is separated by commas.
func (k key) set(text string) error {
	if k.field.Kind() == reflect.Slice {
		list := []string{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		k.field.Set(reflect.ValueOf(list))
		return nil
	}
	if k.field.Kind() == reflect.String {
		k.field.SetString(text)
		return nil
	}
	value := reflect.New(k.field.Type())
	if err := yaml.Unmarshal([]byte(text), value.Interface()); err != nil || text == "" {
		return fmt.Errorf("%q is not %s", text, describe(k.field.Type()))
	}
	k.field.Set(value.Elem())
	return nil
}

// yamlName is a field's key; empty for a field that is no setting of the file.
func yamlName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func lookup(environ []string, name string) (string, bool) {
	// As with the shell, the last one counts.
	for _, e := range slices.Backward(environ) {
		if n, value, ok := strings.Cut(e, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// flagName is the flag of a key: edge.admin_listen is --admin-listen.
func flagName(path string) string {
	_, name, _ := strings.Cut(path, ".")
	return strings.ReplaceAll(strings.ReplaceAll(name, "_", "-"), ".", "-")
}
