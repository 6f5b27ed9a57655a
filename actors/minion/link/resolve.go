package link

import (
	"context"
	"errors"
	"fmt"
	"net"

	"brine/wire/sealed"
)

// ErrUnresolved means that the master's name has no address.
var ErrUnresolved = errors.New("the name of the master has no address")

// localhost stands in for a master whose name has no address, where retry_dns is 0 (Salt's fallback).
const localhost = "127.0.0.1"

// resolve is the master's address, looked up anew for each connection: a master that moved is found again.
// Of several addresses it is another one than avoid.
func (t *network) resolve(ctx context.Context, avoid string) (string, error) {
	host := t.master.Host
	if net.ParseIP(host) != nil {
		return host, nil
	}
	found, err := t.lookup(ctx, host)
	if err != nil && ctx.Err() != nil {
		return "", sealed.OutOfTime(ctx)
	}
	if addr := pick(found, t.opt.IPv6, avoid); addr != "" {
		return addr, nil
	}
	if t.opt.ToThisHost {
		return localhost, nil
	}
	if err == nil {
		err = errors.New("it stands for nothing")
	}
	return "", fmt.Errorf("%w: %s: %w", ErrUnresolved, host, err)
}

// pick chooses an address: IPv6 first when the option ipv6 is on, else IPv4, else what there is. Among those
// of the family it is the first other than avoid, if there is another.
func pick(found []net.IPAddr, ipv6 bool, avoid string) string {
	var of []string
	for _, a := range found {
		if (a.IP.To4() == nil) == ipv6 {
			of = append(of, a.String())
		}
	}
	if len(of) == 0 {
		for _, a := range found {
			of = append(of, a.String())
		}
	}
	for _, addr := range of {
		if addr != avoid {
			return addr
		}
	}
	if len(of) > 0 {
		return of[0]
	}
	return ""
}

// SourceAddress is the local end of all connections: an address of the interface name (source_interface_name) where
// there is a name, else address (source_address).
func SourceAddress(name, address string, ipv6 bool) (string, error) {
	if name == "" {
		return address, nil
	}
	iface, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", name, err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", name, err)
	}
	var ips []net.IPAddr
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			ips = append(ips, net.IPAddr{IP: ip.IP})
		}
	}
	return pick(ips, ipv6, ""), nil
}
