package command

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Access says whether a command changes its device. It is ours to say: a daemon's own flag is no basis for policy.
type Access uint8

const (
	// Read changes nothing.
	Read Access = iota + 1
	// Write changes something.
	Write
)

// String is "read" or "write".
func (a Access) String() string {
	if a == Write {
		return "write"
	}
	return "read"
}

// Command is one command that a device offers.
type Command struct {
	// Syntax is the command as a reader sees it, unique in its grammar: "show bgp peer <selector> detail".
	Syntax string
	// Elements is the command's shape, in order. Empty means that NewGrammar reads it from Syntax.
	Elements []Element
	// Params describes the values in Syntax, by name. Not used where Elements is given.
	Params map[string]Param
	// Summary says in one sentence what the command does.
	Summary string
	// Access says whether the command changes the device.
	Access Access
	// LongRunning commands may take longer than a caller likes to wait.
	LongRunning bool
	// Configuration commands print configuration: secrets in their output are masked.
	Configuration bool
	// JSON commands print a JSON document.
	JSON bool
	// Narrow says how to get less output, for the note under an output that was cut; may be empty.
	Narrow string
	// Examples are lines that resolve to this command.
	Examples []string

	graph graph
}

// Element is one place in a command's shape. Exactly one field is set.
type Element struct {
	// Keyword is a fixed word, in lower case.
	Keyword string
	// Param is a value.
	Param *Param
	// Choice is exactly one of several sequences.
	Choice [][]Element
	// Optional is a sequence that may be left out.
	Optional []Element
}

// Kind is the type of a value.
type Kind uint8

// Kinds. The zero Kind takes any word.
const (
	// Text is any word; its case is kept.
	Text Kind = iota
	// Peer selects peers: an address, a name, or * for all of them.
	Peer
	// Address is an IP address.
	Address
	// Prefix is an IP prefix, or an address for the most specific prefix that holds it.
	Prefix
	// Duration is a time such as 30s or 2m; a bare number is seconds.
	Duration
	// Number is a decimal integer.
	Number
)

var kindNames = map[Kind]string{Text: "text", Peer: "peer", Address: "address", Prefix: "prefix", Duration: "duration", Number: "number"}

// String is the kind's name in a machine-readable reference.
func (k Kind) String() string { return kindNames[k] }

// Param describes a value.
type Param struct {
	// Name is unique in its command.
	Name string
	// Kind is the type.
	Kind Kind
	// Min and Max bound a Number, and a Duration in nanoseconds; both 0 means unbounded.
	Min, Max int64
	// Summary says what the value means; may be empty.
	Summary string
}

// Wants says what fits, for a message: "a prefix such as 192.0.2.0/24".
func (p Param) Wants() string {
	switch p.Kind {
	case Peer:
		return "a peer's address, its name, or * for every peer"
	case Address:
		return "an address such as 192.0.2.1 or 2001:db8::1"
	case Prefix:
		return "a prefix such as 192.0.2.0/24 or 2001:db8::/32, or an address"
	case Duration:
		if p.bounded() {
			return fmt.Sprintf("a duration from %s to %s, such as 30s", shortDuration(p.Min), shortDuration(p.Max))
		}
		return "a duration such as 30s"
	case Number:
		if p.bounded() {
			return fmt.Sprintf("a number from %d to %d", p.Min, p.Max)
		}
		return "a number"
	}
	return "a word"
}

func (p Param) bounded() bool { return p.Min != 0 || p.Max != 0 }

func (p Param) within(n int64) bool { return !p.bounded() || p.Min <= n && n <= p.Max }

// accept tells whether a word fits, and returns its one canonical spelling: 2001:DB8:0::1 and 2001:db8::1 are the same
// address to a device, so they must be the same word to policy.
func (p Param) accept(word string) (string, bool) {
	switch p.Kind {
	case Peer:
		if a, err := netip.ParseAddr(word); err == nil {
			return a.Unmap().String(), true
		}
		return word, true
	case Address:
		a, err := netip.ParseAddr(word)
		return a.Unmap().String(), err == nil
	case Prefix:
		if a, err := netip.ParseAddr(word); err == nil {
			return a.Unmap().String(), true
		}
		pfx, err := netip.ParsePrefix(word)
		return pfx.Masked().String(), err == nil
	case Duration:
		d, err := parseDuration(word)
		return shortDuration(int64(d)), err == nil && p.within(int64(d))
	case Number:
		n, err := strconv.ParseInt(word, 10, 64)
		return strconv.FormatInt(n, 10), err == nil && p.within(n)
	}
	return word, true
}

// shortDuration writes 10m, where time.Duration writes 10m0s.
func shortDuration(n int64) string {
	s := time.Duration(n).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseDuration(word string) (time.Duration, error) {
	if _, err := strconv.ParseUint(word, 10, 32); err == nil {
		word += "s"
	}
	return time.ParseDuration(word)
}

// parseSyntax reads the notation of Command.Syntax: words, <value>, [may be left out], (one|of|these).
func parseSyntax(syntax string, params map[string]Param) ([]Element, error) {
	p := syntaxParser{params: params}
	for _, c := range []string{"[", "]", "(", ")", "|"} {
		syntax = strings.ReplaceAll(syntax, c, " "+c+" ")
	}
	p.tokens = strings.Fields(syntax)
	seq, err := p.sequence()
	if err != nil {
		return nil, err
	}
	if len(p.tokens) > 0 {
		return nil, fmt.Errorf("unexpected %q", p.tokens[0])
	}
	return seq, nil
}

type syntaxParser struct {
	tokens []string
	params map[string]Param
}

func (p *syntaxParser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

// sequence reads up to a closing bracket, a bar, or the end, which it leaves in place.
func (p *syntaxParser) sequence() ([]Element, error) {
	var seq []Element
	for len(p.tokens) > 0 && !slices.Contains([]string{"]", ")", "|"}, p.tokens[0]) {
		e, err := p.element(p.next())
		if err != nil {
			return nil, err
		}
		seq = append(seq, e)
	}
	if len(seq) == 0 {
		return nil, fmt.Errorf("nothing where a word was expected")
	}
	return seq, nil
}

func (p *syntaxParser) element(token string) (Element, error) {
	name, isParam := strings.CutPrefix(token, "<")
	switch {
	case token == "[":
		seq, err := p.sequence()
		if err == nil && p.next() != "]" {
			err = fmt.Errorf("[ without ]")
		}
		return Element{Optional: seq}, err
	case token == "(":
		var choice [][]Element
		for {
			seq, err := p.sequence()
			if err != nil {
				return Element{}, err
			}
			choice = append(choice, seq)
			switch p.next() {
			case "|":
			case ")":
				return Element{Choice: choice}, nil
			default:
				return Element{}, fmt.Errorf("( without )")
			}
		}
	case isParam && strings.HasSuffix(name, ">"):
		name = strings.TrimSuffix(name, ">")
		param, known := p.params[name]
		if !known {
			return Element{}, fmt.Errorf("the value <%s> is not described", name)
		}
		param.Name = name
		return Element{Param: &param}, nil
	}
	return Element{Keyword: token}, nil
}
