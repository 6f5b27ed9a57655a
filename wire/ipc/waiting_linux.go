package ipc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// waiting accepts the connections of a listening socket. For the kernel a peer is connected long before a goroutine
// that waits in accept has run, if the machine is busy. now closes this gap for callers that must know all peers.
type waiting struct {
	file *os.File // a copy of the descriptor, in the netpoller
	raw  syscall.RawConn

	taking
}

func newWaiting(ln net.Listener) (*waiting, error) {
	l, ok := ln.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, fmt.Errorf("%T has no descriptor", ln)
	}
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &waiting{file: file, raw: raw}, nil
}

// wait returns after it has accepted a connection, or cannot.
func (w *waiting) wait() error {
	var n int
	var failed error
	err := w.raw.Read(func(fd uintptr) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		n, failed = w.drain(int(fd))
		return n > 0 || failed != nil
	})
	return errors.Join(err, failed)
}

// now accepts the waiting connections. The next wait reports any error. There are mostly none, and then this check of
// the descriptor costs a tenth of a failed accept.
func (w *waiting) now() {
	w.mu.Lock() // wait may be accepting a connection just now
	defer w.mu.Unlock()
	_ = w.raw.Control(func(fd uintptr) {
		look := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(look[:], 0); n > 0 {
			_, _ = w.drain(int(fd))
		}
	})
}

func (w *waiting) close() error {
	if err := w.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// drain accepts connections until there are no more. The mutex is held.
func (w *waiting) drain(fd int) (n int, err error) {
	for w.take != nil {
		peer, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return n, nil
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED):
			continue
		case err != nil:
			return n, os.NewSyscallError("accept4", err)
		}
		conn, err := connOf(peer)
		if err != nil {
			return n, err
		}
		w.take(conn)
		n++
	}
	return n, nil
}

func connOf(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "peer")
	conn, err := net.FileConn(f) // a copy
	return conn, errors.Join(err, f.Close())
}
