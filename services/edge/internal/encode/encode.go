// Package encode writes what executors answer as MCP JSON, by appending to a buffer: integers, ids and documents that are
// JSON already keep their bytes.
package encode

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/zegate/zegate/pkg/fault"
	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// ToolResult appends the members content, structuredContent and isError of a tool's result, without braces. It fails, as an
// internal fault, when the executor sent structured content that is no JSON.
func ToolResult(dst []byte, r *executorv1.CallToolResponse) ([]byte, error) {
	dst = append(dst, `"content":[`...)
	for i, c := range r.GetContent() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = content(dst, c)
	}
	dst = append(dst, ']')
	if s := r.GetStructuredContentJson(); len(s) > 0 {
		if !rawjson.Valid(s) {
			return nil, fault.Wrap(fmt.Errorf("structured_content_json of %d bytes is not valid JSON", len(s)), fault.Internal, fault.InternalText)
		}
		dst = append(append(dst, `,"structuredContent":`...), s...)
	}
	if r.GetIsError() {
		dst = append(dst, `,"isError":true`...)
	}
	return dst, nil
}

// ToolFailure appends the members of a tool's result that is a failure with one text.
func ToolFailure(dst []byte, text string) []byte {
	dst = rawjson.AppendString(append(dst, `"content":[{"type":"text","text":`...), text)
	return append(dst, `}],"isError":true`...)
}

func content(dst []byte, c *executorv1.Content) []byte {
	switch k := c.GetKind().(type) {
	case *executorv1.Content_Image:
		dst = media(append(dst, `{"type":"image","data":"`...), k.Image.GetData(), k.Image.GetMimeType())
	case *executorv1.Content_Audio:
		dst = media(append(dst, `{"type":"audio","data":"`...), k.Audio.GetData(), k.Audio.GetMimeType())
	case *executorv1.Content_Resource:
		dst = resource(dst, k.Resource)
	case *executorv1.Content_ResourceLink:
		dst = resourceLink(dst, k.ResourceLink)
	default:
		dst = rawjson.AppendString(append(dst, `{"type":"text","text":`...), c.GetText().GetText())
	}
	if a := c.GetAnnotations(); a != nil {
		dst = annotations(append(dst, `,"annotations":`...), a)
	}
	return append(dst, '}')
}

func media(dst, data []byte, mimeType string) []byte {
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return rawjson.AppendString(append(dst, `","mimeType":`...), mimeType)
}

func resource(dst []byte, r *executorv1.EmbeddedResource) []byte {
	dst = rawjson.AppendString(append(dst, `{"type":"resource","resource":{"uri":`...), r.GetUri())
	dst = optional(dst, "mimeType", r.GetMimeType())
	if b, ok := r.GetBody().(*executorv1.EmbeddedResource_Blob); ok {
		dst = base64.StdEncoding.AppendEncode(append(dst, `,"blob":"`...), b.Blob)
		dst = append(dst, '"')
	} else {
		dst = rawjson.AppendString(append(dst, `,"text":`...), r.GetText())
	}
	return append(dst, '}')
}

func resourceLink(dst []byte, l *executorv1.ResourceLink) []byte {
	dst = rawjson.AppendString(append(dst, `{"type":"resource_link","uri":`...), l.GetUri())
	dst = rawjson.AppendString(append(dst, `,"name":`...), l.GetName())
	dst = optional(dst, "title", l.GetTitle())
	dst = optional(dst, "description", l.GetDescription())
	dst = optional(dst, "mimeType", l.GetMimeType())
	if l.Size != nil {
		dst = strconv.AppendUint(append(dst, `,"size":`...), l.GetSize(), 10)
	}
	return dst
}

func annotations(dst []byte, a *executorv1.ContentAnnotations) []byte {
	start := len(dst)
	if audience := a.GetAudience(); len(audience) > 0 {
		dst = append(dst, `,"audience":[`...)
		for i, who := range audience {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, who)
		}
		dst = append(dst, ']')
	}
	if p := a.GetPriority(); a.Priority != nil && p >= 0 && p <= 1 { // NaN, too, is no JSON number
		dst = strconv.AppendFloat(append(dst, `,"priority":`...), p, 'f', -1, 64)
	}
	dst = optional(dst, "lastModified", a.GetLastModified())
	if len(dst) == start {
		return append(dst, `{}`...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

// optional appends a member unless its text is empty.
func optional(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return rawjson.AppendString(dst, text)
}
