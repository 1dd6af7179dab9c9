// Package output makes what a device sent fit to be shown: valid text without terminal control, without secrets, and of a
// bounded size. Text from a device is data; nothing in it may act on a terminal, hide from a reader, or pass for something else.
package output

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Style is how characters that cannot be seen are written.
type Style uint8

const (
	// Plain writes them as \u{202E}.
	Plain Style = iota
	// JSON writes them as \u202E, which stays valid inside a JSON string.
	JSON
)

const esc = 0x1b

// Clean drops NUL, every escape sequence and every control character but newline and tab; turns CRLF and a lone CR into a
// newline and invalid UTF-8 into U+FFFD; and makes characters that are invisible or that change direction visible. Cleaning
// twice is cleaning once.
func Clean(raw []byte, style Style) []byte {
	if bytes.IndexByte(raw, 0) >= 0 {
		raw = bytes.ReplaceAll(raw, []byte{0}, nil)
	}
	c := cleaner{style: style, out: make([]byte, 0, len(raw))}
	for len(raw) > 0 {
		raw = raw[c.take(raw):]
	}
	return c.out
}

type cleaner struct {
	style Style
	out   []byte
}

// take consumes the next character or escape sequence and returns its length in bytes, at least 1.
func (c *cleaner) take(raw []byte) int {
	b := raw[0]
	switch {
	case b == esc:
		return escape(raw)
	case b == '\r':
		if len(raw) > 1 && raw[1] == '\n' {
			return 1
		}
		c.out = append(c.out, '\n')
		return 1
	case b == '\n' || b == '\t' || ' ' <= b && b < 0x7f:
		c.out = append(c.out, b)
		return 1
	case b < ' ' || b == 0x7f:
		return 1
	}
	r, n := utf8.DecodeRune(raw)
	if r == utf8.RuneError && n == 1 {
		// An 8-bit control character, which is no valid start of anything in UTF-8.
		if 0x80 <= b && b <= 0x9f {
			return control(b-0x40, raw[1:]) + 1
		}
		c.out = utf8.AppendRune(c.out, utf8.RuneError)
		return 1
	}
	switch {
	case 0x80 <= r && r <= 0x9f:
		return control(byte(r-0x40), raw[n:]) + n
	case hidden(r):
		c.out = append(c.out, c.visible(r)...)
	default:
		c.out = append(c.out, raw[:n]...)
	}
	return n
}

func (c *cleaner) visible(r rune) string {
	switch {
	case c.style == Plain:
		return fmt.Sprintf(`\u{%04X}`, r)
	case r > 0xffff:
		r -= 0x10000
		return fmt.Sprintf(`\u%04X\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04X`, r)
}

// hidden tells whether a character is invisible or changes the direction of the text around it: format characters (which hold the
// tag characters), line and paragraph separators, variation selectors and fillers.
func hidden(r rune) bool {
	return r >= 0xa0 && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// escape is the length of the sequence that ESC starts (ECMA-48).
func escape(raw []byte) int {
	if len(raw) == 1 {
		return 1
	}
	switch b := raw[1]; {
	case 0x40 <= b && b <= 0x5f:
		return 2 + control(b, raw[2:])
	case 0x60 <= b && b <= 0x7e:
		return 2
	case 0x20 <= b && b <= 0x2f:
		// A charset and its like: intermediate bytes, then one final byte.
		i := 1
		for i < len(raw) && 0x20 <= raw[i] && raw[i] <= 0x2f {
			i++
		}
		if i < len(raw) && 0x30 <= raw[i] && raw[i] <= 0x7e {
			i++
		}
		return i
	}
	return 1
}

// control is the length of what follows a C1 control function, named by its 7-bit final byte.
func control(final byte, rest []byte) int {
	switch final {
	case '[':
		i := 0
		for i < len(rest) && 0x20 <= rest[i] && rest[i] <= 0x3f {
			i++
		}
		if i < len(rest) && 0x40 <= rest[i] && rest[i] <= 0x7e {
			i++
		}
		return i
	case 'P', 'X', ']', '^', '_':
		return str(rest)
	}
	return 0
}

// str is the length of a control string with its terminator. A string that is never terminated ends with its line, so that it
// cannot swallow the rest of the output.
func str(rest []byte) int {
	for i := 0; i < len(rest); {
		r, n := utf8.DecodeRune(rest[i:])
		switch {
		case r == '\a' || r == 0x9c || r == utf8.RuneError && n == 1 && rest[i] == 0x9c:
			return i + n
		case r == esc && i+1 < len(rest) && rest[i+1] == '\\':
			return i + 2
		case r == '\n' || r == '\r' || r == esc:
			return i
		}
		i += n
	}
	return len(rest)
}
