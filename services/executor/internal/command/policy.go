package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pattern matches full words: * is any one word, ** at the end is the rest, even nothing.
type Pattern struct {
	words []string
	rest  bool
}

// ParsePattern reads a pattern such as "show bgp **".
func ParsePattern(s string) (Pattern, error) {
	var p Pattern
	p.words = strings.Fields(s)
	if n := len(p.words); n > 0 && p.words[n-1] == "**" {
		p.words, p.rest = p.words[:n-1], true
	}
	if len(p.words) == 0 && !p.rest {
		return Pattern{}, fmt.Errorf("an empty pattern matches nothing: write words, * for any one word, ** at the end for the rest")
	}
	for _, w := range p.words {
		if i := strings.IndexFunc(w, func(r rune) bool { return !wordRune(r) }); i >= 0 {
			return Pattern{}, fmt.Errorf("%q holds a character that no command can hold", s)
		}
		if w != "*" && strings.Contains(w, "*") {
			return Pattern{}, fmt.Errorf("%q: * stands for one whole word and ** for the rest at the end, not for a part of a word", s)
		}
	}
	return p, nil
}

// ParsePatterns reads several patterns.
func ParsePatterns(list []string) ([]Pattern, error) {
	patterns := make([]Pattern, len(list))
	for i, s := range list {
		var err error
		if patterns[i], err = ParsePattern(s); err != nil {
			return nil, err
		}
	}
	return patterns, nil
}

// String is the pattern as it is written.
func (p Pattern) String() string {
	words := p.words
	if p.rest {
		words = append(slices.Clip(words), "**")
	}
	return strings.Join(words, " ")
}

// Match tells whether full words fit the pattern.
func (p Pattern) Match(words []string) bool {
	return p.match(words, func(pattern, word string) bool { return pattern == word })
}

// matchFolded is Match without regard to case. It is what a refusal uses: a name in other letters must not slip past it.
func (p Pattern) matchFolded(words []string) bool { return p.match(words, strings.EqualFold) }

func (p Pattern) match(words []string, equal func(pattern, word string) bool) bool {
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return false
	}
	for i, w := range p.words {
		if w != "*" && !equal(w, words[i]) {
			return false
		}
	}
	return true
}

// baseline is refused on every device, whatever the settings say: what ends or replaces the daemon, opens a shell, raises
// the session's own rights, writes files, or changes the conversation with the device.
var baseline = []string{
	"stop **", "restart **", "reboot **", "halt **", "shutdown **", "kill **", "daemon **", "plugin **",
	"shell **", "start-shell **", "bash **", "sh **", "system **", "python **", "ssh **", "telnet **",
	"enable **", "configure **", "terminal **", "exit **", "quit **", "end **", "logout **", "echo **",
	"write **", "copy **", "save **", "output **", "dump **", "eval **", "list permutations **",
}

// Rules are the patterns of a device's policy.
type Rules struct {
	// Read allows commands that change nothing.
	Read []string
	// Write allows commands that change something.
	Write []string
	// Deny refuses commands; it wins over Read and Write.
	Deny []string
}

// Policy decides which commands run. What no rule allows is refused.
type Policy struct {
	baseline, deny, read, write []Pattern
}

// NewPolicy reads rules. The error names the list and the pattern.
func NewPolicy(r Rules) (*Policy, error) {
	var p Policy
	for _, l := range []struct {
		name  string
		rules []string
		into  *[]Pattern
	}{{"baseline", baseline, &p.baseline}, {"deny", r.Deny, &p.deny}, {"read", r.Read, &p.read}, {"write", r.Write, &p.write}} {
		var err error
		if *l.into, err = ParsePatterns(l.rules); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return &p, nil
}

// Decision is what policy says about a command, and why.
type Decision struct {
	// Allowed: the command may run.
	Allowed bool
	// Rule is the rule that decided, such as `deny "clear **"`; "default" where none matched.
	Rule string
	// Why explains it in words.
	Why string
}

// Decide tells whether an invocation may run.
func (p *Policy) Decide(inv Invocation) Decision {
	return p.decide(inv.Words, inv.Command.Access)
}

func (p *Policy) decide(words []string, access Access) Decision {
	for _, pat := range p.baseline {
		if pat.matchFolded(words) {
			return Decision{Rule: fmt.Sprintf("baseline %q", pat), Why: fmt.Sprintf("the built-in rule %q refuses it, and no setting lifts that", pat)}
		}
	}
	for _, pat := range p.deny {
		if pat.matchFolded(words) {
			return Decision{Rule: fmt.Sprintf("deny %q", pat), Why: fmt.Sprintf("the rule deny %q refuses it", pat)}
		}
	}
	allow := p.read
	if access == Write {
		allow = p.write
	}
	for _, pat := range allow {
		if pat.Match(words) {
			return Decision{Allowed: true, Rule: fmt.Sprintf("%s %q", access, pat), Why: fmt.Sprintf("the rule %s %q allows it", access, pat)}
		}
	}
	why := fmt.Sprintf("it is a %s command and no %s rule allows it", access, access)
	return Decision{Rule: "default", Why: why}
}

// Offers tells whether some form of a command may run. A value in a rule counts as one that a caller may choose, unless the
// rule is a refusal: then other values are left.
func (p *Policy) Offers(c *Command) bool {
	return slices.ContainsFunc(c.forms(), func(form []string) bool {
		// A placeholder such as <selector> stands for every value: only a * or ** of a refusal covers it.
		for _, pat := range slices.Concat(p.baseline, p.deny) {
			if pat.matchFolded(form) {
				return false
			}
		}
		allow := p.read
		if c.Access == Write {
			allow = p.write
		}
		return slices.ContainsFunc(allow, func(pat Pattern) bool {
			return pat.match(form, anyValue)
		})
	})
}

// Refuse is the failure for an invocation that may not run: the rule, and what is allowed nearby.
func (p *Policy) Refuse(g *Grammar, line string, d Decision, words []string) *Failure {
	near := ""
	if offered := p.near(g, words); len(offered) > 0 {
		near = "; allowed nearby: " + list(offered)
	}
	return Fail(Unauthorized, "%q is not allowed: %s%s", line, d.Why, near)
}

// RefuseUnresolved is the failure for a line that became no command, where each command that it may have meant is refused:
// then naming those commands would help nobody. Nil where one of them is allowed, and the line's own failure stands.
func (p *Policy) RefuseUnresolved(g *Grammar, u *Unresolved) *Failure {
	if len(u.Reach) == 0 || slices.ContainsFunc(u.Reach, p.Offers) {
		return nil
	}
	access := Read
	if slices.ContainsFunc(u.Reach, func(c *Command) bool { return c.Access == Write }) {
		access = Write
	}
	return p.Refuse(g, strings.Join(u.Words, " "), p.decide(u.Words, access), u.Words)
}

// nearby bounds how many allowed commands a refusal names.
const nearby = 3

// near is the allowed commands that share most words with the refused one, best first.
func (p *Policy) near(g *Grammar, words []string) []string {
	type scored struct {
		syntax string
		shared int
	}
	var found []scored
	for _, c := range g.commands {
		if !p.Offers(c) {
			continue
		}
		shared := 0
		for _, w := range strings.Fields(c.Syntax) {
			if slices.Contains(words, w) {
				shared++
			}
		}
		if shared > 0 {
			found = append(found, scored{c.Syntax, shared})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.shared, a.shared) })
	syntaxes := make([]string, 0, nearby)
	for _, s := range found[:min(nearby, len(found))] {
		syntaxes = append(syntaxes, s.syntax)
	}
	return syntaxes
}

// maxForms bounds how many forms of one command are looked at.
const maxForms = 64

// forms is the ways to write a command, with <name> in place of each value.
func (c *Command) forms() [][]string {
	var forms [][]string
	var walk func(n int, words []string)
	walk = func(n int, words []string) {
		if len(forms) >= maxForms {
			return
		}
		if c.graph.nodes[n].end {
			forms = append(forms, words)
		}
		for _, e := range c.graph.nodes[n].edges {
			walk(e.to, append(slices.Clip(words), e.label()))
		}
	}
	walk(0, nil)
	return forms
}

// MayMatch tells whether some form of the command fits one of the patterns.
func (c *Command) MayMatch(patterns []Pattern) bool {
	return slices.ContainsFunc(c.forms(), func(form []string) bool {
		return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.match(form, anyValue) })
	})
}

// anyValue lets a placeholder stand for whatever value a pattern names.
func anyValue(pattern, word string) bool { return pattern == word || strings.HasPrefix(word, "<") }
