package edge

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/pkg/rpc"
	"github.com/zegate/zegate/services/edge/internal/auth"
	"github.com/zegate/zegate/services/edge/internal/gate"
)

// Config is the section edge of the settings.
type Config struct {
	// Listen is where MCP and REST are served, host:port.
	Listen string `yaml:"listen"`
	// AdminListen is where the process serves health and metrics, host:port.
	AdminListen string `yaml:"admin_listen"`
	// Executor is the gRPC target of the executors.
	Executor string `yaml:"executor"`
	// Taskrunner is the gRPC target of the task runners; empty means that there are no tasks.
	Taskrunner string `yaml:"taskrunner"`
	// PublicURL is the URL of the MCP endpoint as clients see it.
	PublicURL string `yaml:"public_url"`
	// AllowedOrigins are origins of web pages that may call.
	AllowedOrigins []string `yaml:"allowed_origins"`
	// AllowedHosts are hosts, beside that of PublicURL, that requests may be for.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// MaxBodyBytes bounds a request's body.
	MaxBodyBytes int64 `yaml:"max_body_bytes"`
	// Insecure allows a listener that others can reach without the settings that make it safe.
	Insecure bool `yaml:"insecure"`
	// Auth says who may call.
	Auth auth.Config `yaml:"auth"`
	// TLS serves HTTPS; both files or none.
	TLS TLS `yaml:"tls"`
	// Limits bounds what one caller may do.
	Limits gate.Limits `yaml:"limits"`

	// Host is what the process lends; not a setting.
	Host lifecycle.Host `yaml:"-"`
}

// TLS names the files of the certificate that clients see.
type TLS struct {
	// Cert is the certificate chain, PEM.
	Cert string `yaml:"cert"`
	// Key is the private key, PEM.
	Key string `yaml:"key"`
}

// DefaultConfig is the section when nothing is set.
func DefaultConfig() Config {
	return Config{
		Listen:       "127.0.0.1:8080",
		AdminListen:  "127.0.0.1:9090",
		MaxBodyBytes: 1 << 20,
		Auth:         auth.Default(),
		Limits:       gate.Limits{RequestsPerSecond: 2000, Burst: 4000, ConcurrentCalls: 512, Streams: 10_000},
	}
}

// Validate tells what is wrong with the section, naming the key and what to write instead.
func (c Config) Validate() error {
	if err := c.Auth.Validate(); err != nil {
		return err
	}
	if c.Host.Dial == nil && c.Executor == "" {
		return errors.New("edge.executor: write the gRPC target of the executors, such as dns:///executor:9000")
	}
	if c.MaxBodyBytes <= 0 {
		return errors.New("edge.max_body_bytes: write a number of bytes above 0")
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return errors.New("edge.tls: cert and key belong together: write both, or none of them")
	}
	if l := c.Limits; l.RequestsPerSecond < 0 || l.Burst < 0 || l.ConcurrentCalls < 0 || l.Streams < 0 {
		return errors.New("edge.limits: numbers must not be negative; 0 means no limit")
	}
	if c.PublicURL != "" {
		if u, err := url.Parse(c.PublicURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("edge.public_url: %q is not a URL: write one such as https://mcp.example.net/mcp", c.PublicURL)
		}
	}
	for i, o := range c.AllowedOrigins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme == "" || u.Path != "" {
			return fmt.Errorf("edge.allowed_origins[%d]: %q is not an origin: write scheme://host[:port], such as https://app.example.net", i, o)
		}
	}
	for i, h := range c.AllowedHosts {
		if h == "" || strings.ContainsAny(h, "/ ") {
			return fmt.Errorf("edge.allowed_hosts[%d]: %q is not a host: write a name such as mcp.example.net, or name:port", i, h)
		}
	}
	return c.validateExposure()
}

// validateExposure refuses a listener that others can reach unless it is safe or said to be insecure.
func (c Config) validateExposure() error {
	if c.Insecure || rpc.LoopbackOnly(c.Listen) {
		return nil
	}
	if c.Auth.Mode == auth.ModeNone {
		return fmt.Errorf("edge.auth.mode: none lets anyone who reaches %s run commands: write bearer or bearer-list, listen on 127.0.0.1, or write insecure: true under edge", c.Listen)
	}
	if c.PublicURL == "" && len(c.AllowedHosts) == 0 {
		return fmt.Errorf("edge.public_url: a listener on %s must know the host that it answers for: write public_url or allowed_hosts, or insecure: true under edge", c.Listen)
	}
	return nil
}
