package command

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func class(err error) Class {
	var f *Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return 0
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		line  string
		words []string
		class Class
		says  string
	}{
		{line: "show bgp summary", words: []string{"show", "bgp", "summary"}},
		{line: "  show   bgp  ", words: []string{"show", "bgp"}},
		{line: "show bgp rib 2001:db8::/32", words: []string{"show", "bgp", "rib", "2001:db8::/32"}},
		{line: "a.b_c:d/e*f@g+h,i=j!k[l]m-n", words: []string{"a.b_c:d/e*f@g+h,i=j!k[l]m-n"}},
		{line: strings.Repeat("a", MaxLine), words: []string{strings.Repeat("a", MaxLine)}},
		{line: strings.Repeat("a", MaxLine+1), class: InvalidArgument, says: "1025 bytes"},
		{line: "", class: MissingArgument, says: "missing required argument: command"},
		{line: " \t\n", class: MissingArgument},
		{line: "show bgp summary\nclear bgp *", class: InvalidArgument, says: "U+000A at byte 17"},
		{line: "show\tbgp", class: InvalidArgument, says: "U+0009"},
		{line: "show bgp\r", class: InvalidArgument, says: "U+000D"},
		{line: "show\x00bgp", class: InvalidArgument, says: "U+0000"},
		{line: "show\x1b[31m", class: InvalidArgument, says: "U+001B"},
		{line: "show \u0085 bgp", class: InvalidArgument, says: "U+0085"},
		{line: "show\x7f", class: InvalidArgument, says: "U+007F"},
		{line: `show bgp 192.0.2.0/24"; id; echo "`, class: InvalidArgument, says: `holds " at byte 22`},
		{line: "show version | redirect x", class: InvalidArgument, says: "holds | at"},
		{line: `cle"ar" bgp *`, class: InvalidArgument, says: `holds "`},
		{line: "show `id`", class: InvalidArgument},
		{line: "show $HOME", class: InvalidArgument},
		{line: "show < /etc/passwd", class: InvalidArgument},
		{line: "show ; stop", class: InvalidArgument},
		{line: `show \n`, class: InvalidArgument},
		{line: "show \u202ebgp", class: InvalidArgument, says: "holds U+202E"},
		{line: "show\u00a0bgp", class: InvalidArgument, says: "holds U+00A0"},
		{line: "ѕhow bgp", class: InvalidArgument, says: "holds U+0455"},
		{line: "show \xff bgp", class: InvalidArgument, says: "not valid UTF-8 at byte 6"},
		{line: "show \xf0\x9f", class: InvalidArgument, says: "not valid UTF-8 at byte 6"},
		{line: "show \ufffd", class: InvalidArgument, says: "holds U+FFFD"},
	} {
		words, err := Parse(tc.line)
		if !slices.Equal(words, tc.words) || class(err) != tc.class {
			t.Errorf("Parse(%q) = %q, %v; want %q, class %v", tc.line, words, err, tc.words, tc.class)
		}
		if err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("Parse(%q): %q does not say %q", tc.line, err, tc.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"show bgp summary", "show\x00", "show\xff", " ", "a|b", "\u202e", strings.Repeat("x ", 600)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Parse(line)
		if (err == nil) != (len(words) > 0) {
			t.Fatalf("words %q with error %v", words, err)
		}
		if err != nil {
			text := err.Error()
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("the message %q repeats what it refuses", text)
			}
			return
		}
		joined := strings.Join(words, " ")
		if len(joined) > MaxLine {
			t.Fatalf("%d bytes passed", len(joined))
		}
		for _, r := range joined {
			if r != ' ' && !wordRune(r) {
				t.Fatalf("%q passed", r)
			}
		}
		again, err := Parse(joined)
		if err != nil || !slices.Equal(again, words) {
			t.Fatalf("what passed as %q is read again as %q, %v", words, again, err)
		}
	})
}
