// Package script is the body of ze-test: it reads directives, one a line, and acts as an MCP client on each.
package script

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zegate/zegate/cmd/ze-test/internal/client"
)

const usage = `usage: ze-test mcp --port N [--token T] [--timeout 10s] [--elicit form|url|form,url|""] < SCRIPT

Drives the MCP server at http://127.0.0.1:N/mcp. A line of standard input is one directive:

  # text                          nothing
  <command>                       calls ze_execute with the command and prints the text
  @tool [json]                    calls a tool with JSON arguments and prints the text
  wait <duration>                 waits, e.g. 500ms
  wait-established                waits until "show bgp peer list" shows an established session
  wait-peers                      waits until "show bgp peer list" shows a peer
  wait-tool <name>                waits until the tool is listed
  tools-order-stable [n]          lists the tools n times (3) and prints tools-order stable=true or false
  elicit-answer accept <value>    the answer for the next question; several are used in turn, the last one is kept
  elicit-answer decline|cancel|omit
                                  omit retries with empty inputResponses
  elicit-answer none              forgets the answers
  elicit-extra <key or ->         adds an unrelated response to the next retry
  probe-header <name> <value or ->, probe-meta <key> <json, text or ->,
  probe-method <verb>, probe-body <text or ->
                                  change the next probe; - leaves the part out
  probe <method> [json]           sends a request with these params and prints
                                  probe status=<http> code=<jsonrpc, ok or none> message=<error message or result type>

$LAST stands for the previous output; inside JSON it is escaped as part of a string.
The first error goes to standard error as "error: ..." ("command error: ..." for a tool that failed) and ends the run with 1.

`

// Main runs ze-test and returns its exit code: 0, 1 after the first error, 2 for arguments that cannot be understood.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg, err := parseArgs(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "error: %v\n", err)
		return 2
	}
	r := &runner{
		client:  client.New(fmt.Sprintf("http://127.0.0.1:%d/mcp", cfg.port), cfg.token, cfg.capabilities, cfg.timeout),
		timeout: cfg.timeout,
		form:    cfg.form,
		out:     stdout,
	}
	err = r.run(ctx, stdin)
	var failed client.ToolError
	switch {
	case errors.As(err, &failed):
		_, _ = fmt.Fprintf(stderr, "command error: %v\n", err)
		return 1
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

type config struct {
	port         int
	token        string
	timeout      time.Duration
	capabilities string
	form         bool // form mode is declared
}

func parseArgs(args []string, stderr io.Writer) (config, error) {
	var cfg config
	if len(args) == 0 || args[0] != "mcp" {
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help") {
			_, _ = io.WriteString(stderr, usage)
			return cfg, flag.ErrHelp
		}
		return cfg, errors.New("write: ze-test mcp --port N; ze-test --help tells more")
	}
	fs := flag.NewFlagSet("ze-test mcp", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&cfg.port, "port", 0, "")
	fs.StringVar(&cfg.token, "token", "", "")
	fs.DurationVar(&cfg.timeout, "timeout", 10*time.Second, "")
	cfg.capabilities = `{}`
	fs.Func("elicit", "", func(modes string) error {
		var err error
		cfg.capabilities, cfg.form, err = elicitation(modes)
		return err
	})
	if err := fs.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(stderr, usage)
		}
		return cfg, err
	}
	switch {
	case fs.NArg() > 0:
		return cfg, fmt.Errorf("unexpected argument %q: directives are read from standard input", fs.Arg(0))
	case cfg.port < 1 || cfg.port > 65535:
		return cfg, errors.New("--port: write the port of the server, 1 to 65535")
	case cfg.timeout <= 0:
		return cfg, errors.New("--timeout: write a duration above 0, such as 10s")
	}
	return cfg, nil
}

// elicitation is the capability that --elicit declares. No mode at all is the {} shape, which means form.
func elicitation(modes string) (capabilities string, form bool, _ error) {
	if modes == "" {
		return `{"elicitation":{}}`, true, nil
	}
	var members []string
	for mode := range strings.SplitSeq(modes, ",") {
		if mode != "form" && mode != "url" {
			return "", false, fmt.Errorf(`%q is not a mode: write form, url, form,url or ""`, mode)
		}
		form = form || mode == "form"
		members = append(members, `"`+mode+`":{}`)
	}
	return `{"elicitation":{` + strings.Join(members, ",") + `}}`, form, nil
}
