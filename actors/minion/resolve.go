package minion

import (
	"context"
	"fmt"
	"net"
)

// resolve is the master's address, looked up anew for each connection: a master that moved is found again.
func (l *link) resolve(ctx context.Context) (string, error) {
	if addr := l.address.Load(); addr != nil {
		return *addr, nil
	}
	addr := l.master.Host
	if net.ParseIP(addr) == nil {
		found, err := net.DefaultResolver.LookupIPAddr(ctx, addr)
		if err != nil {
			return "", fmt.Errorf("resolve master %s: %w", addr, err)
		}
		addr = pick(found, l.cfg.IPv6)
		if addr == "" {
			return "", fmt.Errorf("resolve master %s: no address of the family in use (ipv6: %v)", l.master.Host, l.cfg.IPv6)
		}
	}
	l.address.Store(&addr)
	return addr, nil
}

// pick chooses an address: IPv6 first when the option ipv6 is on, else IPv4, else what there is.
func pick(found []net.IPAddr, ipv6 bool) string {
	for _, a := range found {
		if (a.IP.To4() == nil) == ipv6 {
			return a.String()
		}
	}
	if len(found) > 0 {
		return found[0].String()
	}
	return ""
}
