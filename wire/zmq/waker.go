package zmq

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waker puts a goroutine to sleep until the descriptor of a socket is readable or another goroutine pokes it. It works
// on a copy of the descriptor, so that closing the copy leaves libzmq's own alone.
type waker struct {
	file  *os.File
	conn  syscall.RawConn
	poked atomic.Bool
}

func newWaker(fd int) (*waker, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copy descriptor: %w", err)
	}
	if err := unix.SetNonblock(dup, true); err != nil {
		return nil, errors.Join(fmt.Errorf("unblock descriptor: %w", err), unix.Close(dup))
	}
	file := os.NewFile(uintptr(dup), "zmq")
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch descriptor: %w", err), file.Close())
	}
	return &waker{file: file, conn: conn}, nil
}

// wait returns when the descriptor is readable, after a poke (also an earlier one), or after limit. silent is true if
// limit passed.
//
// The netpoller forgets an edge that it saw before the read began, so the callback asks the descriptor itself. The poke
// is kept in a flag, because setting the deadline here would undo the deadline of a poke just before.
func (w *waker) wait(limit time.Duration) (silent bool, err error) {
	if err := w.file.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return false, fmt.Errorf("arm waker: %w", err)
	}
	if w.poked.Swap(false) {
		return false, nil
	}
	err = w.conn.Read(readable)
	poked := w.poked.Swap(false)
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return !poked, nil
	}
	return false, fmt.Errorf("wait at waker: %w", err)
}

// poke ends the current wait, or the next one.
func (w *waker) poke() {
	w.poked.Store(true)
	_ = w.file.SetReadDeadline(time.Unix(1, 0)) // fails only if closed, and then nobody waits
}

func (w *waker) close() error { return w.file.Close() }

// readable asks the kernel whether the descriptor is readable now.
func readable(fd uintptr) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds[:], 0)
		if err != unix.EINTR {
			return err != nil || n > 0
		}
	}
}
