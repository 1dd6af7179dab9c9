package output

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrFull says that the cap is reached. Whoever reads from a device then stops: nothing more is kept.
var ErrFull = errors.New("the output has reached its cap")

// maxProgress bounds a line that is shown while a command runs, in bytes.
const maxProgress = 512

// Options say how output is treated.
type Options struct {
	// MaxBytes is the cap, before and after cleaning.
	MaxBytes int
	// JSON says that the output is a JSON document.
	JSON bool
	// Configuration says that the output is configuration, whose secrets are masked.
	Configuration bool
	// Narrow says how to ask for less; may be empty.
	Narrow string
	// Progress is told of each whole line as it arrives, cleaned; may be nil.
	Progress func(line string)
}

// Collector takes a device's output as it arrives. It holds at most MaxBytes of it, whatever the device sends. It is not for
// use by several goroutines at once.
type Collector struct {
	opts    Options
	raw     []byte
	line    int    // where the current line starts in raw
	offered uint64 // bytes that were written, kept or not
	total   uint64 // bytes in all, where the back end knows
	full    bool
}

// NewCollector makes an empty collector.
func NewCollector(opts Options) *Collector { return &Collector{opts: opts} }

// MaxBytes is the cap, for a back end that can choose what to send.
func (c *Collector) MaxBytes() int { return c.opts.MaxBytes }

// Empty tells whether nothing has arrived yet, so that trying again repeats nothing.
func (c *Collector) Empty() bool { return c.offered == 0 }

// SetTotal says how many bytes the whole answer has, for a back end that counts on without writing.
func (c *Collector) SetTotal(n uint64) { c.total = n }

// Write keeps p, or what fits of it, and then returns ErrFull.
func (c *Collector) Write(p []byte) (int, error) {
	c.offered += uint64(len(p))
	room := c.opts.MaxBytes - len(c.raw)
	kept := p[:min(room, len(p))]
	c.raw = append(c.raw, kept...)
	if c.opts.Progress != nil {
		c.report(len(kept))
	}
	if len(kept) < len(p) {
		c.full = true
		return len(kept), ErrFull
	}
	return len(p), nil
}

// report tells Progress of the lines that the last n bytes completed.
func (c *Collector) report(n int) {
	for from := len(c.raw) - n; ; {
		i := bytes.IndexByte(c.raw[from:], '\n')
		if i < 0 {
			return
		}
		line := c.raw[c.line : from+i]
		from += i + 1
		c.line = from
		if len(line) > maxProgress {
			line = trimPartial(line[:maxProgress])
		}
		if text := c.clean(line); len(text) > 0 {
			c.opts.Progress(string(text))
		}
	}
}

func (c *Collector) clean(raw []byte) []byte {
	style := Plain
	if c.opts.JSON {
		style = JSON
	}
	text := Clean(raw, style)
	if c.opts.Configuration {
		text = Mask(text)
	}
	return text
}

// Result is output that is fit to be shown.
type Result struct {
	// Text is valid UTF-8 with no control character but newline and tab. Where the output was cut it ends with a line that says so.
	Text string
	// JSON says that Text is a JSON document: never set when it was cut.
	JSON bool
	// Truncated says that the output was cut; the numbers below are then set.
	Truncated bool
	// TotalBytes is what the device sent.
	TotalBytes uint64
	// LowerBound says that reading stopped before the device had sent everything.
	LowerBound bool
	// KeptBytes and KeptLines is what Text holds of it.
	KeptBytes, KeptLines uint64
}

// Result is what has arrived so far.
func (c *Collector) Result() Result {
	raw := c.raw
	if c.full {
		raw = trimPartial(raw)
	}
	text := c.clean(raw)
	total := max(c.offered, c.total)
	if !c.full && len(text) <= c.opts.MaxBytes && total == c.offered {
		return Result{Text: string(text), JSON: c.opts.JSON, TotalBytes: total, KeptBytes: uint64(len(text)), KeptLines: lines(text)}
	}
	text = cut(text, c.opts.MaxBytes)
	r := Result{
		Truncated: true, TotalBytes: total, LowerBound: c.full && c.total == 0, KeptBytes: uint64(len(text)), KeptLines: lines(text),
	}
	r.Text = string(text) + c.marker(r, len(text) > 0 && text[len(text)-1] != '\n')
	return r
}

// marker is the line under an output that was cut.
func (c *Collector) marker(r Result, newline bool) string {
	var b strings.Builder
	if newline {
		b.WriteByte('\n')
	}
	atLeast := ""
	if r.LowerBound {
		atLeast = "at least "
	}
	fmt.Fprintf(&b, "[output cut: kept %d bytes (%d lines) of %s%d bytes", r.KeptBytes, r.KeptLines, atLeast, r.TotalBytes)
	if c.opts.JSON {
		b.WriteString("; the JSON above is incomplete: read it as text")
	}
	if c.opts.Narrow != "" {
		b.WriteString("; to get less: " + c.opts.Narrow)
	}
	b.WriteString("]\n")
	return b.String()
}

// cut keeps the whole lines that fit, or what fits of a first line that does not.
func cut(text []byte, limit int) []byte {
	if len(text) > limit {
		text = trimPartial(text[:limit])
	}
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// trimPartial takes the beginning of a character off the end.
func trimPartial(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

func lines(text []byte) uint64 {
	n := uint64(bytes.Count(text, []byte{'\n'}))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
