package command

import (
	"fmt"
	"slices"
	"strings"
)

// Grammar is the commands that a device offers. It does not change; a device whose commands change gets a new one.
type Grammar struct {
	commands []*Command
}

// NewGrammar makes a grammar, with its commands sorted by syntax. It refuses a command without a summary or access, a keyword
// that Parse would never let through, and two commands of the same syntax.
func NewGrammar(commands []Command) (*Grammar, error) {
	g := &Grammar{commands: make([]*Command, 0, len(commands))}
	seen := make(map[string]bool, len(commands))
	for _, c := range commands {
		if seen[c.Syntax] {
			return nil, fmt.Errorf("command %q: listed twice", c.Syntax)
		}
		seen[c.Syntax] = true
		if c.Summary == "" || c.Access == 0 {
			return nil, fmt.Errorf("command %q: has no summary or no access", c.Syntax)
		}
		if len(c.Elements) == 0 {
			var err error
			if c.Elements, err = parseSyntax(c.Syntax, c.Params); err != nil {
				return nil, fmt.Errorf("command %q: %w", c.Syntax, err)
			}
		}
		if err := c.graph.build(c.Elements); err != nil {
			return nil, fmt.Errorf("command %q: %w", c.Syntax, err)
		}
		g.commands = append(g.commands, &c)
	}
	slices.SortFunc(g.commands, func(a, b *Command) int { return strings.Compare(a.Syntax, b.Syntax) })
	return g, nil
}

// Commands is every command, sorted by syntax. The caller must not change them.
func (g *Grammar) Commands() []*Command { return g.commands }

// With is a grammar of these commands and more. A command that the grammar has already is kept.
func (g *Grammar) With(more []Command) (*Grammar, error) {
	all := make([]Command, 0, len(g.commands)+len(more))
	for _, c := range g.commands {
		all = append(all, Command{
			Syntax: c.Syntax, Elements: c.Elements, Params: c.Params, Summary: c.Summary, Access: c.Access, LongRunning: c.LongRunning,
			Configuration: c.Configuration, JSON: c.JSON, Narrow: c.Narrow, Examples: c.Examples,
		})
	}
	for _, c := range more {
		if !slices.ContainsFunc(g.commands, func(has *Command) bool { return has.Syntax == c.Syntax }) {
			all = append(all, c)
		}
	}
	return NewGrammar(all)
}

// Parameters is the values that a command takes, in the order in which they first appear.
func (c *Command) Parameters() []Param {
	var params []Param
	var walk func([]Element)
	walk = func(seq []Element) {
		for _, e := range seq {
			if e.Param != nil && !slices.ContainsFunc(params, func(p Param) bool { return p.Name == e.Param.Name }) {
				params = append(params, *e.Param)
			}
			walk(e.Optional)
			for _, alt := range e.Choice {
				walk(alt)
			}
		}
	}
	walk(c.Elements)
	return params
}

// graph is a command's shape as an automaton without empty moves: node 0 is the start, an edge takes one word.
type graph struct {
	nodes []node
}

type node struct {
	edges []edge
	end   bool // the command may end here
}

type edge struct {
	keyword string // or
	param   *Param
	to      int
}

func (g *graph) build(seq []Element) error {
	g.nodes = []node{{}}
	ends, err := g.add(seq, []int{0})
	for _, n := range ends {
		g.nodes[n].end = true
	}
	if err == nil && g.nodes[0].end {
		err = fmt.Errorf("may be empty")
	}
	return err
}

// add appends a sequence behind each node of from, and returns the nodes where it may end.
func (g *graph) add(seq []Element, from []int) ([]int, error) {
	for _, e := range seq {
		switch {
		case e.Choice != nil:
			var ends []int
			for _, alt := range e.Choice {
				to, err := g.add(alt, from)
				if err != nil {
					return nil, err
				}
				ends = append(ends, to...)
			}
			from = ends
		case e.Optional != nil:
			to, err := g.add(e.Optional, from)
			if err != nil {
				return nil, err
			}
			from = append(slices.Clone(from), to...)
		case e.Param == nil && !keyword(e.Keyword):
			return nil, fmt.Errorf("%q cannot be a keyword", e.Keyword)
		default:
			to := len(g.nodes)
			g.nodes = append(g.nodes, node{})
			for _, n := range from {
				g.nodes[n].edges = append(g.nodes[n].edges, edge{keyword: e.Keyword, param: e.Param, to: to})
			}
			from = []int{to}
		}
	}
	return from, nil
}

func keyword(word string) bool {
	return word != "" && word == strings.ToLower(word) && strings.IndexFunc(word, func(r rune) bool { return !wordRune(r) }) < 0
}

// label is how an edge looks in a message.
func (e edge) label() string {
	if e.param != nil {
		return "<" + e.param.Name + ">"
	}
	return e.keyword
}
