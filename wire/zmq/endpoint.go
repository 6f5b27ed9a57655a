package zmq

import (
	"net"
	"strconv"
	"strings"
)

// BindEndpoint is the address that a server binds: tcp://host:port, with brackets around an IPv6 host. Port 0 takes a
// free port; see Addr of the adapter.
func BindEndpoint(host string, port int) string {
	return "tcp://" + hostPort(host, port)
}

// ConnectEndpoint is the address to which a client connects. sourceIP and sourcePort fix the local side; empty and 0
// leave the choice to the system. Salt writes tcp://SOURCE:PORT;MASTER:PORT, and 0.0.0.0 (or [::]) for a source port
// alone (salt/transport/zeromq.py, _get_master_uri).
func ConnectEndpoint(host string, port int, sourceIP string, sourcePort int) string {
	target := hostPort(host, port)
	if sourceIP == "" && sourcePort == 0 {
		return "tcp://" + target
	}
	if sourceIP == "" {
		sourceIP = "0.0.0.0"
		if strings.Contains(host, ":") {
			sourceIP = "::"
		}
	}
	return "tcp://" + hostPort(sourceIP, sourcePort) + ";" + target
}

// hostPort joins host and port; a host that already has brackets keeps one pair.
func hostPort(host string, port int) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
}

// isIPv6 reports whether an endpoint is written with an IPv6 address.
func isIPv6(endpoint string) bool { return strings.Contains(endpoint, "[") }
