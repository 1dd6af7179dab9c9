package mcp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/zegate/zegate/pkg/fault"
)

// accept is which of the two forms of an answer the client reads.
type accept struct{ json, sse bool }

// parseAccept reads the Accept header (RFC 9110, section 12.5.1). Absent, or with nothing but */*, means JSON: who wants a
// stream names it.
func parseAccept(h http.Header) (accept, *fault.Error) {
	values := h.Values("Accept")
	if len(values) == 0 {
		return accept{json: true}, nil
	}
	// The most specific range that matches a type decides on it, so a type may be shut out by q=0.
	json, sse := rating{}, rating{}
	any := false
	for _, item := range strings.Split(strings.Join(values, ","), ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		any = true
		mediaRange, params, err := mime.ParseMediaType(item)
		if err != nil {
			continue
		}
		wanted := true
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil && q == 0 {
			wanted = false
		}
		switch mediaRange {
		case "application/json":
			json.set(3, wanted)
		case "text/event-stream":
			sse.set(3, wanted)
		case "application/*":
			json.set(2, wanted)
		case "text/*":
			sse.set(2, wanted)
		case "*/*":
			json.set(1, wanted)
		}
	}
	a := accept{json: json.wanted || !any, sse: sse.wanted}
	if !a.json && !a.sse {
		return a, fault.New(fault.NotAcceptable, "not acceptable: answers are application/json or text/event-stream; name both in Accept")
	}
	return a, nil
}

type rating struct {
	specificity int
	wanted      bool
}

func (r *rating) set(specificity int, wanted bool) {
	if specificity >= r.specificity {
		*r = rating{specificity, wanted}
	}
}
