package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zegate/zegate/cmd/ze-test/internal/client"
)

// runner acts on directives. What one directive leaves for the next is here.
type runner struct {
	client  *client.Client
	timeout time.Duration
	form    bool
	out     io.Writer

	last    string // the previous output
	answers answers
	changes client.Changes // of the next probe
}

// handlers are the directives, by their first word.
var handlers = map[string]func(r *runner, ctx context.Context, rest string) error{
	"wait":               (*runner).wait,
	"wait-established":   (*runner).waitEstablished,
	"wait-peers":         (*runner).waitPeers,
	"wait-tool":          (*runner).waitTool,
	"tools-order-stable": (*runner).toolsOrderStable,
	"elicit-answer":      (*runner).elicitAnswer,
	"elicit-extra":       (*runner).elicitExtra,
	"probe-header":       (*runner).probeHeader,
	"probe-meta":         (*runner).probeMeta,
	"probe-method":       (*runner).probeMethod,
	"probe-body":         (*runner).probeBody,
	"probe":              (*runner).probe,
}

// families begin the names of directives. A line that begins with one and is no directive is a mistake, not a command.
var families = []string{"wait-", "tools-", "elicit-", "probe-", "task-", "call-"}

func (r *runner) run(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, readErr := lines.ReadString('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return fmt.Errorf("standard input: %w", readErr)
		}
		if err := r.directive(ctx, strings.TrimSpace(line)); err != nil {
			return err
		}
		if readErr != nil { // the end of the script
			return nil //nolint:nilerr // io.EOF, as checked above
		}
	}
}

func (r *runner) directive(ctx context.Context, line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	word, rest := cutWord(line)
	if tool, ok := strings.CutPrefix(word, "@"); ok {
		return r.callTool(ctx, tool, rest)
	}
	if handle, ok := handlers[word]; ok {
		return handle(r, ctx, rest)
	}
	if slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(word, f) }) {
		return fmt.Errorf("unknown directive %q; ze-test --help names them", word)
	}
	return r.command(ctx, r.expand(line))
}

func cutWord(line string) (word, rest string) {
	word, rest, _ = strings.Cut(line, " ")
	return word, strings.TrimSpace(rest)
}

// expand puts the previous output in.
func (r *runner) expand(text string) string { return strings.ReplaceAll(text, "$LAST", r.last) }

// expandJSON puts the previous output into JSON, where it is part of a string.
func (r *runner) expandJSON(text string) (string, error) {
	quoted, err := json.Marshal(r.last)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(text, "$LAST", string(quoted[1:len(quoted)-1])), nil
}

func (r *runner) print(text string) error {
	r.last = text
	_, err := fmt.Fprintln(r.out, text)
	return err
}

func (r *runner) command(ctx context.Context, command string) error {
	text, err := r.execute(ctx, command)
	if err != nil {
		return err
	}
	return r.print(text)
}

func (r *runner) execute(ctx context.Context, command string) (string, error) {
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return "", err
	}
	return r.client.CallTool(ctx, "ze_execute", arguments, r.ask)
}

func (r *runner) callTool(ctx context.Context, tool, rest string) error {
	if tool == "" {
		return errors.New("@: write the tool's name behind it")
	}
	var arguments json.RawMessage
	if rest != "" {
		text, err := r.expandJSON(rest)
		if err != nil {
			return err
		}
		if arguments = json.RawMessage(text); !json.Valid(arguments) {
			return fmt.Errorf("@%s: the arguments are not JSON: %s", tool, text)
		}
	}
	text, err := r.client.CallTool(ctx, tool, arguments, r.ask)
	if err != nil {
		return err
	}
	return r.print(text)
}

func (r *runner) toolsOrderStable(ctx context.Context, rest string) error {
	times := 3
	if rest != "" {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 2 {
			return fmt.Errorf("tools-order-stable: %q is not a number of at least 2", rest)
		}
		times = n
	}
	first, err := r.client.ListTools(ctx)
	if err != nil {
		return err
	}
	stable := true
	for range times - 1 {
		again, err := r.client.ListTools(ctx)
		if err != nil {
			return err
		}
		stable = stable && slices.Equal(first, again)
	}
	return r.print(fmt.Sprintf("tools-order stable=%t", stable))
}
