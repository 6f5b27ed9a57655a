package saltapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"brine/cmd/tool"
	"brine/config"

	"golang.org/x/sys/unix"
)

// probe checks that the port of each server is free, so that salt-api reports a used port before it has started
// anything.
func probe(conf *config.Netapi) error {
	for _, m := range ports(conf) {
		if err := free(m.Host, m.Port); err != nil {
			return tool.Exit(tool.ExitGeneric, "%s: %v", m.name, err)
		}
	}
	return nil
}

// errFree stops the creation of a listener when its port has proved free.
var errFree = errors.New("the port is free")

// free returns an error if a server could not listen on a port. It binds a socket that never listens, so that
// clients are refused meanwhile, as before. A listener would accept clients, and reset their connections when
// it closes.
func free(host string, port int) error {
	look := net.ListenConfig{Control: func(network, address string, c syscall.RawConn) error {
		var bound error
		if err := c.Control(func(fd uintptr) { bound = bind(int(fd), network, address) }); err != nil {
			return err
		}
		if bound != nil {
			return os.NewSyscallError("bind", bound)
		}
		return errFree
	}}
	ln, err := look.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err == nil { // another version of Go may bind without calling Control
		return ln.Close()
	}
	if errors.Is(err, errFree) {
		return nil
	}
	return err
}

// bind binds a socket to the address to which a listener of Go would bind it. In a socket for both IP versions,
// the wildcard of IPv4 means the wildcard of both.
func bind(fd int, network, address string) error {
	if strings.HasPrefix(address, ":") {
		address = "[::]" + address
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %s: %w", address, err)
	}
	if network == "tcp4" {
		to := &unix.SockaddrInet4{Port: int(at.Port())}
		if ip := at.Addr().Unmap(); ip.Is4() {
			to.Addr = ip.As4()
		}
		return unix.Bind(fd, to)
	}
	to := &unix.SockaddrInet6{Port: int(at.Port())}
	if ip := at.Addr(); !ip.Unmap().IsUnspecified() {
		to.Addr = ip.As16()
		if zone, err := net.InterfaceByName(ip.Zone()); err == nil {
			to.ZoneId = uint32(zone.Index)
		}
	}
	return unix.Bind(fd, to)
}
