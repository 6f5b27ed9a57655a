package ipc

import (
	"errors"
	"syscall"
)

// Peer is the process at the other end of a unix socket, at the time when it connected.
type Peer struct {
	UID, GID, PID int
}

var errNoPeer = errors.New("ipc: credentials of the peer are not known")

func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
