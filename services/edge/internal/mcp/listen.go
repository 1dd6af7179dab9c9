package mcp

import (
	"context"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// listen is subscriptions/listen: a stream of change notifications that is open until the client closes it or the server
// stops. The acknowledgement comes first and names what is honoured; the result comes last, when the server stops.
func (h *Handler) listen(ctx context.Context, r *request) ([]byte, *fault.Error) {
	tools, e := parseFilter(r.notifications)
	if e != nil {
		return nil, e
	}
	if !r.answer.accept.sse {
		return nil, fault.New(fault.NotAcceptable, "not acceptable: subscriptions/listen answers with text/event-stream; name it in Accept")
	}
	release, e := h.cfg.Gate.AcquireStream(ctx)
	if e != nil {
		return nil, e
	}
	defer release()
	// Whatever changes from here on is told.
	_, changed := h.cfg.Catalogue.Current()
	honoured := `{}`
	if tools {
		honoured = `{"toolsListChanged":true}`
	}
	if r.answer.event(notification("notifications/subscriptions/acknowledged", r.id, `,"notifications":`+honoured)) != nil {
		return nil, nil
	}
	if !tools {
		changed = nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-h.stopping:
			r.resultMeta = append(append([]byte(nil), `"io.modelcontextprotocol/subscriptionId":`...), r.id...)
			return append(r.buf, `"complete"`...), nil
		case <-changed:
			_, changed = h.cfg.Catalogue.Current()
			if r.answer.event(notification("notifications/tools/list_changed", r.id, "")) != nil {
				return nil, nil
			}
		}
	}
}

// notification is a notification on the subscription that a request with this id opened.
func notification(method string, id []byte, params string) []byte {
	n := append([]byte(nil), `{"jsonrpc":"2.0","method":"`+method+`","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`...)
	return append(append(append(n, id...), '}'), params+`}}`...)
}

// parseFilter reads params.notifications and tells whether tool list changes are asked for. Types of notifications that are
// not served are left out of the acknowledgement, as MCP says; a member of the wrong type is an error all the same.
func parseFilter(filter []byte) (tools bool, _ *fault.Error) {
	if rawjson.KindOf(filter) != rawjson.Object {
		return false, envelope("params.notifications is required and must be an object")
	}
	var wrong *fault.Error
	_ = rawjson.Members(filter, func(name string, v []byte) error {
		k := rawjson.KindOf(v)
		switch name {
		case "toolsListChanged":
			tools = k == rawjson.True
			fallthrough
		case "promptsListChanged", "resourcesListChanged":
			if k != rawjson.True && k != rawjson.False {
				wrong = envelope("params.notifications.%s must be true or false", name)
			}
		case "resourceSubscriptions", "taskIds":
			if k != rawjson.Array {
				wrong = envelope("params.notifications.%s must be an array of strings", name)
			}
		}
		return nil
	})
	return tools, wrong
}
