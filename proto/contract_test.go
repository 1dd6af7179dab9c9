// Package proto_test holds what no change of the contracts may undo.
package proto_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/structpb"

	executorv1 "github.com/zegate/zegate/proto/ze/executor/v1"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
)

// The calls that describe tools. They alone may say what a call requires: what a user can be asked for, what a client must be able to do.
var descriptive = []protoreflect.FullName{
	"ze.executor.v1.ExecutorService.ListTools",
	"ze.executor.v1.ExecutorService.WatchTools",
}

// What no call and no task may carry, without case and separators: whoever runs a call must not be able to ask its user anything.
var forbiddenNames = []string{"capabilit", "elicit", "inputrequest", "inputresponse", "requeststate", "inputrequired"}

// Messages that could carry anything at all.
var forbiddenMessages = []protoreflect.FullName{
	"google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue",
}

// violations is everything in a file's calls that the rule forbids.
func violations(file protoreflect.FileDescriptor) []string {
	var found []string
	for i := range file.Services().Len() {
		methods := file.Services().Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			if slices.Contains(descriptive, m.FullName()) {
				continue
			}
			seen := make(map[protoreflect.FullName]bool)
			for _, root := range []protoreflect.MessageDescriptor{m.Input(), m.Output()} {
				for _, v := range walk(root, seen) {
					found = append(found, fmt.Sprintf("%s: %s", m.FullName(), v))
				}
			}
		}
	}
	return found
}

func walk(m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) []string {
	if seen[m.FullName()] {
		return nil
	}
	seen[m.FullName()] = true
	var found []string
	if slices.Contains(forbiddenMessages, m.FullName()) || forbidden(m.Name()) {
		found = append(found, string(m.FullName()))
	}
	for i := range m.Oneofs().Len() {
		if o := m.Oneofs().Get(i); forbidden(o.Name()) {
			found = append(found, string(o.FullName()))
		}
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if forbidden(f.Name()) || forbidden(protoreflect.Name(f.JSONName())) {
			found = append(found, string(f.FullName()))
		}
		if e := f.Enum(); e != nil {
			found = append(found, enumViolations(e)...)
		}
		if f.Message() != nil {
			found = append(found, walk(f.Message(), seen)...)
		}
	}
	return found
}

func enumViolations(e protoreflect.EnumDescriptor) []string {
	var found []string
	for i := range e.Values().Len() {
		if v := e.Values().Get(i); forbidden(v.Name()) {
			found = append(found, string(v.FullName()))
		}
	}
	return found
}

func forbidden(name protoreflect.Name) bool {
	plain := strings.ToLower(strings.ReplaceAll(string(name), "_", ""))
	return slices.ContainsFunc(forbiddenNames, func(f string) bool { return strings.Contains(plain, f) })
}

// No message of a call or a task can carry a client's capabilities, a question, an answer to one, or a continuation.
func TestCallsCarryNoConversation(t *testing.T) {
	for _, file := range []protoreflect.FileDescriptor{
		executorv1.File_ze_executor_v1_executor_proto, taskrunnerv1.File_ze_taskrunner_v1_taskrunner_proto,
	} {
		if file.Services().Len() == 0 {
			t.Errorf("%s: no service to look at", file.Path())
		}
		for _, v := range violations(file) {
			t.Errorf("%s", v)
		}
	}
}

// The exception is for calls that exist: renaming one must not widen it.
func TestDescriptiveCallsExist(t *testing.T) {
	for _, name := range descriptive {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
		if _, is := d.(protoreflect.MethodDescriptor); err != nil || !is {
			t.Errorf("%s is no method: %v", name, err)
		}
	}
}

// A task never waits for a user.
func TestNoTaskStatusWaitsForInput(t *testing.T) {
	values := taskrunnerv1.TaskStatus(0).Descriptor().Values()
	if values.Len() < 2 {
		t.Fatalf("TaskStatus has %d values", values.Len())
	}
	for i := range values.Len() {
		if name := string(values.Get(i).Name()); strings.Contains(name, "INPUT") {
			t.Errorf("TaskStatus has %s", name)
		}
	}
}

// The tests above would fail on a contract that broke the rule.
func TestTheWalkerFindsWhatIsForbidden(t *testing.T) {
	field := func(name, typeName string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(1), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		f.Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
		if typeName != "" {
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(typeName)
		}
		return f
	}
	enumField := field("status", "")
	enumField.Type, enumField.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), proto.String(".bad.v1.Status")
	for name, tc := range map[string]struct {
		field *descriptorpb.FieldDescriptorProto // of a message two steps from the request
		want  string                             // "": nothing is wrong
	}{
		"innocent":                  {field("line", ""), ""},
		"client capabilities":       {field("client_capabilities", ""), "bad.v1.Inner.client_capabilities"},
		"input requests":            {field("inputRequests", ""), "bad.v1.Inner.inputRequests"},
		"input responses":           {field("input_responses", ""), "bad.v1.Inner.input_responses"},
		"request state":             {field("request_state_bin", ""), "bad.v1.Inner.request_state_bin"},
		"a message of that name":    {field("more", ".bad.v1.ElicitRequest"), "bad.v1.ElicitRequest"},
		"a message that holds all":  {field("extra", ".google.protobuf.Any"), "google.protobuf.Any"},
		"JSON that holds all":       {field("extra", ".google.protobuf.Struct"), "google.protobuf.Struct"},
		"a state that wants input":  {enumField, "bad.v1.STATUS_INPUT_REQUIRED"},
		"a loop that never returns": {field("again", ".bad.v1.Inner"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
				Name: proto.String("bad.proto"), Package: proto.String("bad.v1"), Syntax: proto.String("proto3"),
				Dependency: []string{"google/protobuf/any.proto", "google/protobuf/struct.proto"},
				MessageType: []*descriptorpb.DescriptorProto{
					{Name: proto.String("CallRequest"), Field: []*descriptorpb.FieldDescriptorProto{field("inner", ".bad.v1.Inner")}},
					{Name: proto.String("Inner"), Field: []*descriptorpb.FieldDescriptorProto{tc.field}},
					{Name: proto.String("ElicitRequest")},
					{Name: proto.String("CallResponse")},
				},
				EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Status"), Value: []*descriptorpb.EnumValueDescriptorProto{
					{Name: proto.String("STATUS_UNSPECIFIED"), Number: proto.Int32(0)}, {Name: proto.String("STATUS_INPUT_REQUIRED"), Number: proto.Int32(1)},
				}}},
				Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("BadService"), Method: []*descriptorpb.MethodDescriptorProto{{
					Name: proto.String("Call"), InputType: proto.String(".bad.v1.CallRequest"), OutputType: proto.String(".bad.v1.CallResponse"),
				}}}},
			}, protoregistry.GlobalFiles)
			if err != nil {
				t.Fatal(err)
			}
			got := violations(file)
			if tc.want == "" {
				if len(got) > 0 {
					t.Errorf("found %v where nothing is wrong", got)
				}
				return
			}
			if !slices.ContainsFunc(got, func(v string) bool { return strings.HasSuffix(v, ": "+tc.want) }) {
				t.Errorf("found %v, want %s", got, tc.want)
			}
		})
	}
}
