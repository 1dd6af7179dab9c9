package command

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// sample has what makes resolving hard: keywords that start alike, a keyword where a value may stand, options, choices.
func sample(t testing.TB) *Grammar {
	t.Helper()
	peer := map[string]Param{"selector": {Kind: Peer}}
	g, err := NewGrammar([]Command{
		{Syntax: "show bgp", Summary: "s", Access: Read},
		{Syntax: "show bgp summary", Summary: "s", Access: Read},
		{Syntax: "show bgp peer list", Summary: "s", Access: Read},
		{Syntax: "show bgp peer <selector> detail", Params: peer, Summary: "s", Access: Read},
		{Syntax: "show bgp rib [<prefix>]", Params: map[string]Param{"prefix": {Kind: Prefix}}, Summary: "s", Access: Read},
		{Syntax: "show bgp rib best", Summary: "s", Access: Read},
		{Syntax: "show version", Summary: "s", Access: Read},
		{Syntax: "show vrf", Summary: "s", Access: Read},
		{Syntax: "show vrfs all", Summary: "s", Access: Read},
		{Syntax: "monitor bgp [<duration>]", Params: map[string]Param{"duration": {Kind: Duration, Min: 1e9, Max: 6e11}}, Summary: "s", Access: Read},
		{Syntax: "show log [last <count>] [(error|warning)]", Params: map[string]Param{"count": {Kind: Number, Min: 1, Max: 100}}, Summary: "s", Access: Read},
		{Syntax: "show route <address>", Params: map[string]Param{"address": {Kind: Address}}, Summary: "s", Access: Read},
		{Syntax: "clear bgp peer <selector> [soft]", Params: peer, Summary: "s", Access: Write},
		{Syntax: "request bgp peer <selector> (shutdown|enable)", Params: peer, Summary: "s", Access: Write},
		{Syntax: "configure terminal", Summary: "s", Access: Write},
		{Syntax: "describe <text>", Params: map[string]Param{"text": {}}, Summary: "s", Access: Read},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestResolve(t *testing.T) {
	g := sample(t)
	for _, tc := range []struct {
		line   string
		full   string
		syntax string
		values map[string]string
		class  Class
		says   []string
	}{
		{line: "show bgp summary", full: "show bgp summary"},
		{line: "sh bgp su", full: "show bgp summary"},
		{line: "SHOW BGP SUMMARY", full: "show bgp summary"},
		{line: "show bgp", full: "show bgp"},
		{line: "conf t", full: "configure terminal"},
		{line: "cl bgp peer *", full: "clear bgp peer *", values: map[string]string{"selector": "*"}},
		{line: "CLEAR BGP PEER Edge-1 SO", full: "clear bgp peer Edge-1 soft", values: map[string]string{"selector": "Edge-1"}},
		{line: "sh b p l", full: "show bgp peer list"},
		{line: "show bgp peer list detail", full: "show bgp peer list detail", syntax: "show bgp peer <selector> detail", values: map[string]string{"selector": "list"}},
		{line: "show bgp peer 2001:DB8:0::1 det", full: "show bgp peer 2001:db8::1 detail", values: map[string]string{"selector": "2001:db8::1"}},
		{line: "show bgp peer ::ffff:192.0.2.1 det", full: "show bgp peer 192.0.2.1 detail"},
		{line: "show bgp rib", full: "show bgp rib", syntax: "show bgp rib [<prefix>]"},
		{line: "show bgp rib 192.0.2.9/24", full: "show bgp rib 192.0.2.0/24", values: map[string]string{"prefix": "192.0.2.0/24"}},
		{line: "show bgp rib 192.0.2.9", full: "show bgp rib 192.0.2.9"},
		{line: "show bgp rib b", full: "show bgp rib best"},
		{line: "sho vrf", full: "show vrf"}, // an exact keyword is no abbreviation of a longer one
		{line: "sh vrf all", full: "show vrfs all"},
		{line: "show v", class: UnknownCommand, says: []string{"ambiguous", "show version", "show vrf"}},
		{line: "monitor bgp", full: "monitor bgp"},
		{line: "mon bgp 30", full: "monitor bgp 30s", values: map[string]string{"duration": "30s"}},
		{line: "mon bgp 600s", full: "monitor bgp 10m"},
		{line: "mon bgp 1h", class: InvalidArgument, says: []string{`"1h"`, "from 1s to 10m"}},
		{line: "mon bgp -5s", class: InvalidArgument},
		{line: "show log", full: "show log"},
		{line: "show log last 5 err", full: "show log last 5 error", values: map[string]string{"count": "5"}},
		{line: "show log warning", full: "show log warning"},
		{line: "show log error last 5", class: UnknownCommand, says: []string{"nothing may follow"}},
		{line: "show log last 0", class: InvalidArgument, says: []string{"from 1 to 100"}},
		{line: "show route 192.0.2.0/24", class: InvalidArgument, says: []string{"an address"}},
		{line: "request bgp peer x", class: Incomplete, says: []string{"request bgp peer x", "enable", "shutdown"}},
		{line: "show bgp peer", class: Incomplete, says: []string{"list", "or a peer's address"}},
		{line: "show", class: Incomplete, says: []string{"bgp", "version"}},
		{line: "shwo bgp", class: UnknownCommand, says: []string{`"shwo"`, "did you mean show?"}},
		{line: "exec rm", class: UnknownCommand, says: []string{`"exec"`, "commands start with: clear, configure, describe, monitor, request, show"}},
		{line: "show bgp summery", class: UnknownCommand, says: []string{`"summery" after "show bgp"`, "did you mean summary?", "or nothing"}},
		{line: "show bgp summary now", class: UnknownCommand, says: []string{`nothing may follow "show bgp summary"`, "now"}},
		{line: "show bgp rib banana", class: UnknownCommand, says: []string{"best", "a prefix such as"}},
		{line: "describe Anything", full: "describe Anything", values: map[string]string{"text": "Anything"}},
	} {
		words, err := Parse(tc.line)
		if err != nil {
			t.Fatalf("%q: %v", tc.line, err)
		}
		inv, err := g.Resolve(words)
		if class(err) != tc.class || inv.Line() != tc.full {
			t.Errorf("%q became %q, %v; want %q, class %v", tc.line, inv.Line(), err, tc.full, tc.class)
			continue
		}
		for _, s := range tc.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q: %q does not say %q", tc.line, err, s)
			}
		}
		if tc.syntax != "" && inv.Command.Syntax != tc.syntax {
			t.Errorf("%q became the command %q, want %q", tc.line, inv.Command.Syntax, tc.syntax)
		}
		for name, v := range tc.values {
			if inv.Values[name] != v {
				t.Errorf("%q: %s is %q, want %q", tc.line, name, inv.Values[name], v)
			}
		}
	}
}

func TestUnresolvedSaysWhatTheLineCouldHaveBeen(t *testing.T) {
	g := sample(t)
	_, err := g.Resolve([]string{"cl", "bgp", "*"})
	var u *Unresolved
	if !errors.As(err, &u) {
		t.Fatalf("%v is no *Unresolved", err)
	}
	if got := strings.Join(u.Words, " "); got != "clear bgp" {
		t.Errorf("understood %q, want clear bgp", got)
	}
	if len(u.Reach) != 1 || u.Reach[0].Syntax != "clear bgp peer <selector> [soft]" {
		t.Errorf("reach %v", u.Reach)
	}
	_, err = g.Resolve([]string{"xyzzy"})
	if !errors.As(err, &u) || u.Reach != nil {
		t.Errorf("a word that means nothing reaches %v", u.Reach)
	}
}

func TestGrammarRefuses(t *testing.T) {
	ok := Command{Syntax: "show version", Summary: "s", Access: Read}
	for name, tc := range map[string]struct {
		commands []Command
		says     string
	}{
		"twice":             {[]Command{ok, ok}, "listed twice"},
		"no summary":        {[]Command{{Syntax: "show", Access: Read}}, "no summary"},
		"no access":         {[]Command{{Syntax: "show", Summary: "s"}}, "no access"},
		"upper case":        {[]Command{{Syntax: "Show", Summary: "s", Access: Read}}, `"Show" cannot be a keyword`},
		"unwritable":        {[]Command{{Syntax: "show|all", Summary: "s", Access: Read}}, "unexpected"},
		"undescribed value": {[]Command{{Syntax: "show <x>", Summary: "s", Access: Read}}, "<x> is not described"},
		"open bracket":      {[]Command{{Syntax: "show [all", Summary: "s", Access: Read}}, "[ without ]"},
		"open parenthesis":  {[]Command{{Syntax: "show (a|b", Summary: "s", Access: Read}}, "( without )"},
		"empty choice":      {[]Command{{Syntax: "show (a|)", Summary: "s", Access: Read}}, "nothing where"},
		"all optional":      {[]Command{{Syntax: "[show]", Summary: "s", Access: Read}}, "may be empty"},
		"empty":             {[]Command{{Summary: "s", Access: Read}}, "nothing where"},
	} {
		if _, err := NewGrammar(tc.commands); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
}

// A back end that learns its commands from a daemon builds shapes itself; a thousand of them still resolve.
func TestLearnedGrammar(t *testing.T) {
	var commands []Command
	for i := range 1000 {
		word := "k" + strings.Repeat("x", i%10) + string(rune('a'+i/10%26)) + string(rune('a'+i/260))
		commands = append(commands, Command{
			Syntax: "show " + word + " form " + string(rune('a'+i%26)) + word, Summary: "s", Access: Read,
			Elements: []Element{
				{Keyword: "show"},
				{Choice: [][]Element{{{Keyword: word}}, {{Keyword: word + "-alias"}}}},
				{Optional: []Element{{Keyword: "json"}}},
				{Param: &Param{Name: "n", Kind: Number}},
			},
		})
	}
	g, err := NewGrammar(commands)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := g.Resolve([]string{"sh", "kaa-alias", "7"})
	if err != nil || inv.Line() != "show kaa-alias 7" || inv.Values["n"] != "7" {
		t.Errorf("became %q, %v", inv.Line(), err)
	}
	if _, err := g.Resolve([]string{"show"}); class(err) != Incomplete || !strings.Contains(err.Error(), "and 1") {
		t.Errorf("a long list of what may follow is not cut short: %v", err)
	}
}

func TestWithKeepsWhatIsThere(t *testing.T) {
	g, err := sample(t).With([]Command{{Syntax: "show version", Summary: "other", Access: Write}, {Syntax: "help", Summary: "s", Access: Read}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(g.Commands()); n != len(sample(t).Commands())+1 {
		t.Errorf("%d commands", n)
	}
	inv, err := g.Resolve([]string{"show", "version"})
	if err != nil || inv.Command.Access != Read {
		t.Errorf("%v, %v", inv, err)
	}
	if !slices.IsSortedFunc(g.Commands(), func(a, b *Command) int { return strings.Compare(a.Syntax, b.Syntax) }) {
		t.Error("commands are not sorted")
	}
}

func FuzzResolve(f *testing.F) {
	g := sample(f)
	policy, err := NewPolicy(Rules{Read: []string{"show **", "monitor **", "describe **"}, Deny: []string{"show bgp peer secret detail"}})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"sh bgp su", "CLEAR BGP peer * soft", "show bgp rib 192.0.2.1/8", "mon bgp 30", "show v", "show log last 5 err", "sh b p SECRET d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Parse(line)
		if err != nil {
			return
		}
		inv, err := g.Resolve(words)
		if err != nil {
			if c := class(err); c != UnknownCommand && c != Incomplete && c != InvalidArgument {
				t.Fatalf("%q: class %v", line, c)
			}
			return
		}
		// What policy sees means the same when it is read again: nothing slips through by way of spelling.
		again, err := g.Resolve(inv.Words)
		if err != nil || again.Command != inv.Command || again.Line() != inv.Line() {
			t.Fatalf("%q became %q, which became %q, %v", line, inv.Line(), again.Line(), err)
		}
		upper, err := g.Resolve(strings.Fields(strings.ToUpper(line)))
		if err == nil && upper.Command == inv.Command && !strings.EqualFold(upper.Line(), inv.Line()) {
			t.Fatalf("case changes %q into %q", inv.Line(), upper.Line())
		}
		d := policy.Decide(inv)
		if d.Allowed && inv.Command.Access == Write {
			t.Fatalf("%q may run", inv.Line())
		}
		if d.Allowed && !policy.Offers(inv.Command) {
			t.Fatalf("%q may run although its command is not on offer", inv.Line())
		}
	})
}
