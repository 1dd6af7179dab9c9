package mcp

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// message is one JSON-RPC request or notification. Values are parts of the body, as they were written.
type message struct {
	id     []byte // nil for a notification, and where the id could not be read
	method string
	params []byte // nil when absent; of any kind

	name           []byte // params.name
	uri            []byte // params.uri
	taskID         []byte // params.taskId
	meta           []byte // params._meta
	arguments      []byte // params.arguments
	inputResponses []byte // params.inputResponses
	cursor         []byte // params.cursor
	notifications  []byte // params.notifications
	requestState   bool   // params.requestState is there, whatever its value
}

func (m *message) notification() bool { return m.id == nil }

// decode reads a body (steps 7 and 8 of the pipeline). On an error, the message holds the id if it could be read.
func decode(body []byte) (message, *fault.Error) {
	var m message
	var id, version, method []byte
	var hasMethod, isResponse bool
	err := rawjson.Members(body, func(name string, v []byte) error {
		switch name {
		case "jsonrpc":
			version = v
		case "id":
			id = v
		case "method":
			method, hasMethod = v, true
		case "params":
			m.params = v
		case "result", "error":
			isResponse = true
		}
		return nil
	})
	if errors.Is(err, rawjson.ErrNotObject) {
		return m, fault.New(fault.InvalidRequest, "invalid request: the body must be one JSON-RPC request or notification object; batches are not part of MCP")
	}
	if err != nil {
		return message{}, parseFault(err)
	}
	if rawjson.KindOf(id) == rawjson.String || rawjson.IsInteger(id) {
		m.id = id
	} else if id != nil {
		return m, fault.New(fault.InvalidRequest, "invalid request: id must be a string or an integer")
	}
	switch {
	case rawjson.KindOf(version) != rawjson.String || rawjson.Text(version) != "2.0":
		return m, fault.New(fault.InvalidRequest, `invalid request: jsonrpc must be "2.0"`)
	case isResponse:
		return m, fault.New(fault.InvalidRequest, "invalid request: a JSON-RPC response was sent; this server sends no requests to answer")
	case !hasMethod || rawjson.KindOf(method) != rawjson.String:
		return m, fault.New(fault.InvalidRequest, "invalid request: method must be a string")
	}
	m.method = rawjson.Text(method)
	if rawjson.KindOf(m.params) == rawjson.Object {
		m.readParams()
	}
	return m, nil
}

// readParams takes the members that some step looks at. The body was read strictly already, so there is no error to find.
func (m *message) readParams() {
	_ = rawjson.Members(m.params, func(name string, v []byte) error {
		switch name {
		case "_meta":
			m.meta = v
		case "name":
			m.name = v
		case "uri":
			m.uri = v
		case "taskId":
			m.taskID = v
		case "arguments":
			m.arguments = v
		case "inputResponses":
			m.inputResponses = v
		case "cursor":
			m.cursor = v
		case "notifications":
			m.notifications = v
		case "requestState":
			m.requestState = true
		}
		return nil
	})
}

func parseFault(err error) *fault.Error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return fault.Wrap(err, fault.ParseError, "parse error: the body is not one JSON value")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fault.Wrap(err, fault.ParseError, "parse error: a member name comes twice in one object, near byte %d", syntax.ByteOffset)
	}
	return fault.Wrap(err, fault.ParseError, "parse error: invalid JSON near byte %d", syntax.ByteOffset)
}

// text is the text of a value that must be a string.
func text(v []byte) (string, bool) {
	if rawjson.KindOf(v) != rawjson.String {
		return "", false
	}
	return rawjson.Text(v), true
}
