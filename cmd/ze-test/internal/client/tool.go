package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxRounds is how many questions one call may put; a server that asks again after them asks for ever.
const MaxRounds = 4

// ToolError is the text of a tool that failed.
type ToolError string

// Error is the text.
func (e ToolError) Error() string { return string(e) }

// Question is one input request of a server: a form.
type Question struct {
	// Key is the server's name for it, which the response must carry.
	Key string
	// Message is the question for the user.
	Message string
	// Properties are the values that are asked for, by name.
	Properties map[string]Property
}

// Property is one value that a question asks for.
type Property struct {
	// Type is its JSON type: string, number, integer or boolean.
	Type string `json:"type"`
}

// Answerer gives the inputResponses for a question, or says why there are none.
type Answerer func(Question) (json.RawMessage, error)

// CallTool calls a tool and returns its text. While the server asks, ask answers and the call is sent again: the same params
// with the responses. A tool that fails is a ToolError.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage, ask Answerer) (string, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return "", err
	}
	original := Params{"name": quoted}
	if arguments != nil {
		original["arguments"] = arguments
	}
	params := original
	for round := 0; ; round++ {
		raw, err := c.Call(ctx, "tools/call", params)
		if err != nil {
			return "", err
		}
		var r result
		if err := json.Unmarshal(raw, &r); err != nil {
			return "", fmt.Errorf("tools/call: result: %w", err)
		}
		switch r.ResultType {
		case "complete":
			return r.text()
		case "input_required":
		default:
			return "", fmt.Errorf("tools/call: a result of type %q", r.ResultType)
		}
		q, err := r.question()
		if err != nil {
			return "", err
		}
		if round == MaxRounds {
			return "", fmt.Errorf("the server still asks after %d rounds: %s", MaxRounds, q.Message)
		}
		responses, err := ask(*q)
		if err != nil {
			return "", err
		}
		params = maps.Clone(original)
		params["inputResponses"] = responses
	}
}

type result struct {
	ResultType    string                     `json:"resultType"`
	IsError       bool                       `json:"isError"`
	Content       []content                  `json:"content"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  json.RawMessage            `json:"requestState"`
}

type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
	URI      string `json:"uri"`
	Resource *struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// text is what a complete result says, a line for each block that is not text.
func (r *result) text() (string, error) {
	var lines []string
	for _, c := range r.Content {
		switch {
		case c.Type == "text":
			lines = append(lines, c.Text)
		case c.Resource != nil && c.Resource.Text != "":
			lines = append(lines, c.Resource.Text)
		case c.Resource != nil:
			lines = append(lines, fmt.Sprintf("[%s %s]", c.Type, c.Resource.URI))
		case c.URI != "":
			lines = append(lines, fmt.Sprintf("[%s %s]", c.Type, c.URI))
		default:
			lines = append(lines, fmt.Sprintf("[%s %s, %d bytes in base64]", c.Type, c.MimeType, len(c.Data)))
		}
	}
	text := strings.Join(lines, "\n")
	if r.IsError {
		return "", ToolError(text)
	}
	return text, nil
}

// question is the one question of a result. Whatever the server under test must never do is an error.
func (r *result) question() (*Question, error) {
	if r.RequestState != nil {
		return nil, errors.New("the server issued a requestState")
	}
	if len(r.InputRequests) != 1 {
		return nil, fmt.Errorf("the server asks %d questions in one result; one is due", len(r.InputRequests))
	}
	key := slices.Collect(maps.Keys(r.InputRequests))[0]
	var request struct {
		Method string `json:"method"`
		Params struct {
			Mode            string `json:"mode"`
			Message         string `json:"message"`
			RequestedSchema struct {
				Properties map[string]Property `json:"properties"`
			} `json:"requestedSchema"`
		} `json:"params"`
	}
	if err := json.Unmarshal(r.InputRequests[key], &request); err != nil {
		return nil, fmt.Errorf("input request %q: %w", key, err)
	}
	p := request.Params
	if request.Method != "elicitation/create" || p.Mode != "form" && p.Mode != "" {
		return nil, fmt.Errorf("the server asks by %s, mode %q; only forms are answered here", request.Method, p.Mode)
	}
	return &Question{Key: key, Message: p.Message, Properties: p.RequestedSchema.Properties}, nil
}

// ListTools lists the names of all tools in the server's order, every page of them.
func (c *Client) ListTools(ctx context.Context) ([]string, error) {
	var names []string
	params := Params{}
	seen := map[string]bool{}
	for {
		raw, err := c.Call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			NextCursor *string `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("tools/list: result: %w", err)
		}
		for _, t := range page.Tools {
			names = append(names, t.Name)
		}
		if page.NextCursor == nil {
			return names, nil
		}
		if seen[*page.NextCursor] {
			return nil, errors.New("tools/list: a cursor comes again, so the list would never end")
		}
		seen[*page.NextCursor] = true
		cursor, err := json.Marshal(*page.NextCursor)
		if err != nil {
			return nil, err
		}
		params = Params{"cursor": cursor}
	}
}
