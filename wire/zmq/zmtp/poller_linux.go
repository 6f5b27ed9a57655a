package zmtp

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readiness says what a descriptor can do now.
type readiness struct {
	fd          int
	read, write bool
}

// poller waits for many descriptors in one goroutine. The epoll descriptor itself is watched by the runtime,
// so that no thread is blocked. watch, change and forget may be called from any goroutine, wait from one.
type poller struct {
	fd     int
	file   *os.File
	conn   syscall.RawConn
	events [128]unix.EpollEvent
	found  int
	ready  []readiness
	poked  atomic.Bool
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("unblock epoll: %w", err), unix.Close(fd))
	}
	p := &poller{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if p.conn, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch epoll: %w", err), p.file.Close())
	}
	return p, nil
}

func (p *poller) watch(fd int) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN)
}

// change sets whether writing is waited for as well.
func (p *poller) change(fd int, read, write bool) error {
	var events uint32
	if read {
		events |= unix.EPOLLIN
	}
	if write {
		events |= unix.EPOLLOUT
	}
	return p.control(unix.EPOLL_CTL_MOD, fd, events)
}

func (p *poller) control(op, fd int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(p.fd, op, fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// wait returns what is ready, nothing when the time is over or poke was called. The result is valid until the
// next call.
func (p *poller) wait(until time.Time) ([]readiness, error) {
	if err := p.file.SetReadDeadline(until); err != nil {
		return nil, fmt.Errorf("wait for epoll: %w", err)
	}
	p.found = 0
	if p.poked.Swap(false) {
		return nil, nil
	}
	err := p.conn.Read(p.look)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("wait for epoll: %w", err)
	}
	p.ready = p.ready[:0]
	for _, e := range p.events[:p.found] {
		broken := e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 // reading tells what it is
		p.ready = append(p.ready, readiness{
			fd: int(e.Fd), read: broken || e.Events&unix.EPOLLIN != 0, write: e.Events&unix.EPOLLOUT != 0,
		})
	}
	return p.ready, nil
}

// look asks without waiting.
func (p *poller) look(fd uintptr) bool {
	for {
		n, err := unix.EpollWait(int(fd), p.events[:], 0)
		if err == unix.EINTR {
			continue
		}
		p.found = max(n, 0)
		return err != nil || n > 0
	}
}

// poke ends the wait that runs, or the next one. The flag is there because wait sets the deadline anew.
func (p *poller) poke() {
	p.poked.Store(true)
	_ = p.file.SetReadDeadline(time.Unix(1, 0)) // fails only when closed
}

func (p *poller) close() error { return p.file.Close() }

// forget does nothing: closing a descriptor ends the watch.
func (p *poller) forget(int) {}
