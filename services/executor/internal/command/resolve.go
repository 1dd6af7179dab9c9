package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Invocation is a line that has become one command with its values.
type Invocation struct {
	// Command is the command.
	Command *Command
	// Words is the line in full: keywords complete and in lower case, values in canonical spelling.
	Words []string
	// Values is the value of each parameter that was given, by name.
	Values map[string]string
}

// Line is the full words with single spaces between them.
func (i Invocation) Line() string { return strings.Join(i.Words, " ") }

// Unresolved is a line that became no command: the failure, and how far the line got.
type Unresolved struct {
	*Failure
	// Words is the words that were understood, in full.
	Words []string
	// Reach is every command that starts like Words; nil when no word was understood.
	Reach []*Command
}

// Unwrap is the failure itself.
func (u *Unresolved) Unwrap() error { return u.Failure }

// How well a word fits an edge; lower is better.
const (
	fitExact = iota
	fitPrefix
	fitValue
)

// thread is one way to read the words so far.
type thread struct {
	command *Command
	node    int
	words   []string
	values  []string // name, value, name, value, ...
	fits    []int
}

// Resolve reads words that Parse returned. Keywords may be abbreviated and written in any case; an exact keyword wins over an
// abbreviation, and both over a value. Where two commands remain the line is ambiguous. The error is an *Unresolved of the
// class UnknownCommand, InvalidArgument or Incomplete.
func (g *Grammar) Resolve(words []string) (Invocation, error) {
	live := make([]thread, len(g.commands))
	for i, c := range g.commands {
		live[i] = thread{command: c}
	}
	for i, word := range words {
		next := step(live, word)
		if len(next) == 0 {
			return Invocation{}, unknown(live, words[i:], i == 0)
		}
		live = next
	}
	var ends []thread
	for _, t := range live {
		if t.command.graph.nodes[t.node].end {
			ends = append(ends, t)
		}
	}
	if len(ends) == 0 {
		return Invocation{}, incomplete(live)
	}
	slices.SortStableFunc(ends, func(a, b thread) int { return slices.Compare(a.fits, b.fits) })
	best := ends[0]
	same := []string{strings.Join(best.words, " ")}
	for _, t := range ends[1:] {
		if line := strings.Join(t.words, " "); slices.Equal(t.fits, best.fits) && !slices.Contains(same, line) {
			same = append(same, line)
		}
	}
	if len(same) > 1 {
		slices.Sort(same)
		return Invocation{}, unresolved(ends, Fail(UnknownCommand, "%q is ambiguous; it may mean: %s", strings.Join(words, " "), list(same)))
	}
	inv := Invocation{Command: best.command, Words: best.words, Values: make(map[string]string, len(best.values)/2)}
	for i := 0; i < len(best.values); i += 2 {
		inv.Values[best.values[i]] = best.values[i+1]
	}
	return inv, nil
}

func step(live []thread, word string) []thread {
	lower := strings.ToLower(word)
	var next []thread
	for _, t := range live {
		for _, e := range t.command.graph.nodes[t.node].edges {
			full, fit := e.keyword, fitPrefix
			switch {
			case e.param != nil:
				var ok bool
				if full, ok = e.param.accept(word); !ok {
					continue
				}
				fit = fitValue
			case e.keyword == lower:
				fit = fitExact
			case !strings.HasPrefix(e.keyword, lower):
				continue
			}
			n := thread{command: t.command, node: e.to, words: append(slices.Clip(t.words), full), values: t.values, fits: append(slices.Clip(t.fits), fit)}
			if e.param != nil {
				n.values = append(slices.Clip(t.values), e.param.Name, full)
			}
			next = append(next, n)
		}
	}
	return next
}

func unresolved(live []thread, f *Failure) *Unresolved {
	u := &Unresolved{Failure: f, Words: live[0].words}
	if len(live[0].words) == 0 {
		return u
	}
	for _, t := range live {
		if !slices.Contains(u.Reach, t.command) {
			u.Reach = append(u.Reach, t.command)
		}
	}
	return u
}

// unknown says why the first of rest fits nowhere, and what would have.
func unknown(live []thread, rest []string, first bool) *Unresolved {
	keywords, params, end := following(live)
	word := rest[0]
	if first {
		near := nearest(word, keywords)
		if near == "" {
			return unresolved(live, Fail(UnknownCommand, "%q; commands start with: %s", word, list(keywords)))
		}
		return unresolved(live, Fail(UnknownCommand, "%q; did you mean %s? Commands start with: %s", word, near, list(keywords)))
	}
	said := strings.Join(best(live).words, " ")
	if len(keywords) == 0 && len(params) == 0 {
		return unresolved(live, Fail(UnknownCommand, "nothing may follow %q; leave out: %s", said, strings.Join(rest, " ")))
	}
	if len(keywords) == 0 {
		return unresolved(live, Fail(InvalidArgument, "%q after %q is not %s", word, said, wants(params)))
	}
	hint := ""
	if near := nearest(word, keywords); near != "" {
		hint = fmt.Sprintf(" did you mean %s?", near)
	}
	may := list(keywords)
	if len(params) > 0 {
		may += ", or " + wants(params)
	}
	if end {
		may += ", or nothing"
	}
	return unresolved(live, Fail(UnknownCommand, "%q after %q;%s What may follow: %s", word, said, hint, may))
}

func incomplete(live []thread) *Unresolved {
	keywords, params, _ := following(live)
	may := list(keywords)
	if len(params) > 0 {
		if may != "" {
			may += ", or "
		}
		may += wants(params)
	}
	return unresolved(live, Fail(Incomplete, "%q; next: %s", strings.Join(best(live).words, " "), may))
}

func best(live []thread) thread {
	return slices.MinFunc(live, func(a, b thread) int { return slices.Compare(a.fits, b.fits) })
}

// following is what may come next: keywords and kinds of value, sorted, and whether the line may end.
func following(live []thread) (keywords []string, params []Param, end bool) {
	for _, t := range live {
		n := t.command.graph.nodes[t.node]
		end = end || n.end
		for _, e := range n.edges {
			if e.param == nil {
				keywords = append(keywords, e.keyword)
			} else if !slices.ContainsFunc(params, func(p Param) bool { return p.Wants() == e.param.Wants() }) {
				params = append(params, *e.param)
			}
		}
	}
	slices.Sort(keywords)
	return slices.Compact(keywords), params, end
}

func wants(params []Param) string {
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = p.Wants()
	}
	return strings.Join(texts, ", or ")
}

// listed bounds how many candidates a message names: a learned grammar may offer hundreds.
const listed = 16

func list(words []string) string {
	if len(words) > listed {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:listed], ", "), len(words)-listed)
	}
	return strings.Join(words, ", ")
}

// nearest is the keyword that a slip of the finger may have meant, or "".
func nearest(word string, keywords []string) string {
	if len(keywords) == 0 {
		return ""
	}
	word = strings.ToLower(word)
	near := slices.MinFunc(keywords, func(a, b string) int { return cmp.Compare(distance(word, a), distance(word, b)) })
	if d := distance(word, near); d > 2 || d >= len(near) {
		return ""
	}
	return near
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
