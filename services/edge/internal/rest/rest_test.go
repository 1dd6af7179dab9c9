package rest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"google.golang.org/grpc"

	"github.com/zegate/zegate/pkg/fault"
	"github.com/zegate/zegate/pkg/rpc/rpctest"
	taskrunnerv1 "github.com/zegate/zegate/proto/ze/taskrunner/v1"
	"github.com/zegate/zegate/services/edge/internal/auth"
	"github.com/zegate/zegate/services/edge/internal/catalogue"
	"github.com/zegate/zegate/services/edge/internal/edgetest"
	"github.com/zegate/zegate/services/edge/internal/gate"
	"github.com/zegate/zegate/services/edge/internal/rest"
)

type taskrunner struct {
	taskrunnerv1.UnimplementedTaskRunnerServiceServer
}

func (taskrunner) GetTask(context.Context, *taskrunnerv1.GetTaskRequest) (*taskrunnerv1.GetTaskResponse, error) {
	return nil, fault.New(fault.UnknownTask, "unknown task")
}

func serve(t *testing.T, cfg gate.Config) (string, *edgetest.Executor) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	executor := edgetest.New()
	client := executor.Client(t)
	tools := catalogue.New(client, log)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go tools.Follow(ctx)
	if !tools.Wait(t.Context()) {
		t.Fatal("no catalogue")
	}
	authenticator, err := auth.New(auth.Default())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Loopback, cfg.MaxBodyBytes, cfg.Auth, cfg.Log = true, 1000, authenticator, log
	g, err := gate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tasks := rpctest.Serve(t, func(s grpc.ServiceRegistrar) { taskrunnerv1.RegisterTaskRunnerServiceServer(s, taskrunner{}) })
	h, err := rest.New(ctx, rest.Config{Executor: client, Taskrunner: taskrunnerv1.NewTaskRunnerServiceClient(tasks), Catalogue: tools, Gate: g, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g.Guard("rest", rest.Methods, rest.Refuse, h))
	t.Cleanup(srv.Close)
	return srv.URL, executor
}

func TestREST(t *testing.T) {
	url, executor := serve(t, gate.Config{})
	const call = "/v1/tools/ze_execute:call"
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		want                     string // part of the body
		headers                  []string
	}{
		{"list", "GET", "/v1/tools", "", 200, `{"tools":[{"name":"ze_execute","title":"Run a command","description":"Runs one command.","inputSchema":{"type":"object","properties":{"command":{"type":"string"}`, nil},
		{"call", "POST", call, `{"command":"show version","n":9007199254740993}`, 200, `{"content":[{"type":"text","text":"ran ze_execute with {\"command\":\"show version\",\"n\":9007199254740993}"}]}`, nil},
		{"call without arguments", "POST", "/v1/tools/ze_commands:call", ``, 200, `"ran ze_commands with "`, nil},
		{"call with structured content", "POST", "/v1/tools/content:call", `{}`, 200, `"structuredContent":{"n": 9007199254740993`, nil},
		{"missing", "POST", call, `{}`, 400, `{"error":{"reason":"MISSING_ARGUMENT","message":"missing required argument: command"}}`, nil},
		{"missing, whatever the client can do", "POST", call, `{"command":null,"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}`, 400, `missing required argument: command`, nil},
		{"missing, no body", "POST", call, ``, 400, `missing required argument: command`, nil},
		{"blank", "POST", call, `{"command":" "}`, 400, `missing required argument: command`, nil},
		{"tool failed", "POST", "/v1/tools/fail:call", `{}`, 200, `{"content":[{"type":"text","text":"the device said no"}],"isError":true}`, nil},
		{"timeout", "POST", call, `{"command":"slow"}`, 200, `"isError":true`, nil},
		{"policy", "POST", call, `{"command":"denied"}`, 403, `"it is denied"`, nil},
		{"unknown command", "POST", call, `{"command":"nonsense"}`, 404, `"it is nonsense"`, nil},
		{"busy", "POST", call, `{"command":"busy"}`, 429, `"it is busy"`, nil},
		{"down", "POST", call, `{"command":"down"}`, 503, `"it is down"`, nil},
		{"unknown tool", "POST", "/v1/tools/no_such:call", `{}`, 404, `UNKNOWN_TOOL`, nil},
		{"tool for MCP clients", "POST", "/v1/tools/sampling:call", `{}`, 400, `MISSING_CAPABILITY`, nil},
		{"executor failed", "POST", "/v1/tools/broken:call", `{}`, 500, `{"error":{"reason":"INTERNAL","message":"internal error"}}`, nil},
		{"executor panicked", "POST", "/v1/tools/panic:call", `{}`, 500, `internal error`, nil},
		{"array", "POST", call, `[]`, 400, `the body must be a JSON object`, nil},
		{"no JSON", "POST", call, `{`, 400, `PARSE_ERROR`, nil},
		{"name twice", "POST", call, `{"command":"a","command":"b"}`, 400, `PARSE_ERROR`, nil},
		{"too large", "POST", call, `{"command":"` + strings.Repeat("x", 1000) + `"}`, 413, `1000 bytes`, nil},
		{"another type", "POST", call, `command=x`, 415, `application/json`, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"nothing acceptable", "GET", "/v1/tools", ``, 406, `NOT_ACCEPTABLE`, []string{"Accept", "text/html"}},
		{"origin", "GET", "/v1/tools", ``, 403, `ORIGIN_NOT_ALLOWED`, []string{"Origin", "https://evil.example.com"}},
		{"method", "DELETE", "/v1/tools", ``, 405, `METHOD_NOT_ALLOWED`, nil},
		{"method of the path", "POST", "/v1/tools", `{}`, 405, `METHOD_NOT_ALLOWED`, nil},
		{"method of a call", "GET", call, ``, 405, `METHOD_NOT_ALLOWED`, nil},
		{"method in a header", "POST", "/v1/tools", `{}`, 405, `METHOD_NOT_ALLOWED`, []string{"X-HTTP-Method-Override", "GET"}},
		{"no path", "GET", "/v1/nothing", ``, 404, `PATH_NOT_FOUND`, nil},
		{"query is no argument", "POST", call + "?long_running=LONG_RUNNING_REFUSE&nonsense=1", `{"command":"show version"}`, 200, `ran ze_execute`, nil},
		{"gRPC metadata", "POST", call, `{"command":"show version"}`, 200, `ran ze_execute`, []string{"Grpc-Metadata-Zegate-Scopes", "mcp.admin", "Grpc-Timeout", "1n"}},
		{"unknown task", "GET", "/v1/tasks/x", ``, 404, `{"error":{"reason":"UNKNOWN_TASK","message":"unknown task"}}`, nil},
		{"tasks are not served", "GET", "/v1/tasks?page_size=5", ``, 501, `UNIMPLEMENTED`, nil},
		{"description", "GET", "/openapi.json", ``, 200, `"openapi": "3.1.0"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, url+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(tt.headers); i += 2 {
				req.Header.Set(tt.headers[i], tt.headers[i+1])
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("%d %s\nwant %d %s", resp.StatusCode, body, tt.status, tt.want)
			}
			if ct := resp.Header.Get("Content-Type"); ct != "application/json" {
				t.Errorf("content type %q", ct)
			}
			if tt.status == 405 && resp.Header.Get("Allow") == "" {
				t.Error("no Allow")
			}
			if (tt.status == 429 || tt.status == 503) && resp.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			if strings.Contains(string(body), "10.0.0.1") {
				t.Error("internals leave")
			}
		})
	}
	if _, caller := executor.Last(); strings.Join(caller.Scopes, " ") != "mcp.read" {
		t.Errorf("caller %+v: a client's header became metadata", caller)
	}
}

// What /openapi.json describes is what proto/gateway.yaml maps.
func TestOpenAPIMatchesGateway(t *testing.T) {
	url, _ := serve(t, gate.Config{})
	resp, err := http.Get(url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(body, &described); err != nil {
		t.Fatal(err)
	}
	mapped := map[string]bool{}
	file, err := os.ReadFile("../../../../proto/gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var gateway struct {
		HTTP struct {
			Rules []struct{ Get, Post string }
		}
	}
	if err := yaml.Unmarshal(file, &gateway); err != nil {
		t.Fatal(err)
	}
	for _, r := range gateway.HTTP.Rules {
		if r.Get != "" {
			mapped["get "+r.Get] = true
		}
		if r.Post != "" {
			mapped["post "+r.Post] = true
		}
	}
	for path, methods := range described.Paths {
		for method := range methods {
			if !mapped[method+" "+path] {
				t.Errorf("%s %s is described but not mapped", method, path)
			}
			delete(mapped, method+" "+path)
		}
	}
	for m := range mapped {
		t.Errorf("%s is mapped but not described", m)
	}
}
