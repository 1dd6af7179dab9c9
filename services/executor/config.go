package executor

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/services/executor/internal/command"
)

// Kinds of back end.
const (
	// BackendLab is two BGP speakers inside the executor.
	BackendLab = "lab"
	// BackendGoBGP is a GoBGP daemon, over its gRPC API.
	BackendGoBGP = "gobgp"
)

// Config is the settings of an executor: the section "executor" of the file (DESIGN section 6).
type Config struct {
	// Listen is where gRPC is served: host:port, or unix:///path.
	Listen string `yaml:"listen"`
	// AdminListen is where the process serves health and metrics: host:port.
	AdminListen string `yaml:"admin_listen"`
	// Insecure allows gRPC without internal_tls on an address that other hosts reach.
	Insecure bool `yaml:"insecure"`
	// Devices are what commands run on, at least one. A list that is present replaces the default.
	Devices []Device `yaml:"devices"`

	// Host is what the process lends.
	Host lifecycle.Host `yaml:"-"`
	// OnLabEstablished is called, from a goroutine of its own, each time the session inside a device of the kind lab has come up after the
	// start: once for each such device. Nil means that nobody waits for it.
	OnLabEstablished func() `yaml:"-"`
}

// Device is one device. A setting that is left out has the value that DefaultDevice shows.
type Device struct {
	// Name is unique: 1 to 64 characters of [A-Za-z0-9_.-]. Left out, it is the back end's kind.
	Name string `yaml:"name"`
	// Backend is the kind: lab or gobgp.
	Backend string `yaml:"backend"`
	// GoBGP is the settings of the back end gobgp.
	GoBGP GoBGP `yaml:"gobgp"`
	// MaxConcurrent is how many commands run at once, 1 to 1000.
	MaxConcurrent int `yaml:"max_concurrent"`
	// Queue is where more commands wait.
	Queue Queue `yaml:"queue"`
	// Timeout bounds a command.
	Timeout time.Duration `yaml:"timeout"`
	// LongTimeout bounds a long-running command.
	LongTimeout time.Duration `yaml:"long_timeout"`
	// MaxOutputBytes caps the output of a command, 1024 to 8388608.
	MaxOutputBytes int `yaml:"max_output_bytes"`
	// Policy says which commands run.
	Policy Policy `yaml:"policy"`
	// LongRunning are patterns of commands that may become tasks; nil means those that the back end knows to run long.
	LongRunning []string `yaml:"long_running"`
}

// GoBGP is where a GoBGP daemon is reached.
type GoBGP struct {
	// Target is unix:///path or host:port.
	Target string `yaml:"target"`
}

// Queue bounds the commands that wait.
type Queue struct {
	// Length is how many wait at most, 0 to 10000; nil means 64.
	Length *int `yaml:"length"`
	// Wait is how long they wait at most.
	Wait time.Duration `yaml:"wait"`
}

// Policy is patterns over full words: * is any one word, ** at the end is the rest. Deny wins; what no pattern allows is refused.
type Policy struct {
	// Read allows commands that change nothing; nil means what the back end's default is.
	Read []string `yaml:"read"`
	// Write allows commands that change something.
	Write []string `yaml:"write"`
	// Deny refuses commands, whatever Read and Write say.
	Deny []string `yaml:"deny"`
}

// DefaultConfig is an executor with a lab, on loopback.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:9000", AdminListen: "127.0.0.1:9091", Devices: []Device{DefaultDevice(BackendLab)}}
}

// DefaultDevice is a device of this kind with every setting that has a default.
func DefaultDevice(backend string) Device {
	return Device{
		Name: backend, Backend: backend, MaxConcurrent: 4, Queue: Queue{Length: new(64), Wait: 5 * time.Second},
		Timeout: 10 * time.Second, LongTimeout: 150 * time.Second, MaxOutputBytes: 1 << 20,
		Policy: Policy{Read: []string{"show **", "monitor **", "help", "command list"}, Write: []string{}, Deny: []string{}},
	}
}

// complete fills in what the file left out: elements of a list are decoded without defaults.
func (d Device) complete() Device {
	def := DefaultDevice(d.Backend)
	fill(&d.Name, def.Name)
	fill(&d.MaxConcurrent, def.MaxConcurrent)
	if d.Queue.Length == nil {
		d.Queue.Length = def.Queue.Length
	}
	fill(&d.Queue.Wait, def.Queue.Wait)
	fill(&d.Timeout, def.Timeout)
	fill(&d.LongTimeout, def.LongTimeout)
	fill(&d.MaxOutputBytes, def.MaxOutputBytes)
	for _, l := range []struct{ have, def *[]string }{{&d.Policy.Read, &def.Policy.Read}, {&d.Policy.Write, &def.Policy.Write}, {&d.Policy.Deny, &def.Policy.Deny}} {
		if *l.have == nil {
			*l.have = *l.def
		}
	}
	return d
}

func fill[T comparable](have *T, def T) {
	var zero T
	if *have == zero {
		*have = def
	}
}

var deviceName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Validate names the first setting that cannot work, and what to write instead.
func (c Config) Validate() error {
	if err := c.validateListen(); err != nil {
		return err
	}
	if len(c.Devices) == 0 {
		return errors.New("executor.devices: is empty; list at least one device, or leave the key out for a lab")
	}
	seen := make(map[string]bool, len(c.Devices))
	for i, d := range c.Devices {
		key := fmt.Sprintf("executor.devices[%d]", i)
		d = d.complete()
		if err := d.validate(); err != nil {
			return fmt.Errorf("%s.%w", key, err)
		}
		if seen[d.Name] {
			return fmt.Errorf("%s.name: %q is used twice; give each device a name of its own", key, d.Name)
		}
		seen[d.Name] = true
	}
	return nil
}

func (c Config) validateListen() error {
	network, address := c.network()
	if network == "unix" {
		if address == "" || !strings.HasPrefix(address, "/") {
			return fmt.Errorf("executor.listen: %q has no absolute path; write unix:///run/zegate/executor.sock", c.Listen)
		}
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("executor.listen: %q is not host:port; write 127.0.0.1:9000, or unix:///path", c.Listen)
	}
	if loopback(host) || c.Insecure || c.Host.Shared.InternalTLS.Enabled() || c.Host.Listener != nil {
		return nil
	}
	return fmt.Errorf("executor.listen: %q can be reached from other hosts and gRPC would not be encrypted; set internal_tls, listen on 127.0.0.1, or write executor.insecure: true", c.Listen)
}

// network is Listen as net.Listen takes it.
func (c Config) network() (network, address string) {
	if path, is := strings.CutPrefix(c.Listen, "unix://"); is {
		return "unix", path
	}
	return "tcp", c.Listen
}

// loopback tells whether a host cannot be reached from outside. An empty host is every address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (d Device) validate() error {
	switch d.Backend {
	case BackendLab:
		if d.GoBGP.Target != "" {
			return errors.New("gobgp.target: the lab needs none; write backend: gobgp to reach a daemon")
		}
	case BackendGoBGP:
		if err := validateTarget(d.GoBGP.Target); err != nil {
			return err
		}
	case "":
		return errors.New("backend: is missing; write lab or gobgp")
	default:
		return fmt.Errorf("backend: %q is not known; write lab or gobgp", d.Backend)
	}
	if !deviceName.MatchString(d.Name) {
		return fmt.Errorf("name: %q; write 1 to 64 of the characters A-Z a-z 0-9 _ . -", d.Name)
	}
	for _, b := range []struct {
		key            string
		n, least, most int
	}{{"max_concurrent", d.MaxConcurrent, 1, 1000}, {"queue.length", *d.Queue.Length, 0, 10000}, {"max_output_bytes", d.MaxOutputBytes, 1 << 10, 8 << 20}} {
		if b.n < b.least || b.n > b.most {
			return fmt.Errorf("%s: %d; write a number from %d to %d", b.key, b.n, b.least, b.most)
		}
	}
	for _, b := range []struct {
		key string
		d   time.Duration
	}{{"queue.wait", d.Queue.Wait}, {"timeout", d.Timeout}, {"long_timeout", d.LongTimeout}} {
		if b.d <= 0 || b.d > time.Hour {
			return fmt.Errorf("%s: %s; write a time such as 10s, at most 1h", b.key, b.d)
		}
	}
	if _, err := command.NewPolicy(d.rules()); err != nil {
		return fmt.Errorf("policy.%w", err)
	}
	if _, err := command.ParsePatterns(d.LongRunning); err != nil {
		return fmt.Errorf("long_running: %w", err)
	}
	return nil
}

func (d Device) rules() command.Rules {
	return command.Rules{Read: d.Policy.Read, Write: d.Policy.Write, Deny: d.Policy.Deny}
}

func validateTarget(target string) error {
	if path, is := strings.CutPrefix(target, "unix://"); is {
		if !strings.HasPrefix(path, "/") {
			return fmt.Errorf("gobgp.target: %q has no absolute path; write unix:///run/gobgp.sock", target)
		}
		return nil
	}
	if host, port, err := net.SplitHostPort(target); err != nil || host == "" || port == "" {
		return fmt.Errorf("gobgp.target: %q; write unix:///run/gobgp.sock or host:port, such as 127.0.0.1:50051", target)
	}
	return nil
}
