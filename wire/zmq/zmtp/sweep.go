package zmtp

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// errSilent means that a peer let its time pass.
var errSilent = errors.New("zmtp: peer is silent")

// sweep looks through all connections: who has not introduced itself in time, who is to be pinged, who has
// been silent for too long.
func (s *Server) sweep() {
	if s.deaf {
		s.deaf = false
		_ = s.poll.change(s.fd, true, false)
	}
	for _, c := range s.conns {
		if err := s.check(c); err != nil {
			s.drop(c, err)
		}
	}
}

func (s *Server) check(c *Conn) error {
	quiet := s.now - c.heard
	switch {
	case c.stage != connected:
		if s.now-c.since > s.opt.Handshake {
			return fmt.Errorf("%w: no handshake", errSilent)
		}
		return nil
	case c.patience > 0 && quiet > c.patience:
		return fmt.Errorf("%w: for longer than it announced", errSilent)
	case s.opt.HeartbeatIvl <= 0:
		return nil
	case c.waiting && c.answers && s.now-c.pinged > s.silence():
		return fmt.Errorf("%w: PING not answered", errSilent)
	}
	return s.ping(c)
}

// ping sends PING when it is time. A peer that has never answered one may be too old to know it, and is left
// to TCP keep-alive.
func (s *Server) ping(c *Conn) error {
	if c.waiting && c.answers || s.now-c.pinged < s.opt.HeartbeatIvl {
		return nil
	}
	err := c.send(command(cmdPing, []byte{0, 0}), 1)
	if errors.Is(err, ErrFull) {
		return nil // PING would only wait behind the rest
	}
	c.pinged, c.waiting = s.now, true
	return err
}

// end closes the port, gives unsent messages the time of Linger and closes the rest.
func (s *Server) end() error {
	err := unix.Close(s.fd)
	s.fd = -1
	for until := time.Now().Add(s.opt.Linger); s.unsent() && time.Now().Before(until); {
		ready, werr := s.poll.wait(until)
		if werr != nil {
			err = errors.Join(err, werr)
			break
		}
		for _, r := range ready {
			s.finish(s.conns[r.fd], r)
		}
	}
	for _, c := range s.conns {
		s.drop(c, ErrGone)
	}
	return errors.Join(err, s.poll.close())
}

// finish writes what a connection has left. It is not read from any more, so if it can be, it has ended.
func (s *Server) finish(c *Conn, r readiness) {
	if c == nil {
		return
	}
	err := error(nil)
	if r.write {
		err = c.flush(s.buf)
	}
	if r.read || err != nil {
		s.drop(c, ErrGone)
	}
}

// unsent reports whether anything waits to be written, and stops to listen to those it looks at.
func (s *Server) unsent() bool {
	waiting := false
	for _, c := range s.conns {
		c.mu.Lock()
		c.blocked = len(c.queue) > 0
		waiting = waiting || c.blocked
		_ = s.poll.change(c.fd, false, c.blocked)
		c.mu.Unlock()
	}
	return waiting
}
