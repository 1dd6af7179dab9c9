package elicit_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/zegate/zegate/services/edge/internal/elicit"
)

const (
	key     = "ze_execute_command"
	message = "Which ze command should be run? For example: show bgp summary"
	schema  = `{"type":"string","title":"ze command","description":"The ze command to execute, for example 'show bgp peer list'."}`
)

func command(t testing.TB) *elicit.Argument {
	t.Helper()
	return argument(t, "command", schema)
}

func argument(t testing.TB, name, schema string) *elicit.Argument {
	t.Helper()
	a, err := elicit.NewArgument(name, key, message, []byte(schema))
	if err != nil {
		t.Fatalf("new argument: %v", err)
	}
	return a
}

func raw(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// The seed prints the question; this is it, to the letter.
func TestInputRequests(t *testing.T) {
	want := `{"ze_execute_command":{"method":"elicitation/create","params":{"mode":"form",` +
		`"message":"Which ze command should be run? For example: show bgp summary",` +
		`"requestedSchema":{"type":"object","properties":{"command":{"type":"string","title":"ze command",` +
		`"description":"The ze command to execute, for example 'show bgp peer list'."}},"required":["command"]}}}}`
	if got := string(command(t).InputRequests()); got != want {
		t.Errorf("input requests:\n got %s\nwant %s", got, want)
	}
}

func TestFormDeclared(t *testing.T) {
	for _, tt := range []struct {
		name, capabilities string
		want               bool
	}{
		{"empty object", `{"elicitation":{}}`, true},
		{"form", `{"elicitation":{"form":{}}}`, true},
		{"form with settings", `{"elicitation":{"form":{"x":1}}}`, true},
		{"url", `{"elicitation":{"url":{}}}`, false},
		{"both", `{"elicitation":{"form":{},"url":{}}}`, true},
		{"both, the other way round", `{"elicitation":{"url":{},"form":{}}}`, true},
		{"null", `{"elicitation":null}`, false},
		{"false", `{"elicitation":false}`, false},
		{"true", `{"elicitation":true}`, false},
		{"array", `{"elicitation":[]}`, false},
		{"string", `{"elicitation":"form"}`, false},
		{"absent", `{}`, false},
		{"form null", `{"elicitation":{"form":null}}`, false},
		{"form true", `{"elicitation":{"form":true}}`, false},
		{"form array", `{"elicitation":{"form":[]}}`, false},
		{"unknown mode alone", `{"elicitation":{"voice":{}}}`, false},
		{"another case", `{"Elicitation":{}}`, false},
		{"form in another case", `{"elicitation":{"Form":{}}}`, false},
		{"no capabilities", ``, false},
		{"capabilities of another type", `[]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := elicit.FormDeclared(raw(tt.capabilities)); got != tt.want {
				t.Errorf("FormDeclared(%s) = %t, want %t", tt.capabilities, got, tt.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	response := func(v string) string { return `{"` + key + `":` + v + `}` }
	const (
		missing   = "missing required argument: command"
		declined  = "no command was supplied: the user declined"
		cancelled = "no command was supplied: the user cancelled"
		run       = `{"command":"show bgp summary"}`
	)
	type outcome struct {
		outcome elicit.Outcome
		text    string // of Fail and Reject; the arguments of Run
	}
	ask := outcome{outcome: elicit.Ask}
	both := func(o outcome) [2]outcome { return [2]outcome{o, o} }
	runs := func(arguments string) [2]outcome { return both(outcome{elicit.Run, arguments}) }
	fails := func(text string) [2]outcome { return both(outcome{elicit.Fail, text}) }
	rejects := func(text string) [2]outcome {
		return both(outcome{elicit.Reject, "invalid params: params.inputResponses" + text})
	}
	asks := [2]outcome{{elicit.Fail, missing}, ask}

	for _, tt := range []struct {
		name, arguments, responses string
		want                       [2]outcome // form not declared, form declared
	}{
		{"given", run, ``, runs(run)},
		{"given, responses ignored", run, response(`{"action":"decline"}`), runs(run)},
		{"given, malformed response ignored", run, response(`5`), runs(run)},
		{"given with space around", `{"command":" show version "}`, ``, runs(`{"command":" show version "}`)},
		{"given with another argument", `{"n":9007199254740993,"command":"x"}`, ``, runs(`{"n":9007199254740993,"command":"x"}`)},

		{"number", `{"command":5}`, ``, fails("invalid argument: command must be a string")},
		{"boolean", `{"command":false}`, response(`{"action":"accept","content":{"command":"x"}}`), fails("invalid argument: command must be a string")},
		{"object", `{"command":{}}`, ``, fails("invalid argument: command must be a string")},
		{"array", `{"command":["show"]}`, ``, fails("invalid argument: command must be a string")},

		{"missing", `{}`, ``, asks},
		{"null", `{"command":null}`, ``, asks},
		{"empty", `{"command":""}`, ``, asks},
		{"blank", `{"command":" \t\n"}`, ``, asks},
		{"blank in Unicode", `{"command":"\u00a0\u2003\u3000"}`, ``, asks},
		{"arguments absent", ``, ``, asks},
		{"argument in another case", `{"Command":"x"}`, ``, asks},
		{"omitted: empty responses", `{}`, `{}`, asks},
		{"omitted: other keys only", `{}`, `{"other":{"action":"decline"}}`, asks},

		{"accept", `{}`, response(`{"action":"accept","content":{"command":"show bgp summary"}}`), runs(run)},
		{"accept, arguments absent", ``, response(`{"action":"accept","content":{"command":"show bgp summary"}}`), runs(run)},
		{"accept replaces null", `{"command":null,"n":1}`, response(`{"action":"accept","content":{"command":"show bgp summary"}}`), runs(`{"n":1,"command":"show bgp summary"}`)},
		{"accept replaces blank", `{"command":" "}`, response(`{"action":"accept","content":{"command":"show bgp summary"}}`), runs(run)},
		{"accept keeps digits", `{"n":9007199254740993}`, response(`{"action":"accept","content":{"command":"x"}}`), runs(`{"n":9007199254740993,"command":"x"}`)},
		{"accept beside other keys", `{}`, `{"a":1,"` + key + `":{"action":"accept","content":{"command":"x","y":2}},"b":null}`, runs(`{"command":"x"}`)},
		{"accept in escapes", `{}`, response(`{"action":"\u0061ccept","content":{"command":"x"}}`), runs(`{"command":"x"}`)},

		{"accept without content", `{}`, response(`{"action":"accept"}`), asks},
		{"accept with null content", `{}`, response(`{"action":"accept","content":null}`), asks},
		{"accept with empty content", `{}`, response(`{"action":"accept","content":{}}`), asks},
		{"accept with null value", `{}`, response(`{"action":"accept","content":{"command":null}}`), asks},
		{"accept with blank value", `{}`, response(`{"action":"accept","content":{"command":" \u3000"}}`), asks},

		{"decline", `{}`, response(`{"action":"decline"}`), fails(declined)},
		{"decline with content", `{}`, response(`{"action":"decline","content":{"command":"x"}}`), fails(declined)},
		{"decline with null content", `{}`, response(`{"action":"decline","content":null}`), fails(declined)},
		{"cancel", `{}`, response(`{"action":"cancel"}`), fails(cancelled)},
		{"cancel, argument null", `{"command":null}`, response(`{"action":"cancel"}`), fails(cancelled)},

		{"response not an object", `{}`, response(`5`), rejects("." + key + " must be an object")},
		{"response null", `{}`, response(`null`), rejects("." + key + " must be an object")},
		{"response an array", `{}`, response(`[]`), rejects("." + key + " must be an object")},
		{"action missing", `{}`, response(`{}`), rejects("." + key + ".action must be accept, decline or cancel")},
		{"action unknown", `{}`, response(`{"action":"later"}`), rejects("." + key + ".action must be accept, decline or cancel")},
		{"action in another case", `{}`, response(`{"action":"Accept"}`), rejects("." + key + ".action must be accept, decline or cancel")},
		{"action not a string", `{}`, response(`{"action":true}`), rejects("." + key + ".action must be accept, decline or cancel")},
		{"content of the wrong type", `{}`, response(`{"action":"accept","content":"show"}`), rejects("." + key + ".content must be an object")},
		{"content of the wrong type, declined", `{}`, response(`{"action":"decline","content":[]}`), rejects("." + key + ".content must be an object")},
		{"value a number", `{}`, response(`{"action":"accept","content":{"command":5}}`), rejects("." + key + ".content.command must be a string")},
		{"value an array", `{}`, response(`{"action":"accept","content":{"command":["x"]}}`), rejects("." + key + ".content.command must be a string")},
		{"responses null", `{}`, `null`, rejects(" must be an object")},
		{"responses null, argument given", run, `null`, rejects(" must be an object")},
		{"responses an array", `{}`, `[]`, rejects(" must be an object")},
		{"responses a string", run, `"x"`, rejects(" must be an object")},
	} {
		for i, form := range []bool{false, true} {
			name := tt.name + "/undeclared"
			if form {
				name = tt.name + "/declared"
			}
			t.Run(name, func(t *testing.T) {
				d := command(t).Decide(raw(tt.arguments), raw(tt.responses), form)
				got := outcome{d.Outcome, d.Text}
				if d.Outcome == elicit.Run {
					got.text = string(d.Arguments)
				}
				if got != tt.want[i] {
					t.Errorf("got %+v, want %+v", got, tt.want[i])
				}
				if refused := strings.Contains(d.Text, "the user "); d.Refused != refused {
					t.Errorf("Refused = %t, want %t", d.Refused, refused)
				}
			})
		}
	}
}

// Other primitives are asked for by the same table.
func TestDecideOtherTypes(t *testing.T) {
	for _, tt := range []struct {
		name, schema, arguments, value string
		want                           elicit.Outcome
		text                           string
	}{
		{"boolean given", `{"type":"boolean"}`, `{"x":false}`, ``, elicit.Run, ""},
		{"boolean of another type", `{"type":"boolean"}`, `{"x":"yes"}`, ``, elicit.Fail, "invalid argument: x must be a boolean"},
		{"boolean accepted", `{"type":"boolean"}`, `{}`, `true`, elicit.Run, ""},
		{"boolean accepted as text", `{"type":"boolean"}`, `{}`, `"true"`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x must be a boolean"},
		{"integer", `{"type":"integer"}`, `{}`, `5`, elicit.Run, ""},
		{"integer with a fraction of nothing", `{"type":"integer"}`, `{}`, `5.0`, elicit.Run, ""},
		{"no integer", `{"type":"integer"}`, `{}`, `5.5`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x must be an integer"},
		{"number", `{"type":"number","minimum":1,"maximum":2}`, `{}`, `1.5`, elicit.Run, ""},
		{"number out of range", `{"type":"number","minimum":1,"maximum":2}`, `{}`, `3`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x is not one of the values that were asked for"},
		{"number beyond floats", `{"type":"number"}`, `{}`, `1e999`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x is not one of the values that were asked for"},
		{"enum", `{"type":"string","enum":["a","b"]}`, `{}`, `"b"`, elicit.Run, ""},
		{"enum, another value", `{"type":"string","enum":["a","b"]}`, `{}`, `"c"`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x is not one of the values that were asked for"},
		{"too short", `{"type":"string","minLength":2}`, `{}`, `"é"`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x is not one of the values that were asked for"},
		{"too long", `{"type":"string","maxLength":2}`, `{}`, `"abc"`, elicit.Reject, "invalid params: params.inputResponses.ze_execute_command.content.x is not one of the values that were asked for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			responses := ""
			if tt.value != "" {
				responses = `{"` + key + `":{"action":"accept","content":{"x":` + tt.value + `}}}`
			}
			d := argument(t, "x", tt.schema).Decide(raw(tt.arguments), raw(responses), true)
			if d.Outcome != tt.want || d.Text != tt.text {
				t.Errorf("got %v %q, want %v %q", d.Outcome, d.Text, tt.want, tt.text)
			}
		})
	}
}

func TestNewArgumentRefusesCredentials(t *testing.T) {
	refused := []string{
		"password", "Password", "PASSWORD", "user_password", "userPassword", "user-password", "user.password", "passwords",
		"passphrase", "secret", "clientSecret", "client_secrets", "token", "access_token", "accessToken", "AccessTokens", "token2",
		"apikey", "apiKey", "APIKey", "API_KEY", "api-key", "api key", "APIKEY", "my.api.keys", "privateKey", "private_key",
		"credential", "credentials", "dbCredentials", "card", "cardNumber", "credit_card", "cvv", "CVV", "cardCVV",
		"pin", "PIN", "PINs", "pin_code", "userPIN", "otp", "OTP", "OTPCode", "otp-code",
	}
	for _, name := range refused {
		if _, err := elicit.NewArgument(name, key, message, []byte(schema)); err == nil || !strings.Contains(err.Error(), "credential") {
			t.Errorf("NewArgument(%q): got %v, want a refusal that says credential", name, err)
		}
	}
	for _, name := range []string{
		"command", "tokenizer", "spin", "pinned", "shipping", "secretary", "cardinality", "discard", "opt", "key", "api", "apiVersion",
		"keyboard", "passwordless", "monkey", "pine", "api_version_key", "stop",
	} {
		if _, err := elicit.NewArgument(name, key, message, []byte(schema)); err != nil {
			t.Errorf("NewArgument(%q): %v", name, err)
		}
	}
}

func TestNewArgumentRefusesOtherSchemas(t *testing.T) {
	for _, schema := range []string{
		``, `null`, `true`, `[]`, `{}`, `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"array","items":{"type":"string"}}`, `{"type":"null"}`, `{"type":["string","null"]}`, `{"type":"String"}`,
		`{"type":"string","oneOf":[{"const":"a","title":"A"}]}`, `{"anyOf":[{"type":"string"}]}`, `{"$ref":"#/x"}`,
		`{"type":"string","pattern":"x"}`, `{"type":"boolean","enum":[true]}`, `{"type":"string","enum":"a"}`, `{"type":"string","enum":[1]}`,
		`{"type":"number","minimum":"1"}`, `{"type":"string","minLength":1.5}`, `{"type":"string","type":"string"}`, `{"type":"string"}}`,
		`{"type":"string"},"other":{"type":"string"}`,
	} {
		if _, err := elicit.NewArgument("command", key, message, []byte(schema)); err == nil {
			t.Errorf("NewArgument with the schema %s: no error", schema)
		}
	}
}

func TestNewArgumentNeedsAll(t *testing.T) {
	for _, a := range [][3]string{{"", key, message}, {"command", "", message}, {"command", key, ""}} {
		if _, err := elicit.NewArgument(a[0], a[1], a[2], []byte(schema)); err == nil {
			t.Errorf("NewArgument(%q): no error", a)
		}
	}
}

// Whatever a client sends, the decision holds: nobody is asked who cannot be, or who said no, and what runs is an object
// with a command that is not blank.
func FuzzDecide(f *testing.F) {
	f.Add(`{"command":null,"n":1}`, `{"ze_execute_command":{"action":"accept","content":{"command":"x"}}}`, `{"elicitation":{"form":{}}}`)
	f.Add(`{}`, `{"ze_execute_command":{"action":"decline"}}`, `{"elicitation":{}}`)
	f.Add(`{"command":""}`, `null`, `{"elicitation":{"url":{}}}`)
	f.Fuzz(func(t *testing.T, arguments, responses, capabilities string) {
		for _, s := range []string{arguments, responses, capabilities} {
			if s != "" && !jsontext.Value(s).IsValid() {
				return
			}
		}
		arguments, responses, capabilities = strings.TrimSpace(arguments), strings.TrimSpace(responses), strings.TrimSpace(capabilities)
		if arguments != "" && arguments[0] != '{' {
			return
		}
		form := elicit.FormDeclared(raw(capabilities))
		a := command(t)
		d := a.Decide(raw(arguments), raw(responses), form)
		switch d.Outcome {
		case elicit.Run:
			if a.Missing(d.Arguments) || !jsontext.Value(d.Arguments).IsValid() {
				t.Errorf("runs with %q", d.Arguments)
			}
		case elicit.Ask:
			if !form {
				t.Error("asks a client that did not declare form mode")
			}
			if strings.Contains(responses, `"decline"`) && strings.Count(responses, key) == 1 && strings.HasPrefix(responses, `{"`+key+`":{"action":"decline"}`) {
				t.Error("asks again after a refusal")
			}
		case elicit.Fail, elicit.Reject:
			if d.Text == "" {
				t.Error("no text")
			}
		}
	})
}
