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

// probe looks whether the port of each server is free, so that one that is taken is told before anything has started.
func probe(conf *config.Netapi) error {
	for _, m := range ports(conf) {
		if err := free(m.Host, m.Port); err != nil {
			return tool.Exit(tool.ExitGeneric, "%s: %v", m.name, err)
		}
	}
	return nil
}

// errFree ends the making of a listener whose port is free.
var errFree = errors.New("the port is free")

// free is an error when a server could not listen on a port. It only takes the address of a socket that never listens:
// a client that comes meanwhile is refused, as before, where a listener that is closed again would reset what it has
// let in.
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
	if err == nil { // a Go that does not ask before it binds
		return ln.Close()
	}
	if errors.Is(err, errFree) {
		return nil
	}
	return err
}

// bind gives a socket the address that a listener of Go would give it: a wildcard of IPv4 in a socket of both is that
// of both.
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
