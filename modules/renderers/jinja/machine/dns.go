package machine

import (
	"context"
	"net"
	"strconv"
	"time"

	"brine/modules/renderers/jinja/py"
)

// maxAddresses bounds how many addresses of a name are tried.
const maxAddresses = 8

// dnsCheck is the first address of a name that takes a connection, else its first one; in brackets for IPv6. ipv6 is
// nil for either kind, true for IPv6 with IPv4 in need, false for IPv4.
func dnsCheck(ctx context.Context, addr, port, safe, ipv6 any) (any, error) {
	name, ok := py.Text(addr)
	if !ok {
		return nil, py.Errorf("SaltSystemExit", "Attempt to resolve address failed. Invalid or unresolveable address")
	}
	number, err := py.Whole(port)
	if err != nil {
		return nil, err
	}
	if number < 0 || number > 65535 {
		return nil, py.Errorf("OverflowError", "connect(): port must be 0-65535.")
	}
	networks := []string{"ip"}
	if six, err := py.Truth(ipv6); err != nil {
		return nil, err
	} else if six {
		networks = []string{"ip6", "ip4"}
	} else if ipv6 == false {
		networks = []string{"ip4"}
	}
	for _, network := range networks {
		found, err := net.DefaultResolver.LookupIP(ctx, network, name)
		if err == nil && len(found) > 0 {
			return bracketed(reachable(ctx, found, number)), nil
		}
	}
	if yes, _ := py.Truth(safe); yes {
		return nil, py.Errorf("SaltClientError", "")
	}
	return nil, py.Errorf("SaltSystemExit", "DNS lookup or connection check of '%s' failed.", name)
}

func reachable(ctx context.Context, found []net.IP, port int64) net.IP {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	for _, ip := range found[:min(len(found), maxAddresses)] {
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(ip.String(), strconv.FormatInt(port, 10)))
		if err == nil {
			conn.Close()
			return ip
		}
	}
	return found[0]
}

func bracketed(ip net.IP) string {
	if ip.To4() == nil {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}
