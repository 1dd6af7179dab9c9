package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/zegate/zegate/cmd/ze-test/internal/client"
)

// leftOut stands for "without it" in the directives that change a probe.
const leftOut = "-"

func (r *runner) probeHeader(_ context.Context, rest string) error {
	name, value := cutWord(rest)
	if name == "" || value == "" {
		return errors.New("probe-header: write a name and a value, or - for none")
	}
	if r.changes.Header == nil {
		r.changes.Header = map[string]*string{}
	}
	if value == leftOut {
		r.changes.Header[name] = nil
		return nil
	}
	value = r.expand(value)
	r.changes.Header[name] = &value
	return nil
}

func (r *runner) probeMeta(_ context.Context, rest string) error {
	key, value := cutWord(rest)
	if key == "" || value == "" {
		return errors.New("probe-meta: write a key and a value, or - for none")
	}
	if r.changes.Meta == nil {
		r.changes.Meta = map[string]json.RawMessage{}
	}
	if value == leftOut {
		r.changes.Meta[key] = nil
		return nil
	}
	raw := json.RawMessage(value)
	if !json.Valid(raw) {
		quoted, err := json.Marshal(r.expand(value))
		if err != nil {
			return err
		}
		raw = quoted
	}
	r.changes.Meta[key] = raw
	return nil
}

func (r *runner) probeMethod(_ context.Context, rest string) error {
	if rest == "" {
		return errors.New("probe-method: write an HTTP method behind it")
	}
	r.changes.Verb = rest
	return nil
}

func (r *runner) probeBody(_ context.Context, rest string) error {
	if rest == "" {
		return errors.New("probe-body: write the body behind it, or - for none")
	}
	if rest == leftOut {
		r.changes.Body = []byte{}
		return nil
	}
	text, err := r.expandJSON(rest)
	r.changes.Body = []byte(text)
	return err
}

// probe sends one request as it stands and says what came back. The changes were for it alone.
func (r *runner) probe(ctx context.Context, rest string) error {
	changes := r.changes
	r.changes = client.Changes{}
	method, text := cutWord(rest)
	if method == "" {
		return errors.New("probe: write the JSON-RPC method behind it")
	}
	var params client.Params
	if text != "" {
		expanded, err := r.expandJSON(text)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(expanded), &params); err != nil {
			return fmt.Errorf("probe: params are not a JSON object: %w", err)
		}
	}
	a, err := r.client.Send(ctx, method, params, changes)
	if err != nil {
		return err
	}
	code, message := "none", ""
	switch {
	case a.Error != nil:
		code, message = strconv.FormatInt(a.Error.Code, 10), a.Error.Message
	case a.Result != nil:
		var result struct {
			ResultType string `json:"resultType"`
		}
		if err := json.Unmarshal(a.Result, &result); err != nil {
			return fmt.Errorf("probe: result: %w", err)
		}
		code, message = "ok", result.ResultType
	}
	return r.print(fmt.Sprintf("probe status=%d code=%s message=%s", a.Status, code, message))
}
