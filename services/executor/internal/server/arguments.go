package server

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/executor/internal/command"
)

const (
	commandArgument = "command"
	deviceArgument  = "device"
)

// arguments is the members of the arguments object, undecoded: numbers keep their digits.
type arguments map[string]jsontext.Value

// parseArguments reads an object, strictly: one value, valid UTF-8, no name twice. Empty means no arguments.
func parseArguments(b []byte) (arguments, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	malformed := func(err error) error {
		return fault.Wrap(err, fault.InvalidParams, "invalid params: arguments must be one JSON object, with no name twice")
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	if d.PeekKind() != jsontext.KindBeginObject {
		return nil, malformed(nil)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, malformed(err)
	}
	args := make(arguments)
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, malformed(err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, malformed(err)
		}
		args[key] = value.Clone()
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, malformed(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, malformed(err)
	}
	return args, nil
}

// only refuses an argument that a tool does not take: to drop it in silence would hide a mistake.
func (a arguments) only(names ...string) error {
	unknown := make([]string, 0, len(a))
	for name := range a {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	takes := "the tool takes none"
	if len(names) > 0 {
		takes = "the tool takes: " + strings.Join(names, ", ")
	}
	return command.Fail(command.InvalidArgument, "unknown argument %q; %s", shorten(unknown[0]), takes)
}

// shorten bounds a name that a caller made up, before it is said back.
func shorten(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "..."
}

// text is a required string argument. Null and blank are as good as missing.
func (a arguments) text(name string) (string, error) {
	value, given := a[name]
	if !given || value.Kind() == jsontext.KindNull {
		return "", command.Fail(command.MissingArgument, "%s", name)
	}
	if value.Kind() != jsontext.KindString {
		return "", command.Fail(command.InvalidArgument, "%s must be a string", name)
	}
	b, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidParams, "invalid params: arguments.%s is not a valid JSON string", name)
	}
	if strings.TrimSpace(string(b)) == "" {
		return "", command.Fail(command.MissingArgument, "%s", name)
	}
	return string(b), nil
}
