package rest

import (
	"fmt"
	"io"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/encode"
	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// marshaler writes messages as the JSON that MCP has for them, where it has one: schemas, arguments and structured content
// are plain JSON and not base64.
type marshaler struct{}

var _ runtime.Marshaler = (*marshaler)(nil)

// ContentType is JSON, whatever the message.
func (*marshaler) ContentType(any) string { return "application/json" }

// Marshal writes one message.
func (*marshaler) Marshal(v any) ([]byte, error) {
	switch m := v.(type) {
	case *executorv1.ListToolsResponse:
		out := []byte(`{"tools":[`)
		for i, t := range m.GetTools() {
			if i > 0 {
				out = append(out, ',')
			}
			out = catalogue.AppendDescriptor(out, t, t.GetInputSchemaJson())
		}
		out = rawjson.AppendString(append(out, `],"revision":`...), m.GetRevision())
		out = rawjson.AppendString(append(out, `,"instructions":`...), m.GetInstructions())
		return append(out, '}'), nil
	case *executorv1.CallToolResponse:
		out, err := encode.ToolResult([]byte{'{'}, m)
		if err != nil {
			return nil, err
		}
		return append(out, '}'), nil
	case proto.Message:
		return protojson.Marshal(m)
	}
	return nil, fmt.Errorf("no JSON form for a %T", v)
}

// Unmarshal takes a body as it is: the one body of this interface is a call's arguments, JSON that is handed on.
func (*marshaler) Unmarshal(data []byte, v any) error {
	raw, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("no body is read into a %T", v)
	}
	*raw = data
	return nil
}

// NewDecoder reads a whole body.
func (m *marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return m.Unmarshal(data, v)
	})
}

// NewEncoder writes one message.
func (m *marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := m.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}
