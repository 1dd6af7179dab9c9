package mcp

import (
	"slices"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// protocolVersion is the one revision that is spoken here.
const protocolVersion = "2026-07-28"

// Keys of a request's _meta (MCP basic, "_meta").
const (
	keyVersion      = "io.modelcontextprotocol/protocolVersion"
	keyClientInfo   = "io.modelcontextprotocol/clientInfo"
	keyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel     = "io.modelcontextprotocol/logLevel"
)

// meta is what a request says of itself; nothing is remembered from one request to the next.
type meta struct {
	version       string
	capabilities  []byte // a JSON object
	client        string // name/version, for the audit; empty where not said
	progressToken []byte // a JSON string or integer; nil when not given
}

func metaVersion(raw []byte) []byte {
	if rawjson.KindOf(raw) != rawjson.Object {
		return nil
	}
	return valueAt(raw, []string{keyVersion})
}

var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// parseMeta is step 10.
func parseMeta(m *message) (meta, *fault.Error) {
	var out meta
	if m.params != nil && rawjson.KindOf(m.params) != rawjson.Object {
		return out, envelope("params must be an object")
	}
	if m.meta == nil {
		return out, envelope("params._meta is required: it carries the protocol version and the client's capabilities of each request")
	}
	if rawjson.KindOf(m.meta) != rawjson.Object {
		return out, envelope("params._meta must be an object")
	}
	var wrong *fault.Error
	haveVersion := false
	_ = rawjson.Members(m.meta, func(name string, v []byte) error {
		var ok bool
		switch name {
		case keyVersion:
			if out.version, ok = text(v); !ok {
				wrong = envelope("params._meta[%q] must be a string", name)
			}
			haveVersion = true
		case keyCapabilities:
			if out.capabilities = v; rawjson.KindOf(v) != rawjson.Object {
				wrong = envelope("params._meta[%q] must be an object", name)
			}
		case keyClientInfo:
			if out.client, ok = clientInfo(v); !ok {
				wrong = envelope("params._meta[%q] must be an object with the strings name and version", name)
			}
		case keyLogLevel:
			if level, ok := text(v); !ok || !slices.Contains(logLevels, level) {
				wrong = envelope("params._meta[%q] must be one of %v", name, logLevels)
			}
		case "progressToken":
			if out.progressToken = v; rawjson.KindOf(v) != rawjson.String && !rawjson.IsInteger(v) {
				wrong = envelope("params._meta.progressToken must be a string or an integer")
			}
		}
		return nil
	})
	switch {
	case wrong != nil:
		return out, wrong
	case !haveVersion:
		return out, envelope("params._meta[%q] is required", keyVersion)
	case out.capabilities == nil:
		return out, envelope("params._meta[%q] is required; {} declares none", keyCapabilities)
	}
	return out, nil
}

func clientInfo(v []byte) (string, bool) {
	if rawjson.KindOf(v) != rawjson.Object {
		return "", false
	}
	name, ok1 := text(valueAt(v, []string{"name"}))
	version, ok2 := text(valueAt(v, []string{"version"}))
	return name + "/" + version, ok1 && ok2
}

// checkVersion is step 11.
func checkVersion(version string) *fault.Error {
	if version == protocolVersion {
		return nil
	}
	e := fault.New(fault.UnsupportedVersion, "unsupported protocol version; this server speaks %s", protocolVersion)
	data := append([]byte(nil), `{"supported":["`+protocolVersion+`"],"requested":`...)
	e.Data = append(rawjson.AppendString(data, version), '}')
	return e
}

// requestStateText is the one sentence for a request that carries a state which this server never issued (seed, "Ze issues
// no requestState").
const requestStateText = "invalid params: params.requestState is not accepted; this server issues no requestState, so a retry must not carry one"

// checkRequestState is step 12. The value is not looked at.
func checkRequestState(m *message) *fault.Error {
	if m.requestState {
		return fault.New(fault.InvalidEnvelope, "%s", requestStateText)
	}
	return nil
}

func envelope(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidEnvelope, "invalid params: "+format, args...)
}
