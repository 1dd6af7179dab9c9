package lifecycle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type testConfig struct {
	Listen  string        `yaml:"listen"`
	Burst   int           `yaml:"burst"`
	Rate    float64       `yaml:"rate"`
	Safe    bool          `yaml:"safe"`
	Wait    time.Duration `yaml:"wait"`
	Hosts   []string      `yaml:"hosts"`
	Auth    testAuth      `yaml:"auth"`
	Devices []testDevice  `yaml:"devices"`
	Hidden  string        `yaml:"-"`
}

type testAuth struct {
	TokenFile string `yaml:"token_file"`
	Token     string `yaml:"-" env:"TOKEN"`
}

type testDevice struct {
	Name  string `yaml:"name"`
	Queue struct {
		Length *int `yaml:"length"`
	} `yaml:"queue"`
}

func testDefaults() testConfig {
	return testConfig{Listen: "127.0.0.1:1", Burst: 7, Wait: time.Second, Hosts: []string{"default"}, Auth: testAuth{TokenFile: "default"}}
}

func loadTest(t *testing.T, file string, environ []string, flags map[string]string) (testConfig, *Shared, error) {
	t.Helper()
	cfg, shared := testDefaults(), defaultShared()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "z.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := settings{sections: []Section{{Name: "edge", Config: &cfg}}, shared: shared}.load(path, environ, flags)
	return cfg, shared, err
}

func TestLoad(t *testing.T) {
	length := 0
	for _, tt := range []struct {
		name, file string
		environ    []string
		flags      map[string]string
		want       func(*testConfig)
	}{
		{"nothing set", ``, nil, nil, func(*testConfig) {}},
		{"empty file", "# nothing\n", nil, nil, func(*testConfig) {}},
		{"file keeps other defaults", "edge:\n  listen: 127.0.0.1:2\n  auth: {}\n", nil, nil, func(c *testConfig) { c.Listen = "127.0.0.1:2" }},
		{"environment over file", "edge:\n  listen: 127.0.0.1:2\n", []string{"ZEGATE_EDGE_LISTEN=127.0.0.1:3"}, nil, func(c *testConfig) { c.Listen = "127.0.0.1:3" }},
		{"flag over environment", "edge:\n  listen: 127.0.0.1:2\n", []string{"ZEGATE_EDGE_LISTEN=127.0.0.1:3"}, map[string]string{"edge.listen": "127.0.0.1:4"}, func(c *testConfig) { c.Listen = "127.0.0.1:4" }},
		{"every type in the file", "edge: {burst: 3, rate: 1.5, safe: true, wait: 2m, hosts: [a, b], auth: {token_file: x}}", nil, nil, func(c *testConfig) {
			c.Burst, c.Rate, c.Safe, c.Wait, c.Hosts, c.Auth.TokenFile = 3, 1.5, true, 2*time.Minute, []string{"a", "b"}, "x"
		}},
		{"every type in the environment", "", []string{"ZEGATE_EDGE_BURST=3", "ZEGATE_EDGE_RATE=1.5", "ZEGATE_EDGE_SAFE=true", "ZEGATE_EDGE_WAIT=2m", "ZEGATE_EDGE_HOSTS=a, b,", "ZEGATE_EDGE_AUTH_TOKEN=t: 1"}, nil, func(c *testConfig) {
			c.Burst, c.Rate, c.Safe, c.Wait, c.Hosts, c.Auth.Token = 3, 1.5, true, 2*time.Minute, []string{"a", "b"}, "t: 1"
		}},
		{"a list that is present replaces its default", "edge: {hosts: []}", nil, nil, func(c *testConfig) { c.Hosts = []string{} }},
		{"an empty list in the environment", "", []string{"ZEGATE_EDGE_HOSTS="}, nil, func(c *testConfig) { c.Hosts = []string{} }},
		{"list of structs", "edge: {devices: [{name: a}, {name: b, queue: {length: 0}}]}", nil, nil, func(c *testConfig) {
			c.Devices = []testDevice{{Name: "a"}, {Name: "b"}}
			c.Devices[1].Queue.Length = &length
		}},
		{"a section that says nothing", "edge:\n  # listen: x\n  auth:\n  burst:\n", nil, nil, func(*testConfig) {}},
		{"a number for a text", "edge: {listen: 8080}", nil, nil, func(c *testConfig) { c.Listen = "8080" }},
		{"other services' sections are theirs", "edge: {burst: 1}\nexecutor: {anything: [1, 2]}\ntaskrunner: {}\n", nil, nil, func(c *testConfig) { c.Burst = 1 }},
		{"other variables are others'", "", []string{"ZEGATE_EDGE_SERVICE_HOST=10.0.0.1", "ZEGATE_EXECUTOR_LISTEN=x"}, nil, func(*testConfig) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := loadTest(t, tt.file, tt.environ, tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			want := testDefaults()
			tt.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadShared(t *testing.T) {
	_, shared, err := loadTest(t, "log: {level: debug}\ndrain: {grace: 5s}\naudit: {file: a}\n", []string{"ZEGATE_LOG_FORMAT=text", "ZEGATE_DRAIN_DELAY=1s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := defaultShared()
	want.Log.Level, want.Log.Format, want.Drain.Delay, want.Drain.Grace, want.Audit.File = "debug", "text", time.Second, 5*time.Second, "a"
	if diff := cmp.Diff(want, shared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each message names the key and what to write instead.
func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		environ    []string
		flags      map[string]string
		want       []string
	}{
		{"unknown key", "edge:\n  lisen: x\n", nil, nil, []string{":2: edge.lisen: unknown key", "did you mean listen?"}},
		{"unknown key, nothing like it", "edge:\n  colour: x\n", nil, nil, []string{"edge.colour", "known here: listen, burst"}},
		{"unknown key, deep", "edge:\n  auth:\n    token_fil: x\n", nil, nil, []string{":3: edge.auth.token_fil", "token_file"}},
		{"unknown key in a list", "edge:\n  devices:\n    - name: a\n    - nam: b\n", nil, nil, []string{":4: edge.devices[1].nam", "did you mean name?"}},
		{"unknown section", "egde:\n  listen: x\n", nil, nil, []string{"egde: unknown key", "did you mean edge?"}},
		{"a secret in the file", "edge: {auth: {token: x}}", nil, nil, []string{"edge.auth.token"}},
		{"number for a text's place", "edge:\n  burst: many\n", nil, nil, []string{":2: edge.burst", "a whole number"}},
		{"fraction", "edge:\n  burst: 1.5\n", nil, nil, []string{"edge.burst", "a whole number"}},
		{"duration", "edge:\n  wait: soon\n", nil, nil, []string{"edge.wait", "a duration such as 10s"}},
		{"truth", "edge:\n  safe: perhaps\n", nil, nil, []string{"edge.safe", "true or false"}},
		{"list", "edge:\n  hosts: {a: b}\n", nil, nil, []string{"edge.hosts", "a list"}},
		{"section", "edge: 5\n", nil, nil, []string{"edge", "a section"}},
		{"twice", "edge:\n  burst: 1\n  burst: 2\n", nil, nil, []string{":3: ", "burst", "already defined"}},
		{"two documents", "edge: {}\n---\nedge: {}\n", nil, nil, []string{"more than one document"}},
		{"not a mapping", "[edge]", nil, nil, []string{"a section"}},
		{"no YAML", "edge: [\n", nil, nil, []string{"z.yaml"}},
		{"environment", "", []string{"ZEGATE_EDGE_BURST=many"}, nil, []string{"ZEGATE_EDGE_BURST", `"many"`, "a whole number"}},
		{"empty environment", "", []string{"ZEGATE_EDGE_WAIT="}, nil, []string{"ZEGATE_EDGE_WAIT", "a duration"}},
		{"flag", "", nil, map[string]string{"edge.burst": "x"}, []string{"--burst", "a whole number"}},
		{"log level", "log: {level: loud}", nil, nil, []string{"log.level", "debug, info, warn or error"}},
		{"half of TLS", "internal_tls: {cert: x}", nil, nil, []string{"internal_tls", "all three"}},
		{"negative drain", "drain: {grace: -1s}", nil, nil, []string{"drain"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := loadTest(t, tt.file, tt.environ, tt.flags)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestNoSuchFile(t *testing.T) {
	err := settings{shared: defaultShared()}.load(filepath.Join(t.TempDir(), "none"), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("%v", err)
	}
}
