package zmtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options of a Server. All callbacks come from the goroutine of Serve and must not block.
type Options struct {
	Addr       string   // host:port; a host of "*" is every address
	Backlog    int      // connections that may wait to be accepted
	SocketType string   // that we name: ROUTER, PUB
	PeerTypes  []string // that we accept

	MaxFrame  int // of a message, in bytes
	MaxFrames int // frames of a message that are kept; one more than any use shows that there were too many
	HWM       int // messages that may wait for one peer

	HeartbeatIvl     time.Duration // between PINGs; 0: none
	HeartbeatTimeout time.Duration // silence after a PING that ends a connection; 0: HeartbeatIvl
	Handshake        time.Duration // within which a peer must have introduced itself
	Linger           time.Duration // that unsent messages may delay the end
	KeepAlive        KeepAlive

	OnOpen    func(c *Conn)                  // a peer has introduced itself
	OnMessage func(c *Conn, frames [][]byte) // which the callee owns; a subscription is 1 or 0 and the topic
	OnClose   func(c *Conn, err error)       // after OnOpen; err says why, io.EOF when the peer went
	OnRefuse  func(c *Conn, err error)       // in place of OnOpen; may be nil
}

// KeepAlive are the options of TCP: On is -1 (leave the system's), 0 or 1; Idle and Interval are seconds;
// values below 1 leave the system's.
type KeepAlive struct{ On, Idle, Count, Interval int }

// Server serves one port.
type Server struct {
	opt   Options
	poll  *poller
	fd    int // listening
	addr  net.Addr
	conns map[int]*Conn
	buf   []byte
	start time.Time
	now   time.Duration // since start
	deaf  bool          // out of descriptors: not accepting until the next sweep

	mu  sync.Mutex
	due []*Conn // to be flushed
}

// Listen binds the port. Connections are accepted by Serve, which must follow, or Close.
func Listen(opt Options) (*Server, error) {
	fd, addr, err := listen(opt.Addr, opt.Backlog)
	if err != nil {
		return nil, err
	}
	poll, err := newPoller()
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	s := &Server{opt: opt, poll: poll, fd: fd, addr: addr, conns: map[int]*Conn{}, buf: make([]byte, 64<<10), start: time.Now()}
	if err := poll.watch(fd); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// listen makes a listening descriptor that does not block. The net package finds the address and sets the
// usual options; the descriptor is then taken from it.
func listen(addr string, backlog int) (int, net.Addr, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return -1, nil, err
	}
	network := "tcp"
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4"
	}
	if host == "*" {
		host = ""
	}
	l, err := net.Listen(network, net.JoinHostPort(host, port))
	if err != nil {
		return -1, nil, err
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return -1, nil, err
	}
	defer file.Close()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, nil, fmt.Errorf("copy descriptor: %w", err)
	}
	if err := errors.Join(unix.SetNonblock(fd, true), unix.Listen(fd, backlog)); err != nil {
		return -1, nil, errors.Join(fmt.Errorf("listen: %w", err), unix.Close(fd))
	}
	return fd, l.Addr(), nil
}

// Addr is the address that was bound.
func (s *Server) Addr() net.Addr { return s.addr }

// Close ends a Server that never served.
func (s *Server) Close() error {
	return errors.Join(unix.Close(s.fd), s.poll.close())
}

// Serve works until ctx ends, then closes the port and all connections and returns the cause.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.poll.poke)
	defer stop()
	err := s.loop(ctx)
	if cerr := s.end(); cerr != nil {
		err = errors.Join(err, cerr)
	}
	return err
}

func (s *Server) loop(ctx context.Context) error {
	var next time.Time // of the next sweep; none is needed without connections
	for ctx.Err() == nil {
		if len(s.conns) == 0 && !s.deaf {
			next = time.Time{}
		} else if next.IsZero() {
			next = time.Now().Add(s.pace())
		}
		ready, err := s.poll.wait(next)
		if err != nil {
			return err
		}
		now := time.Now()
		s.now = now.Sub(s.start)
		for _, r := range ready {
			s.handle(r)
		}
		s.flushDue()
		if !next.IsZero() && !now.Before(next) {
			s.sweep()
			next = time.Time{}
		}
	}
	return context.Cause(ctx)
}

// setDue puts a connection on the list of those to be flushed.
func (s *Server) setDue(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append(s.due, c)
}

// Flush makes the goroutine of Serve write what Conn.Queue has collected.
func (s *Server) Flush() { s.poll.poke() }

func (s *Server) flushDue() {
	s.mu.Lock()
	due := s.due
	s.due = nil
	s.mu.Unlock()
	for _, c := range due {
		if err := c.flush(s.buf); err != nil {
			s.drop(c, err)
		}
	}
}

// pace is how often the connections are looked through.
func (s *Server) pace() time.Duration {
	pace := min(time.Second, s.opt.Handshake)
	if s.opt.HeartbeatIvl > 0 {
		pace = min(pace, s.opt.HeartbeatIvl, s.silence())
	}
	return max(pace/2, time.Millisecond)
}

func (s *Server) silence() time.Duration {
	if s.opt.HeartbeatTimeout > 0 {
		return s.opt.HeartbeatTimeout
	}
	return s.opt.HeartbeatIvl
}

func (s *Server) handle(r readiness) {
	if r.fd == s.fd {
		s.accept()
		return
	}
	c := s.conns[r.fd]
	if c == nil {
		return
	}
	if r.write {
		if err := c.flush(s.buf); err != nil {
			s.drop(c, err)
			return
		}
	}
	if r.read {
		s.read(c)
	}
}

// accept takes the connections that wait, a bounded number at a time.
func (s *Server) accept() {
	for range 64 {
		fd, peer, err := accept(s.fd)
		switch err {
		case nil:
			s.welcome(fd, addrOf(peer))
		case unix.EAGAIN:
			return
		case unix.ECONNABORTED, unix.EINTR:
		default: // out of descriptors or memory: leave the rest in the queue for a moment
			s.deaf = true
			_ = s.poll.change(s.fd, false, false)
			return
		}
	}
}

func (s *Server) welcome(fd int, peer netip.AddrPort) {
	s.tune(fd)
	c := &Conn{srv: s, fd: fd, Peer: peer, since: s.now, heard: s.now, pinged: s.now}
	c.reader.limit = s.opt.MaxFrame
	s.conns[fd] = c
	if err := s.poll.watch(fd); err != nil {
		s.drop(c, err)
		return
	}
	if err := c.send(greeting(), s.opt.HWM); err != nil {
		s.drop(c, err)
	}
}

// tune sets the options of a connection. None of them is worth losing the peer.
func (s *Server) tune(fd int) {
	set := func(level, opt, value int) { _ = unix.SetsockoptInt(fd, level, opt, value) }
	set(unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	k := s.opt.KeepAlive
	if k.On < 0 {
		return
	}
	set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, k.On)
	for opt, value := range map[int]int{optKeepIdle: k.Idle, unix.TCP_KEEPCNT: k.Count, unix.TCP_KEEPINTVL: k.Interval} {
		if k.On > 0 && value > 0 {
			set(unix.IPPROTO_TCP, opt, value)
		}
	}
}

// read takes what a peer has sent; the limit gives the others their turn.
func (s *Server) read(c *Conn) {
	for range 4 {
		n, err := unix.Read(c.fd, s.buf)
		switch {
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR:
			continue
		case err == nil && n == 0:
			err = io.EOF
		case err == nil:
			c.heard, c.waiting = s.now, false
			err = c.feed(s.buf[:n])
		}
		if err != nil {
			s.drop(c, err)
			return
		}
		if n < len(s.buf) {
			return
		}
	}
}

// drop ends a connection.
func (s *Server) drop(c *Conn, err error) {
	if s.conns[c.fd] != c {
		return
	}
	delete(s.conns, c.fd)
	c.shut()
	if c.stage == connected {
		s.opt.OnClose(c, err)
	} else if s.opt.OnRefuse != nil {
		s.opt.OnRefuse(c, err)
	}
}

func addrOf(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}
