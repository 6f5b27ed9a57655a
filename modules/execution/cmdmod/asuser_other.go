//go:build !linux

package cmdmod

import (
	"errors"
	"syscall"
)

// asUser is not to be had here.
func asUser(*syscall.Credential, func() error) error { return errors.ErrUnsupported }
