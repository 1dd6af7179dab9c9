// Package elicit decides whether a user is asked for a missing argument: a pure function of one request, so any replica
// decides alike and nothing is kept between a question and its answer (seed; DESIGN section 4).
//
// The decision is the edge's alone. What runs the call never learns that there was a question.
package elicit

import (
	"errors"
	"fmt"

	"github.com/zegate/zegate/services/edge/internal/rawjson"
)

// Argument is an argument that a user may be asked for, with the one question that asks for it.
type Argument struct {
	name     string
	key      string
	property property
	requests []byte
}

// NewArgument makes the question for an argument: the inputRequests key, the message for the user, and the schema of the
// one value. It fails when the question must not be asked: the schema is not a primitive, or the name looks like a
// credential.
func NewArgument(name, key, message string, schema []byte) (*Argument, error) {
	if name == "" || key == "" || message == "" {
		return nil, errors.New("an elicitable argument needs a name, a key and a message")
	}
	// One value: anything more would add properties beside the argument's.
	if !rawjson.IsObject(schema) {
		return nil, errors.New("the property schema of an elicitable argument must be one JSON object")
	}
	form := append([]byte(nil), `{"type":"object","properties":{`...)
	form = rawjson.AppendString(form, name)
	form = append(append(form, ':'), schema...)
	form = append(form, `},"required":[`...)
	form = append(rawjson.AppendString(form, name), `]}`...)
	props, err := checkForm(form)
	if err != nil {
		return nil, err
	}
	// mode is stated although form is the default: that no url is offered shows where the question is made.
	req := rawjson.AppendString([]byte{'{'}, key)
	req = append(req, `:{"method":"elicitation/create","params":{"mode":"form","message":`...)
	req = rawjson.AppendString(req, message)
	req = append(append(req, `,"requestedSchema":`...), form...)
	return &Argument{name: name, key: key, property: props[name], requests: append(req, `}}}`...)}, nil
}

// Name is the argument's name.
func (a *Argument) Name() string { return a.name }

// InputRequests is the inputRequests map with the one question, as JSON. It must not be changed.
func (a *Argument) InputRequests() []byte { return a.requests }

// Outcome is what to do with a request.
type Outcome int

// The outcomes.
const (
	// Run the call, with Decision.Arguments.
	Run Outcome = iota
	// Ask the user: answer with Argument.InputRequests.
	Ask
	// Fail the tool: answer with Decision.Text as the tool's error.
	Fail
	// Reject the request: Decision.Text names what was malformed.
	Reject
)

// Decision is an outcome and what goes with it.
type Decision struct {
	Outcome Outcome
	// Arguments is the JSON object to run with; of Run.
	Arguments []byte
	// Text is for the caller and echoes no value; of Fail and Reject.
	Text string
	// Refused tells that the user declined or cancelled; of Fail.
	Refused bool
}

// FormDeclared tells whether clientCapabilities, the JSON value of
// _meta["io.modelcontextprotocol/clientCapabilities"], declares form mode: elicitation is {} or holds an object form. A
// client that declares url alone counts as one that declared nothing (seed, "Declaring the capability").
func FormDeclared(clientCapabilities []byte) bool {
	elicitation := member(clientCapabilities, "elicitation")
	if rawjson.KindOf(elicitation) != rawjson.Object {
		return false
	}
	empty := true
	form := false
	err := rawjson.Members(elicitation, func(name string, v []byte) error {
		empty = false
		form = form || name == "form" && rawjson.KindOf(v) == rawjson.Object
		return nil
	})
	return err == nil && (empty || form)
}

// CheckResponses refuses inputResponses that are present and not an object. Nil means absent.
func CheckResponses(inputResponses []byte) (Decision, bool) {
	if inputResponses == nil || rawjson.KindOf(inputResponses) == rawjson.Object {
		return Decision{}, true
	}
	return reject("params.inputResponses must be an object"), false
}

// Missing tells whether a call's arguments leave this one to be asked for: absent, null or blank.
func (a *Argument) Missing(arguments []byte) bool {
	v := member(arguments, a.name)
	k := rawjson.KindOf(v)
	return k == rawjson.Invalid || k == rawjson.Null || a.property.fits(v) && a.property.blank(v)
}

// Decide is the decision table. arguments is the call's arguments object, inputResponses what a retry carries; nil means
// absent. Both are valid JSON. form is FormDeclared of the same request.
func (a *Argument) Decide(arguments, inputResponses []byte, form bool) Decision {
	if d, ok := CheckResponses(inputResponses); !ok {
		return d
	}
	if !a.Missing(arguments) {
		if !a.property.fits(member(arguments, a.name)) {
			return fail("invalid argument: %s must be %s", a.name, a.property.article())
		}
		return Decision{Outcome: Run, Arguments: arguments}
	}
	response := member(inputResponses, a.key)
	if response == nil {
		return a.askOrFail(form)
	}
	path := "params.inputResponses." + a.key
	if rawjson.KindOf(response) != rawjson.Object {
		return reject("%s must be an object", path)
	}
	// Some clients write what is absent as null.
	content := member(response, "content")
	if k := rawjson.KindOf(content); k != rawjson.Object && k != rawjson.Invalid && k != rawjson.Null {
		return reject("%s.content must be an object", path)
	}
	var action string
	if v := member(response, "action"); rawjson.KindOf(v) == rawjson.String {
		action = rawjson.Text(v)
	}
	switch action {
	case "accept":
		return a.accepted(arguments, content, path, form)
	case "decline":
		return Decision{Outcome: Fail, Refused: true, Text: "no " + a.name + " was supplied: the user declined"}
	case "cancel":
		return Decision{Outcome: Fail, Refused: true, Text: "no " + a.name + " was supplied: the user cancelled"}
	default:
		return reject("%s.action must be accept, decline or cancel", path)
	}
}

func (a *Argument) accepted(arguments, content []byte, path string, form bool) Decision {
	value := member(content, a.name)
	switch k := rawjson.KindOf(value); {
	case k == rawjson.Invalid || k == rawjson.Null:
		return a.askOrFail(form)
	case !a.property.fits(value):
		return reject("%s.content.%s must be %s", path, a.name, a.property.article())
	case a.property.blank(value):
		return a.askOrFail(form)
	case !a.property.allows(value):
		return reject("%s.content.%s is not one of the values that were asked for", path, a.name)
	}
	return Decision{Outcome: Run, Arguments: a.with(arguments, value)}
}

func (a *Argument) askOrFail(form bool) Decision {
	if form {
		return Decision{Outcome: Ask}
	}
	return fail("missing required argument: %s", a.name)
}

// with is the arguments object with this argument set; every other member stays as it was written.
func (a *Argument) with(arguments, value []byte) []byte {
	out := make([]byte, 0, len(arguments)+len(a.name)+len(value)+8)
	out = append(out, '{')
	if arguments != nil {
		_ = rawjson.Members(arguments, func(name string, v []byte) error {
			if name == a.name {
				return nil
			}
			out = append(append(rawjson.AppendString(out, name), ':'), v...)
			out = append(out, ',')
			return nil
		})
	}
	out = append(append(rawjson.AppendString(out, a.name), ':'), value...)
	return append(out, '}')
}

func fail(format string, args ...any) Decision {
	return Decision{Outcome: Fail, Text: fmt.Sprintf(format, args...)}
}

func reject(format string, args ...any) Decision {
	return Decision{Outcome: Reject, Text: "invalid params: " + fmt.Sprintf(format, args...)}
}

// member is the value of a member of an object; nil when there is none, or when object is none.
func member(object []byte, name string) []byte {
	if rawjson.KindOf(object) != rawjson.Object {
		return nil
	}
	var found []byte
	_ = rawjson.Members(object, func(n string, v []byte) error {
		if n == name {
			found = v
		}
		return nil
	})
	return found
}
