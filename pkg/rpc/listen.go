package rpc

import (
	"fmt"
	"net"
	"strings"
)

const unixScheme = "unix://"

// Listen listens on host:port, or on a socket file when addr is unix:///path.
func Listen(addr string) (net.Listener, error) {
	network, address := "tcp", addr
	if path, ok := strings.CutPrefix(addr, unixScheme); ok {
		network, address = "unix", path
	}
	lis, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return lis, nil
}

// LoopbackOnly tells whether a listener on addr is reached from this machine alone: a loopback address, or a socket file. A
// name other than localhost is not resolved and counts as reachable.
func LoopbackOnly(addr string) bool {
	if strings.HasPrefix(addr, unixScheme) {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
