package command

import (
	"errors"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, tc := range []struct {
		pattern, line string
		match         bool
	}{
		{"show **", "show bgp summary", true},
		{"show **", "show", true},
		{"show **", "showing bgp", false},
		{"show bgp", "show bgp", true},
		{"show bgp", "show bgp summary", false},
		{"show * summary", "show bgp summary", true},
		{"show * summary", "show bgp rib summary", false},
		{"**", "anything at all", true},
		{"*", "help", true},
		{"*", "command list", false},
		{"clear bgp peer *", "clear bgp peer *", true},
		{"clear bgp peer *", "clear bgp peer 192.0.2.1", true},
	} {
		p, err := ParsePattern(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(strings.Fields(tc.line)); got != tc.match {
			t.Errorf("%q matches %q: %v, want %v", tc.pattern, tc.line, got, tc.match)
		}
		if p.String() != tc.pattern {
			t.Errorf("%q is written as %q", tc.pattern, p)
		}
	}
	for _, bad := range []string{"", "  ", "show bg*", "** show", "show ** bgp", "show | x", "***"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("the pattern %q was taken", bad)
		}
	}
}

func TestPolicy(t *testing.T) {
	g := sample(t)
	reads := []string{"show **", "monitor **"}
	for name, tc := range map[string]struct {
		rules   Rules
		line    string
		allowed bool
		rule    string
	}{
		"a read that is listed":                {Rules{Read: reads}, "show bgp", true, `read "show **"`},
		"nothing is listed":                    {Rules{}, "show bgp", false, "default"},
		"a read that is not listed":            {Rules{Read: reads}, "describe x", false, "default"},
		"an abbreviated write":                 {Rules{Read: reads}, "cl bgp peer *", false, "default"},
		"a write in capitals":                  {Rules{Read: reads}, "CLEAR BGP PEER *", false, "default"},
		"a write under a read rule":            {Rules{Read: []string{"**"}}, "clear bgp peer *", false, "default"},
		"a read under a write rule":            {Rules{Write: []string{"**"}}, "show bgp", false, "default"},
		"a write that is listed":               {Rules{Write: []string{"clear bgp **"}}, "clear bgp peer * soft", true, `write "clear bgp **"`},
		"another write than the one listed":    {Rules{Write: []string{"clear bgp **"}}, "request bgp peer * enable", false, "default"},
		"deny wins over read":                  {Rules{Read: reads, Deny: []string{"show bgp **"}}, "show bgp summary", false, `deny "show bgp **"`},
		"deny wins over write":                 {Rules{Write: []string{"**"}, Deny: []string{"clear **"}}, "clear bgp peer *", false, `deny "clear **"`},
		"deny in other letters":                {Rules{Write: []string{"**"}, Deny: []string{"clear bgp peer EDGE"}}, "clear bgp peer edge", false, `deny "clear bgp peer EDGE"`},
		"allow in other letters":               {Rules{Write: []string{"clear bgp peer EDGE"}}, "clear bgp peer edge", false, "default"},
		"deny of an address in other spelling": {Rules{Read: reads, Deny: []string{"show bgp peer 2001:db8::1 detail"}}, "show bgp peer 2001:DB8:0:0::1 detail", false, `deny "show bgp peer 2001:db8::1 detail"`},
		"the baseline cannot be lifted":        {Rules{Read: []string{"**"}, Write: []string{"**", "configure terminal"}}, "conf t", false, `baseline "configure **"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewPolicy(tc.rules)
			if err != nil {
				t.Fatal(err)
			}
			inv, err := g.Resolve(strings.Fields(tc.line))
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(inv)
			if d.Allowed != tc.allowed || d.Rule != tc.rule {
				t.Errorf("decided %+v; want %v by %q", d, tc.allowed, tc.rule)
			}
			if !d.Allowed {
				if text := p.Refuse(g, inv.Line(), d, inv.Words).Text(); !strings.HasPrefix(text, "unauthorized: ") || !strings.Contains(text, d.Why) {
					t.Errorf("the refusal %q does not say why", text)
				}
			}
		})
	}
}

func TestPolicyNamesTheBadPattern(t *testing.T) {
	_, err := NewPolicy(Rules{Deny: []string{"clear **", "cl*"}})
	if err == nil || !strings.HasPrefix(err.Error(), "deny: ") || !strings.Contains(err.Error(), "cl*") {
		t.Errorf("%v", err)
	}
}

func TestRefusalNamesWhatIsAllowedNearby(t *testing.T) {
	g := sample(t)
	p, err := NewPolicy(Rules{Read: []string{"show bgp summary", "show bgp peer **", "show version"}})
	if err != nil {
		t.Fatal(err)
	}
	inv, err := g.Resolve(strings.Fields("clear bgp peer *"))
	if err != nil {
		t.Fatal(err)
	}
	text := p.Refuse(g, inv.Line(), p.Decide(inv), inv.Words).Text()
	if want := "allowed nearby: show bgp peer <selector> detail, show bgp peer list, show bgp summary"; !strings.HasSuffix(text, want) {
		t.Errorf("%q does not end with %q", text, want)
	}
}

func TestRefuseUnresolved(t *testing.T) {
	g := sample(t)
	p, err := NewPolicy(Rules{Read: []string{"show **"}})
	if err != nil {
		t.Fatal(err)
	}
	for line, refused := range map[string]bool{
		"cl bgp *":      true,  // no command, and every command it could have been is refused
		"CLEAR bgp":     true,  // likewise incomplete
		"show bgp nope": false, // what it could have been may run: say what is wrong with it
		"xyzzy":         false, // it could have been nothing at all
	} {
		_, err := g.Resolve(strings.Fields(line))
		var u *Unresolved
		if !errors.As(err, &u) {
			t.Fatalf("%q: %v", line, err)
		}
		if f := p.RefuseUnresolved(g, u); (f != nil) != refused || f != nil && f.Class != Unauthorized {
			t.Errorf("%q: %v, want refused %v", line, f, refused)
		}
	}
}

func TestOffers(t *testing.T) {
	g := sample(t)
	for name, tc := range map[string]struct {
		rules  Rules
		syntax string
		offers bool
	}{
		"by a rule for all":                  {Rules{Read: []string{"show **"}}, "show bgp summary", true},
		"one value of many":                  {Rules{Write: []string{"clear bgp peer 192.0.2.1"}}, "clear bgp peer <selector> [soft]", true},
		"one value of many is refused":       {Rules{Read: []string{"show **"}, Deny: []string{"show bgp peer 192.0.2.1 detail"}}, "show bgp peer <selector> detail", true},
		"every value is refused":             {Rules{Read: []string{"show **"}, Deny: []string{"show bgp peer * detail"}}, "show bgp peer <selector> detail", false},
		"one form of two":                    {Rules{Write: []string{"request bgp peer * enable"}}, "request bgp peer <selector> (shutdown|enable)", true},
		"nothing":                            {Rules{}, "show version", false},
		"the baseline":                       {Rules{Write: []string{"**"}}, "configure terminal", false},
		"a write that only a read rule fits": {Rules{Read: []string{"**"}}, "clear bgp peer <selector> [soft]", false},
	} {
		p, err := NewPolicy(tc.rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range g.Commands() {
			if c.Syntax == tc.syntax && p.Offers(c) != tc.offers {
				t.Errorf("%s: offers %v, want %v", name, !tc.offers, tc.offers)
			}
		}
	}
}

func TestMayMatch(t *testing.T) {
	g := sample(t)
	patterns, err := ParsePatterns([]string{"monitor **", "show bgp rib"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"monitor bgp [<duration>]": true, "show bgp rib [<prefix>]": true}
	for _, c := range g.Commands() {
		if c.MayMatch(patterns) != want[c.Syntax] {
			t.Errorf("%q: %v", c.Syntax, c.MayMatch(patterns))
		}
	}
}
