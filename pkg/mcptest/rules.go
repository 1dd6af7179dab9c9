package mcptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

const serverInfoKey = "io.modelcontextprotocol/serverInfo"

// resultOf names the definition of each method's complete result.
var resultOf = map[string]string{
	"server/discover":          "DiscoverResult",
	"tools/list":               "ListToolsResult",
	"tools/call":               "CallToolResult",
	"resources/list":           "ListResourcesResult",
	"resources/templates/list": "ListResourceTemplatesResult",
	"resources/read":           "ReadResourceResult",
	"prompts/list":             "ListPromptsResult",
	"prompts/get":              "GetPromptResult",
	"completion/complete":      "CompleteResult",
	"subscriptions/listen":     "SubscriptionsListenResult",
}

// taskResultOf names the definition of each result of the tasks extension.
var taskResultOf = map[string]string{
	"tasks/get":    "GetTaskResult",
	"tasks/update": "UpdateTaskResult",
	"tasks/cancel": "CancelTaskResult",
}

// mayAsk names the methods whose result may be an InputRequiredResult.
var mayAsk = []string{"tools/call", "prompts/get", "resources/read"}

// errorOf names the definition of each error code, and whether it is one of the whole response or of its member error.
var errorOf = map[int64]struct {
	definition string
	whole      bool
	statuses   []int
}{
	-32700: {"ParseError", false, []int{400}},
	-32600: {"InvalidRequestError", false, []int{400}},
	-32601: {"MethodNotFoundError", false, []int{404}},
	-32602: {"InvalidParamsError", false, []int{200, 400}},
	-32603: {"InternalError", false, []int{200, 500}},
	-32020: {"HeaderMismatchError", true, []int{400}},
	-32021: {"MissingRequiredClientCapabilityError", true, []int{400}},
	-32022: {"UnsupportedProtocolVersionError", true, []int{400}},
}

// onCalls and onSubscriptions name the definitions of the notifications that a stream may carry.
var (
	onCalls = map[string]string{
		"notifications/progress": "ProgressNotification",
		"notifications/message":  "LoggingMessageNotification",
	}
	onSubscriptions = map[string]string{
		"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
		"notifications/tools/list_changed":         "ToolListChangedNotification",
		"notifications/prompts/list_changed":       "PromptListChangedNotification",
		"notifications/resources/list_changed":     "ResourceListChangedNotification",
		"notifications/resources/updated":          "ResourceUpdatedNotification",
		"notifications/tasks":                      "", // of the tasks extension
	}
)

// Message checks one JSON-RPC message that a server sent in answer to a request of this method: a notification, a result
// or an error.
func (c *Checker) Message(method string, text []byte) error {
	if _, err := parse(text); err != nil {
		return err
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return errors.New("a message is one JSON object")
	}
	if string(m["jsonrpc"]) != `"2.0"` {
		return errors.New(`jsonrpc is not "2.0"`)
	}
	_, request := m["method"]
	_, result := m["result"]
	_, failure := m["error"]
	switch {
	case request && !result && !failure:
		return c.notification(method, text, m)
	case result && !request && !failure:
		return c.result(method, text, m)
	case failure && !request && !result:
		return c.failure(text, m)
	}
	return errors.New("a message has exactly one of method, result and error")
}

func onlyMembers(m map[string]json.RawMessage, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unexpected member %q", name)
		}
	}
	return nil
}

func (c *Checker) notification(method string, text []byte, m map[string]json.RawMessage) error {
	if err := onlyMembers(m, "jsonrpc", "method", "params"); err != nil {
		return err // an id would make it a request, which servers do not send
	}
	allowed := onCalls
	if method == "subscriptions/listen" {
		allowed = onSubscriptions
	}
	var name string
	if err := json.Unmarshal(m["method"], &name); err != nil {
		return errors.New("method is not a string")
	}
	definition, ok := allowed[name]
	if !ok {
		return fmt.Errorf("%s does not belong into an answer to %s", name, method)
	}
	if method == "subscriptions/listen" && subscriptionID(text) == nil {
		return fmt.Errorf("%s on a subscription without its subscriptionId", name)
	}
	switch name {
	case "notifications/tasks":
		return c.TasksDefinition("TaskStatusNotification", text)
	case "notifications/subscriptions/acknowledged":
		var params struct{ Notifications json.RawMessage }
		if err := json.Unmarshal(m["params"], &params); err != nil {
			return err
		}
		if err := c.TasksDefinition("TaskSubscriptionAcknowledgedNotifications", params.Notifications); err != nil {
			return err
		}
	}
	return c.Definition(definition, text)
}

// subscriptionID is the subscription that a notification says it belongs to, as JSON; nil when it does not say.
func subscriptionID(text []byte) json.RawMessage {
	var n struct {
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(text, &n)
	return n.Params.Meta["io.modelcontextprotocol/subscriptionId"]
}

func (c *Checker) failure(text []byte, m map[string]json.RawMessage) error {
	if err := onlyMembers(m, "jsonrpc", "id", "error"); err != nil {
		return err
	}
	if err := c.Definition("JSONRPCErrorResponse", text); err != nil {
		return err
	}
	code, err := codeOf(text)
	if err != nil {
		return err
	}
	if e, ok := errorOf[code]; ok {
		if e.whole {
			return c.Definition(e.definition, text)
		}
		return c.Definition(e.definition, m["error"])
	}
	if code >= -32768 && code <= -32000 {
		return fmt.Errorf("error code %d is reserved by JSON-RPC and not defined by the revision", code)
	}
	return nil
}

func codeOf(text []byte) (int64, error) {
	var m struct {
		Error struct {
			Code    *int64
			Message *string
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, fmt.Errorf("error: %w", err)
	}
	if m.Error.Code == nil || m.Error.Message == nil || *m.Error.Message == "" {
		return 0, errors.New("an error has an integer code and a message")
	}
	return *m.Error.Code, nil
}

// errorStatus tells whether an error may be the answer with this HTTP status.
func errorStatus(code int64, status int) error {
	e, ok := errorOf[code]
	switch {
	case ok && !slices.Contains(e.statuses, status):
		return fmt.Errorf("error %d with HTTP %d; it goes with %d", code, status, e.statuses)
	case !ok && (int64(status) != code || status < http.StatusBadRequest):
		return fmt.Errorf("error %d with HTTP %d: a code that the revision does not define repeats the status", code, status)
	}
	return nil
}

func (c *Checker) result(method string, text []byte, m map[string]json.RawMessage) error {
	if err := onlyMembers(m, "jsonrpc", "id", "result"); err != nil {
		return err
	}
	if err := c.Definition("JSONRPCResultResponse", text); err != nil {
		return err
	}
	raw := m["result"]
	var r struct {
		ResultType string                     `json:"resultType"`
		Meta       map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if err := c.Definition("Implementation", r.Meta[serverInfoKey]); err != nil {
		return fmt.Errorf("result._meta[%q]: %w", serverInfoKey, err)
	}
	switch r.ResultType {
	case "complete":
		return c.complete(method, text, raw)
	case "input_required":
		if !slices.Contains(mayAsk, method) {
			return fmt.Errorf("%s must not ask for input", method)
		}
		return c.inputRequired(raw)
	case "task":
		if method != "tools/call" {
			return fmt.Errorf("%s must not become a task", method)
		}
		return c.TasksDefinition("CreateTaskResult", raw)
	}
	return fmt.Errorf("resultType %q is none that the revision or the tasks extension defines", r.ResultType)
}

func (c *Checker) complete(method string, text, raw []byte) error {
	if definition, ok := taskResultOf[method]; ok {
		if err := c.TasksDefinition(definition, raw); err != nil {
			return err
		}
		return c.task(method, raw)
	}
	definition, ok := resultOf[method]
	if !ok {
		return fmt.Errorf("a result for %s, which the revision does not define", method)
	}
	// The response's own definition takes any of several results; the result's definition is the strict one.
	if err := c.Definition(definition+"Response", text); err != nil {
		return err
	}
	if err := c.Definition(definition, raw); err != nil {
		return err
	}
	if method == "tools/list" {
		return c.toolSchemas(raw)
	}
	return nil
}

// task checks what the extension leaves open: the result inside a completed task is that of the call.
func (c *Checker) task(method string, raw []byte) error {
	if method != "tasks/get" {
		return nil
	}
	var t struct {
		Status string
		Result json.RawMessage
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	switch t.Status {
	case "input_required":
		return errors.New("a task asks for input: tasks of this server never do")
	case "completed":
		return c.Definition("CallToolResult", t.Result)
	}
	return nil
}

// inputRequired checks a question: the revision's definition, and what this server promises beyond it.
func (c *Checker) inputRequired(raw []byte) error {
	if err := c.Definition("InputRequiredResult", raw); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	if err := onlyMembers(members, "resultType", "inputRequests", "_meta"); err != nil {
		return fmt.Errorf("result: %w", err) // requestState is never issued; content belongs to a complete result
	}
	var requests map[string]struct {
		Method string
		Params struct{ Mode string }
	}
	if err := json.Unmarshal(members["inputRequests"], &requests); err != nil {
		return fmt.Errorf("inputRequests: %w", err)
	}
	if len(requests) != 1 {
		return fmt.Errorf("%d inputRequests; this server asks one question at a time", len(requests))
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(members["inputRequests"], &whole); err != nil {
		return err
	}
	for key, r := range requests {
		if r.Method != "elicitation/create" || r.Params.Mode != "form" {
			return fmt.Errorf("inputRequests[%q] is not an elicitation that states mode form", key)
		}
		if err := c.Definition("ElicitRequest", whole[key]); err != nil {
			return err
		}
		var e struct{ Params json.RawMessage }
		if err := json.Unmarshal(whole[key], &e); err != nil {
			return err
		}
		if err := c.Definition("ElicitRequestFormParams", e.Params); err != nil {
			return err
		}
	}
	return nil
}

// toolSchemas checks that the schemas of listed tools are schemas; the revision's own schema takes any object.
func (c *Checker) toolSchemas(raw []byte) error {
	v, err := parse(raw)
	if err != nil {
		return err
	}
	tools, _ := v.(map[string]any)["tools"].([]any)
	for _, t := range tools {
		tool, _ := t.(map[string]any)
		for _, name := range []string{"inputSchema", "outputSchema"} {
			doc, ok := tool[name]
			if !ok {
				continue
			}
			if err := c.isSchema(doc); err != nil {
				return fmt.Errorf("tool %v: %s: %w", tool["name"], name, err)
			}
		}
	}
	return nil
}
