package link

import (
	"fmt"
	"io"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// newInterface makes a network interface in the namespace, with an address in a network of 256 addresses. It
// returns the other side: a Read is a packet that the namespace sends, a Write one that it receives. Close
// removes the interface.
func (h *Host) newInterface(name string, addr netip.Addr) (side io.ReadWriteCloser, err error) {
	err = h.within(func() error {
		if side, err = openTun(name); err != nil {
			return err
		}
		if err := switchOn(name, addr); err != nil {
			_ = side.Close() // it was not used
			return err
		}
		return nil
	})
	return side, err
}

// openTun makes a TUN device in the namespace of the calling thread.
func openTun(name string) (*os.File, error) {
	const device = "/dev/net/tun"
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, device, err)
	}
	ifr, err := unix.NewIfreq(name)
	if err == nil {
		ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI) // bare IP packets
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		_ = unix.Close(fd) // it was not used
		return nil, fmt.Errorf("%w: interface %s: %w", ErrUnavailable, name, err)
	}
	return os.NewFile(uintptr(fd), device), nil // only now, because the file must be a device before it can be polled
}

// switchOn sets the address of an interface in the namespace of the calling thread, if addr is valid, and
// activates it.
func switchOn(name string, addr netip.Addr) error {
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	defer func() { _ = unix.Close(sock) }() // nothing was written
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	ask := func(request uint) {
		if err == nil {
			err = unix.IoctlIfreq(sock, request, ifr)
		}
	}
	set := func(request uint, addr netip.Addr) {
		if err == nil {
			err = ifr.SetInet4Addr(addr.AsSlice())
		}
		ask(request)
	}
	if addr.IsValid() {
		set(unix.SIOCSIFADDR, addr)
		set(unix.SIOCSIFNETMASK, netip.AddrFrom4([4]byte{255, 255, 255, 0}))
	}
	ask(unix.SIOCGIFFLAGS)
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	if ask(unix.SIOCSIFFLAGS); err != nil {
		return fmt.Errorf("switch on interface %s: %w", name, err)
	}
	return nil
}
