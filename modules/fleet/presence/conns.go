package presence

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Conn is one established TCP connection of this machine.
type Conn struct {
	LocalPort int
	Remote    netip.AddrPort
}

var (
	loop4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loop6 = netip.IPv6Loopback()
)

// established is the state of such a connection in the kernel's tables.
const established = "01"

// Established reads the kernel's tables of TCP connections.
func Established() ([]Conn, error) {
	var all []Conn
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read TCP connections: %w", err)
		}
		conns, err := parse(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read TCP connections from %s: %w", name, err)
		}
		all = append(all, conns...)
	}
	return all, nil
}

// parse reads a table: number, local address, remote address, state, ... Lines of another form are passed over.
func parse(r io.Reader) ([]Conn, error) {
	var conns []Conn
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || words[3] != established {
			continue
		}
		local, ok := endpoint(words[1])
		remote, ok2 := endpoint(words[2])
		if ok && ok2 {
			conns = append(conns, Conn{LocalPort: int(local.Port()), Remote: remote})
		}
	}
	return conns, lines.Err()
}

// endpoint reads ADDRESS:PORT in hexadecimal, where each four bytes of the address are in reverse order.
func endpoint(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	n, err := strconv.ParseUint(port, 16, 16)
	addr, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok && err == nil
}

// interfaceAddrs are the addresses of this machine.
func interfaceAddrs() ([]netip.Addr, error) {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of this machine: %w", err)
	}
	var addrs []netip.Addr
	for _, n := range nets {
		if ip, ok := n.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(ip.IP); ok {
				addrs = append(addrs, a.Unmap())
			}
		}
	}
	return addrs, nil
}
