package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zegate/zegate/cmd/ze-test/internal/client"
)

// answers are what the user of this client would say: in turn, and the last one for as long as questions come.
type answers struct {
	queue []answer
	used  bool   // the first in the queue answered a question already
	extra string // key of the unrelated response of the next retry; empty means none
}

type answer struct {
	action string
	value  string // of accept
}

// add queues an answer. One that is only kept because it was the last makes room.
func (a *answers) add(next answer) {
	if a.used {
		a.queue, a.used = nil, false
	}
	a.queue = append(a.queue, next)
}

// next is the answer to a question.
func (a *answers) next() (answer, bool) {
	if a.used && len(a.queue) > 1 {
		a.queue = a.queue[1:]
	}
	if len(a.queue) == 0 {
		return answer{}, false
	}
	a.used = true
	return a.queue[0], true
}

func (r *runner) elicitAnswer(_ context.Context, rest string) error {
	action, value := cutWord(rest)
	switch {
	case action == "accept" && value != "":
		r.answers.add(answer{action, r.expand(value)})
	case slices.Contains([]string{"decline", "cancel", "omit"}, action) && value == "":
		r.answers.add(answer{action: action})
	case action == "none" && value == "":
		r.answers.queue, r.answers.used = nil, false
	default:
		return fmt.Errorf("elicit-answer: %q is not accept <value>, decline, cancel, omit or none", rest)
	}
	return nil
}

func (r *runner) elicitExtra(_ context.Context, rest string) error {
	switch {
	case rest == "" || strings.Contains(rest, " "):
		return errors.New("elicit-extra: write one key behind it, or -")
	case rest == "-":
		rest = ""
	}
	r.answers.extra = rest
	return nil
}

// ask is the client's user: it answers a question as the script says.
func (r *runner) ask(q client.Question) (json.RawMessage, error) {
	if !r.form {
		return nil, errors.New("the server asks by form, which this client did not declare")
	}
	a, ok := r.answers.next()
	if !ok {
		return nil, fmt.Errorf("the server asks and no answer is queued: %s", q.Message)
	}
	responses := map[string]any{}
	switch a.action {
	case "omit":
	case "accept":
		content, err := fill(q, a.value)
		if err != nil {
			return nil, err
		}
		responses[q.Key] = map[string]any{"action": "accept", "content": content}
	default:
		responses[q.Key] = map[string]any{"action": a.action}
	}
	if r.answers.extra != "" {
		responses[r.answers.extra] = map[string]any{"action": "accept", "content": map[string]any{}}
		r.answers.extra = ""
	}
	return json.Marshal(responses)
}

// fill puts a value into the form: as the one value that is asked for, or a JSON object when several are.
func fill(q client.Question, value string) (json.RawMessage, error) {
	if len(q.Properties) != 1 {
		content := json.RawMessage(value)
		if !strings.HasPrefix(value, "{") || !json.Valid(content) {
			return nil, fmt.Errorf("the question asks for %d values: answer with a JSON object, not with %q", len(q.Properties), value)
		}
		return content, nil
	}
	content := map[string]any{}
	for name, p := range q.Properties {
		if p.Type == "string" {
			content[name] = value
			continue
		}
		raw := json.RawMessage(value)
		if !json.Valid(raw) {
			return nil, fmt.Errorf("the question asks for a %s: %q is none", p.Type, value)
		}
		content[name] = raw
	}
	return json.Marshal(content)
}
