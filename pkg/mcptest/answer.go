package mcptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
)

// Answer checks a whole HTTP answer to a request (or notification) of this method: status, content type, the messages in
// the body and their order. The body of an event stream may be cut short for subscriptions/listen alone, which ends when
// the client wants.
func (c *Checker) Answer(method string, status int, contentType string, body []byte) error {
	if status == http.StatusAccepted || status == http.StatusNoContent {
		if len(body) != 0 {
			return fmt.Errorf("HTTP %d with a body", status)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("content type: %w", err)
	}
	switch media {
	case "application/json":
		return c.single(method, status, body)
	case "text/event-stream":
		if status != http.StatusOK {
			return fmt.Errorf("an event stream with HTTP %d", status)
		}
		messages, err := Events(body)
		if err != nil {
			return err
		}
		return c.stream(method, messages)
	}
	return fmt.Errorf("content type %s is neither JSON nor an event stream", media)
}

func (c *Checker) single(method string, status int, body []byte) error {
	if err := c.Message(method, body); err != nil {
		return err
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	switch {
	case m.Error != nil:
		return errorStatus(m.Error.Code, status)
	case m.Result == nil:
		return errors.New("the answer is a notification")
	case status != http.StatusOK:
		return fmt.Errorf("a result with HTTP %d", status)
	case method == "subscriptions/listen":
		return errors.New("a subscription is answered by a stream")
	}
	return nil
}

func (c *Checker) stream(method string, messages [][]byte) error {
	listen := method == "subscriptions/listen"
	ended := false
	var subscription json.RawMessage
	for i, text := range messages {
		if ended {
			return errors.New("a message behind the result")
		}
		if err := c.Message(method, text); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		var m Message
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		if m.Method == "" {
			ended = true
			continue
		}
		if !listen {
			continue
		}
		if first := m.Method == "notifications/subscriptions/acknowledged"; first != (i == 0) {
			return fmt.Errorf("message %d is %s: a subscription is acknowledged once, first", i, m.Method)
		}
		id := subscriptionID(text)
		if subscription == nil {
			subscription = id
		}
		if !bytes.Equal(id, subscription) {
			return fmt.Errorf("message %d belongs to subscription %s, the stream to %s", i, id, subscription)
		}
	}
	if !ended && !listen {
		return errors.New("the stream ends without a result")
	}
	return nil
}

// Events is the data of each event in a complete event stream, in order. Comments are dropped; an event of another type
// than "message", or with an id, is an error: this revision resumes no stream.
func Events(body []byte) ([][]byte, error) {
	var events [][]byte
	var data []byte
	have := false
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.Lines(body) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			if have {
				events = append(events, data)
			}
			data, have = nil, false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "":
		case "data":
			if have {
				data = append(data, '\n')
			}
			data, have = append(data, value...), true
		case "event":
			if string(value) != "message" {
				return nil, fmt.Errorf("event of type %q", value)
			}
		default:
			return nil, fmt.Errorf("unexpected field %q in an event stream", name)
		}
	}
	if have {
		return nil, errors.New("the last event is not ended by a blank line")
	}
	return events, nil
}
