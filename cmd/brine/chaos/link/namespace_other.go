//go:build !linux

package link

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
)

func newNamespace() (*os.File, error) {
	return nil, fmt.Errorf("%w: no network namespaces on %s", ErrUnavailable, runtime.GOOS)
}

func (h *Host) within(f func() error) error { return f() }

func (h *Host) newInterface(string, netip.Addr) (io.ReadWriteCloser, error) {
	return nil, ErrUnavailable
}

func switchOn(string, netip.Addr) error { return ErrUnavailable }
