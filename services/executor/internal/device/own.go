package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/zegate/zegate/services/executor/internal/backend"
	"github.com/zegate/zegate/services/executor/internal/command"
)

const (
	helpSyntax = "help"
	listSyntax = "command list"
)

// own is the commands that every device answers from its grammar, without a back end.
var own = []command.Command{
	{Syntax: helpSyntax, Summary: "Explain how commands are written and list those that may run here.", Access: command.Read, Examples: []string{"help"}},
	{Syntax: listSyntax, Summary: "List every command with its parameters, as JSON.", Access: command.Read, JSON: true, Examples: []string{"command list"}},
}

var answers = map[string]func(*Device, io.Writer){
	helpSyntax: (*Device).help,
	listSyntax: (*Device).list,
}

// A full collector keeps what fits and notes the rest, so what Write returns decides nothing here.

func (d *Device) help(w io.Writer) {
	_, _ = io.WriteString(w, "Keywords may be shortened while they stay unique. Commands that may run on "+d.cfg.Name+":\n")
	for _, c := range d.grammar.Commands() {
		if d.policy.Offers(c) {
			_, _ = fmt.Fprintf(w, "  %s: %s\n", c.Syntax, c.Summary)
		}
	}
}

func (d *Device) list(w io.Writer) {
	_, _ = w.Write(d.Commands())
}

// parameter describes a value of a command.
type parameter struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Accepts string `json:"accepts"`
	Summary string `json:"summary,omitzero"`
}

// entry describes a command.
type entry struct {
	Command     string      `json:"command"`
	Summary     string      `json:"summary"`
	Access      string      `json:"access"`
	Allowed     bool        `json:"allowed"`
	LongRunning bool        `json:"long-running,omitzero"`
	Parameters  []parameter `json:"parameters,omitzero"`
	Examples    []string    `json:"examples,omitzero"`
}

func (d *Device) entries() []entry {
	entries := make([]entry, 0, len(d.grammar.Commands()))
	for _, c := range d.grammar.Commands() {
		e := entry{Command: c.Syntax, Summary: c.Summary, Access: c.Access.String(), Allowed: d.policy.Offers(c), LongRunning: d.mayRunLong(c), Examples: c.Examples}
		for _, p := range c.Parameters() {
			e.Parameters = append(e.Parameters, parameter{Name: p.Name, Type: p.Kind.String(), Accepts: p.Wants(), Summary: p.Summary})
		}
		entries = append(entries, e)
	}
	return entries
}

// mayRunLong tells whether some form of a command runs long.
func (d *Device) mayRunLong(c *command.Command) bool {
	if d.cfg.LongRunning == nil {
		return c.LongRunning
	}
	return c.MayMatch(d.long)
}

// MayRunLong tells whether the device offers a command that runs long.
func (d *Device) MayRunLong() bool {
	for _, c := range d.grammar.Commands() {
		if d.policy.Offers(c) && d.mayRunLong(c) {
			return true
		}
	}
	return false
}

// ReadOnly tells whether no command that changes the device may run.
func (d *Device) ReadOnly() bool {
	for _, c := range d.grammar.Commands() {
		if c.Access == command.Write && d.policy.Offers(c) {
			return false
		}
	}
	return true
}

// Commands is every command that the device knows: {"commands":[...]}.
func (d *Device) Commands() []byte {
	return marshal(struct {
		Commands []entry `json:"commands"`
	}{d.entries()})
}

// factsTimeout bounds how long a reference waits for its device.
const factsTimeout = 2 * time.Second

type reference struct {
	Device  string `json:"device"`
	Backend string `json:"backend"`
	Zegate  string `json:"zegate"`
	// Facts is what the device tells, or NoFacts why it does not.
	Facts   *backend.Facts `json:"facts,omitzero"`
	NoFacts string         `json:"no-facts,omitzero"`
	Rules   struct {
		Line        string   `json:"line"`
		Read        []string `json:"read"`
		Write       []string `json:"write"`
		Deny        []string `json:"deny"`
		Concurrent  int      `json:"max-concurrent"`
		Timeout     string   `json:"timeout"`
		LongTimeout string   `json:"long-timeout"`
		MaxOutput   int      `json:"max-output-bytes"`
	} `json:"rules"`
	Commands []entry `json:"commands"`
}

// Reference describes the device, what it offers and under which rules, as JSON. It answers while the device is down, too.
func (d *Device) Reference(ctx context.Context, version string) []byte {
	ref := reference{Device: d.cfg.Name, Backend: d.cfg.Backend, Zegate: version, Commands: d.entries()}
	ref.Rules.Line = fmt.Sprintf("one line, at most %d bytes; keywords may be shortened while they stay unique, in any case", command.MaxLine)
	ref.Rules.Read, ref.Rules.Write, ref.Rules.Deny = d.cfg.Rules.Read, d.cfg.Rules.Write, d.cfg.Rules.Deny
	ref.Rules.Concurrent, ref.Rules.MaxOutput = d.cfg.MaxConcurrent, d.cfg.MaxOutputBytes
	ref.Rules.Timeout, ref.Rules.LongTimeout = d.cfg.Timeout.String(), d.cfg.LongTimeout.String()
	facts, err := d.facts(ctx)
	var f *command.Failure
	if errors.As(err, &f) {
		ref.NoFacts = f.Text()
	} else {
		ref.Facts = &facts
	}
	return marshal(ref)
}

// facts asks the device, under the same policy and limits as every command. An error is a *command.Failure.
func (d *Device) facts(ctx context.Context) (facts backend.Facts, err error) {
	if _, err := d.Plan(d.backend.FactsCommand()); err != nil {
		return facts, err
	}
	err = d.limited(ctx, factsTimeout, func(ctx context.Context) (err error) {
		facts, err = d.backend.Facts(ctx)
		return err
	})
	return facts, err
}

// marshal writes values of our own types, which always can be written.
func marshal(v any) []byte {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("marshal %T: %v", v, err))
	}
	return b
}
