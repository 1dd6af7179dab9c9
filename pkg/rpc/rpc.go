// Package rpc is how the services talk gRPC: one set-up for every server and one for every client, so that identity,
// panics, metrics and errors behave alike on every hop.
package rpc

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// MaxMessageBytes is the largest message that is sent or taken. A call's output is capped well below (1 MiB by default);
// the rest is room for its JSON form and for large catalogues.
const MaxMessageBytes = 16 << 20

// Connections are renewed at this age, so that load reaches replicas that were added later: a client looks names up
// again when a connection ends. Calls in flight finish on the old connection.
const maxConnectionAge = 30 * time.Second

// TLS names the files of mutual TLS between services. The zero TLS means plaintext.
type TLS struct {
	// Cert is this service's certificate chain, PEM.
	Cert string `yaml:"cert"`
	// Key is the certificate's private key, PEM.
	Key string `yaml:"key"`
	// CA is the certificate authority that peers must come from, PEM.
	CA string `yaml:"ca"`
}

// Enabled tells whether connections are encrypted.
func (t TLS) Enabled() bool { return t != TLS{} }

// Validate tells what is missing from a half-configured TLS.
func (t TLS) Validate() error {
	if t.Enabled() && (t.Cert == "" || t.Key == "" || t.CA == "") {
		return fmt.Errorf("internal_tls: cert, key and ca belong together: write all three, or none of them")
	}
	return nil
}

func (t TLS) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("internal_tls.cert, internal_tls.key: %w", err)
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, fmt.Errorf("internal_tls.ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("internal_tls.ca: %s holds no PEM certificate", t.CA)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair},
		RootCAs:      pool,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}, nil
}

func (t TLS) credentials() (credentials.TransportCredentials, error) {
	if !t.Enabled() {
		return insecure.NewCredentials(), nil
	}
	c, err := t.config()
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(c), nil
}
