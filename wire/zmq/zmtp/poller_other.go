//go:build unix && !linux

package zmtp

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// readiness says what a descriptor can do now.
type readiness struct {
	fd          int
	read, write bool
}

// poller waits for many descriptors by poll(2), whose cost grows with their number. Where the system has
// something better, as on Linux, that is used.
type poller struct {
	wakeR, wakeW int

	mu     sync.Mutex
	fds    map[int]int16
	closed bool
	ready  []readiness
}

func newPoller() (*poller, error) {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	for _, fd := range pipe {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, errors.Join(fmt.Errorf("unblock pipe: %w", err), unix.Close(pipe[0]), unix.Close(pipe[1]))
		}
	}
	return &poller{wakeR: pipe[0], wakeW: pipe[1], fds: map[int]int16{pipe[0]: unix.POLLIN}}, nil
}

func (p *poller) watch(fd int) error { return p.change(fd, true, false) }

func (p *poller) change(fd int, read, write bool) error {
	var events int16
	if read {
		events |= unix.POLLIN
	}
	if write {
		events |= unix.POLLOUT
	}
	p.mu.Lock()
	p.fds[fd] = events
	p.mu.Unlock()
	p.poke()
	return nil
}

func (p *poller) forget(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.fds, fd)
}

func (p *poller) wait(until time.Time) ([]readiness, error) {
	p.mu.Lock()
	list := make([]unix.PollFd, 0, len(p.fds))
	for fd, events := range p.fds {
		list = append(list, unix.PollFd{Fd: int32(fd), Events: events})
	}
	p.mu.Unlock()
	timeout := -1
	if !until.IsZero() {
		timeout = max(0, int(time.Until(until)/time.Millisecond)+1)
	}
	if _, err := unix.Poll(list, timeout); err != nil && err != unix.EINTR {
		return nil, fmt.Errorf("poll: %w", err)
	}
	p.ready = p.ready[:0]
	for _, f := range list {
		switch {
		case f.Revents == 0:
		case int(f.Fd) == p.wakeR:
			var sink [64]byte
			_, _ = unix.Read(p.wakeR, sink[:]) // what is left wakes the next wait
		default:
			broken := f.Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
			p.ready = append(p.ready, readiness{
				fd: int(f.Fd), read: broken || f.Revents&unix.POLLIN != 0, write: f.Revents&unix.POLLOUT != 0,
			})
		}
	}
	return p.ready, nil
}

func (p *poller) poke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		_, _ = unix.Write(p.wakeW, []byte{0}) // a full pipe wakes as well
	}
}

func (p *poller) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(unix.Close(p.wakeR), unix.Close(p.wakeW))
}
