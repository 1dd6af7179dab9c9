// Package command understands one line of command: it validates the line, resolves its words against a device's grammar,
// and asks policy whether the result may run.
//
// The order is what makes it safe. No byte reaches a resolver that is not in the allowed set; policy sees full words, so
// an abbreviation or a capital letter cannot slip past a rule; and what policy saw is what a device is sent.
package command

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the longest line of command, in bytes.
const MaxLine = 1024

// What words are made of, beside letters and digits. No quote, backslash, pipe, semicolon, dollar, backtick or angle bracket: whatever
// a device's own reader does with those cannot be reached.
const punctuation = "._:/*@+,=![]-"

// Parse validates a line and splits it on spaces. The failure is of the class MissingArgument for a blank line and InvalidArgument
// otherwise; it names what was wrong and where, as a byte offset from 1, and repeats no control character.
func Parse(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, Fail(MissingArgument, "command")
	}
	if len(line) > MaxLine {
		return nil, Fail(InvalidArgument, "command is %d bytes long; at most %d are allowed", len(line), MaxLine)
	}
	for i, r := range line {
		switch {
		case r == ' ' || wordRune(r):
			continue
		case r == utf8.RuneError && !utf8.ValidString(line[i:min(i+utf8.RuneLen(r), len(line))]):
			return nil, Fail(InvalidArgument, "command is not valid UTF-8 at byte %d", i+1)
		case unicode.IsControl(r):
			return nil, Fail(InvalidArgument, "command holds the control character U+%04X at byte %d; write one command on one line", r, i+1)
		}
		return nil, Fail(InvalidArgument, "command holds %s at byte %d; a word is made of letters, digits and any of %s", show(r), i+1,
			strings.Join(strings.Split(punctuation, ""), " "))
	}
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' }), nil
}

func wordRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r < utf8.RuneSelf && strings.ContainsRune(punctuation, r)
}

// show names a character; one that cannot be seen, or that looks like another, by its code point.
func show(r rune) string {
	if r < utf8.RuneSelf {
		return fmt.Sprintf("%c", r)
	}
	return fmt.Sprintf("U+%04X", r)
}
