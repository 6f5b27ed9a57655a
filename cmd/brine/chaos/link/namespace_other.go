//go:build !linux

package link

import (
	"fmt"
	"os"
	"runtime"
)

func newNamespace() (*os.File, error) {
	return nil, fmt.Errorf("%w: no network namespaces on %s", ErrUnavailable, runtime.GOOS)
}

func (h *Host) within(f func() error) error { return f() }
