package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strconv"
)

// message is a JSON-RPC message that a server sends.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`
}

// read takes the answer out of a body: JSON, or an event stream that ends with it. A body of another type is no answer and
// no error.
func (a *Answer) read(contentType string, body []byte, id int64) error {
	media, _, _ := mime.ParseMediaType(contentType)
	switch media {
	case "application/json":
		var m message
		if err := json.Unmarshal(body, &m); err != nil || m.JSONRPC == "" {
			return nil //nolint:nilerr // what is no message is no answer: the caller tells what came instead
		}
		return a.take(m, id)
	case "text/event-stream":
		return a.readStream(body, id)
	}
	return nil
}

func (a *Answer) readStream(body []byte, id int64) error {
	for _, data := range events(body) {
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			return fmt.Errorf("event: %w", err)
		}
		if m.Method != nil && m.ID == nil {
			continue // a notification on the way to the answer
		}
		return a.take(m, id)
	}
	return errors.New("the event stream ends without an answer")
}

// take checks the envelope of an answer and keeps what is in it.
func (a *Answer) take(m message, id int64) error {
	if m.JSONRPC != "2.0" || m.Method != nil || (m.Result == nil) == (m.Error == nil) {
		return errors.New("the message is not a JSON-RPC 2.0 answer")
	}
	// An error may come without an id when the request's own could not be read.
	if string(m.ID) != strconv.FormatInt(id, 10) && (m.Error == nil || m.ID != nil) {
		return fmt.Errorf("the answer is for request %s, the request was %d", m.ID, id)
	}
	a.Result, a.Error = m.Result, m.Error
	return nil
}

// events is the data of each event of a stream.
func events(body []byte) [][]byte {
	var all [][]byte
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for block := range bytes.SplitSeq(body, []byte("\n\n")) {
		var data [][]byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(value, []byte(" ")))
			}
		}
		if data != nil {
			all = append(all, bytes.Join(data, []byte("\n")))
		}
	}
	return all
}
