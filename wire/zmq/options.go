package zmq

import (
	"errors"
	"fmt"
	"time"

	"github.com/pebbe/zmq4"
)

// Defaults of Salt (zmq_backlog, pub_hwm); libzmq's own backlog of 100 loses connections of a starting fleet.
const (
	defaultBacklog = 1000
	defaultHWM     = 1000
)

// maxMessage is the largest frame a peer may send, in bytes; a larger one ends its connection. Salt sets no
// limit, but then one forged length field costs as much memory as it names.
const maxMessage = 256 << 20

// Keepalive holds the TCP keep-alive options as libzmq takes them: On is -1 (system), 0 or 1; the others are
// seconds and a count, -1 leaves the system's value.
type Keepalive struct{ On, Idle, Count, Interval int }

// Keep-alive defaults: the request port of a master sets its own, everything else follows the options
// tcp_keepalive, tcp_keepalive_idle, tcp_keepalive_cnt and tcp_keepalive_intvl.
func routerKeepalive() *Keepalive { return &Keepalive{On: 1, Idle: 60, Count: 3, Interval: 15} }
func plainKeepalive() *Keepalive  { return &Keepalive{On: 1, Idle: 300, Count: -1, Interval: -1} }

// setup collects the errors of a row of socket options.
type setup struct {
	raw  *zmq4.Socket
	errs []error
}

func (s *setup) set(name string, err error) {
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("set %s: %w", name, err))
	}
}

func (s *setup) err() error { return errors.Join(s.errs...) }

func (s *setup) common(linger time.Duration, ipv6 bool) {
	s.set("linger", s.raw.SetLinger(linger))
	s.set("maxmsgsize", s.raw.SetMaxmsgsize(maxMessage))
	s.set("ipv6", s.raw.SetIpv6(ipv6))
}

// authDomain is a domain of ZAP, libzmq's way to ask somebody about a peer (RFC 27). Nobody is there to be asked, so
// that all are let in; but a socket with a domain refuses peers that speak ZMTP 1 or 2, which cannot be asked about.
const authDomain = "brine"

// refuseOld lets in peers of ZMTP 3 only. Of others libzmq tells neither descriptor nor address, so that they would
// evade every limit by connection or address. Unlike Salt: its libzmq takes them, but none of its own clients speaks
// less than 3.
func (s *setup) refuseOld() { s.set("zap_domain", s.raw.SetZapDomain(authDomain)) }

func (s *setup) keepalive(k, fallback *Keepalive) {
	if k == nil {
		k = fallback
	}
	s.set("tcp_keepalive", s.raw.SetTcpKeepalive(k.On))
	s.set("tcp_keepalive_idle", s.raw.SetTcpKeepaliveIdle(k.Idle))
	s.set("tcp_keepalive_cnt", s.raw.SetTcpKeepaliveCnt(k.Count))
	s.set("tcp_keepalive_intvl", s.raw.SetTcpKeepaliveIntvl(k.Interval))
}

// unackedTimes is how many times longer than the heartbeat the kernel may go on with what is not acknowledged. The end
// of a connection belongs to that, and the kernel by itself repeats it for 100 s: a peer without a heartbeat of its
// own, as minions of Salt are, learns from it that it was given up.
const unackedTimes = 4

// heartbeat sets ZMTP PING; an interval of 0 leaves it off. A peer that takes nothing any more is given up after both
// times. libzmq cannot send a PING, and begins to count at the PING, while what it sent before fills the connection: on
// the publish port of a busy master that is soon so. The kernel, which goes on for a quarter of an hour, therefore has
// a limit, too. Unlike Salt: it leaves that to the kernel's default.
func (s *setup) heartbeat(ivl, timeout time.Duration) {
	if ivl <= 0 {
		return
	}
	s.set("heartbeat_ivl", s.raw.SetHeartbeatIvl(ivl))
	if timeout > 0 {
		s.set("heartbeat_timeout", s.raw.SetHeartbeatTimeout(timeout))
	} else {
		timeout = ivl // as libzmq takes it
	}
	s.set("tcp_maxrt", s.raw.SetTcpMaxrt(unackedTimes*(ivl+timeout)))
}

// orDefault gives the fallback for a zero value.
func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// reconnect sets the first and the longest pause between attempts; libzmq doubles from one to the other.
func (s *setup) reconnect(ivl, longest time.Duration) {
	if ivl > 0 {
		s.set("reconnect_ivl", s.raw.SetReconnectIvl(ivl))
	}
	if longest > 0 {
		s.set("reconnect_ivl_max", s.raw.SetReconnectIvlMax(longest))
	}
}

// bind and connect come last and only when every option was taken.
func (s *setup) bind(endpoint string) error {
	if err := s.err(); err != nil {
		return err
	}
	if err := s.raw.Bind(endpoint); err != nil {
		return fmt.Errorf("bind %s: %w", endpoint, err)
	}
	return nil
}

// connectTimeout ends an attempt to connect. Unlike Salt: it leaves that to the kernel, which takes one to two minutes,
// and in the end waits half of that before it asks again, so that a client that was cut off comes back as long after
// the network.
const connectTimeout = 10 * time.Second

func (s *setup) connect(endpoint string, timeout time.Duration) error {
	s.set("connect_timeout", s.raw.SetConnectTimeout(orDefault(timeout, connectTimeout)))
	if err := s.err(); err != nil {
		return err
	}
	if err := s.raw.Connect(endpoint); err != nil {
		return fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	return nil
}

// Sizes of the buffers of a connection that a server's socket accepts, in bytes; libzmq's own are 8 KB each. Nearly all
// messages of Salt's minions fit. A larger one is received straight into its own memory and sent out of it, in a system
// call or two more.
const (
	serverReadBatch  = 1024
	serverWriteBatch = 1024
)
