package zmq

import (
	"errors"
	"fmt"
	"time"

	"github.com/pebbe/zmq4"
)

// Defaults of Salt (zmq_backlog, pub_hwm). libzmq's own backlog of 100 loses connections when a fleet starts.
const (
	defaultBacklog = 1000
	defaultHWM     = 1000
)

// maxMessage is the largest frame that a peer may send, in bytes; a larger one ends its connection. Salt sets no limit,
// but then a single forged length field allocates as much memory as it names.
const maxMessage = 256 << 20

// Keepalive holds the TCP keep-alive options in libzmq's form: On is -1 (system), 0 or 1. The others are seconds and a
// count; -1 leaves the system's value.
type Keepalive struct{ On, Idle, Count, Interval int }

// Keep-alive defaults: the request port of a master has its own; all other sockets follow the options tcp_keepalive,
// tcp_keepalive_idle, tcp_keepalive_cnt and tcp_keepalive_intvl.
func routerKeepalive() *Keepalive { return &Keepalive{On: 1, Idle: 60, Count: 3, Interval: 15} }
func plainKeepalive() *Keepalive  { return &Keepalive{On: 1, Idle: 300, Count: -1, Interval: -1} }

// setup collects the errors of a series of socket options.
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

// authDomain is a domain of ZAP, libzmq's protocol to authenticate peers (RFC 27). No ZAP handler exists, so libzmq
// lets every peer in. But a socket with a domain refuses peers that speak ZMTP 1 or 2, which ZAP cannot check.
const authDomain = "brine"

// refuseOld lets in only peers of ZMTP 3. For older peers libzmq reports neither descriptor nor address, so that they
// would evade every limit by connection or address. Unlike Salt: its libzmq accepts them, but none of its own clients
// speaks a version below 3.
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

// unackedTimes is how many times longer than a heartbeat and its timeout the kernel may repeat data that the peer does
// not acknowledge. The end of a connection (FIN) is such data, and the kernel by default repeats it for 100 s. A peer
// without a heartbeat of its own, such as a Salt minion, learns from it that the server has dropped the connection.
const unackedTimes = 4

// heartbeat sets ZMTP PING; an interval of 0 leaves it off. A peer that no longer reads is dropped after interval and
// timeout together. While unsent data fills the connection, libzmq cannot send a PING, and the timeout only starts at
// the PING. On the publish port of a busy master that happens soon. Therefore the kernel, which by default retries for
// a quarter of an hour, gets a limit too. Unlike Salt: it leaves the kernel's default.
func (s *setup) heartbeat(ivl, timeout time.Duration) {
	if ivl <= 0 {
		return
	}
	s.set("heartbeat_ivl", s.raw.SetHeartbeatIvl(ivl))
	if timeout > 0 {
		s.set("heartbeat_timeout", s.raw.SetHeartbeatTimeout(timeout))
	} else {
		timeout = ivl // libzmq's default
	}
	s.set("tcp_maxrt", s.raw.SetTcpMaxrt(unackedTimes*(ivl+timeout)))
}

// orDefault returns fallback if v is the zero value.
func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// reconnect sets the first and the longest pause between attempts; libzmq doubles the pause from one to the other.
func (s *setup) reconnect(ivl, longest time.Duration) {
	if ivl > 0 {
		s.set("reconnect_ivl", s.raw.SetReconnectIvl(ivl))
	}
	if longest > 0 {
		s.set("reconnect_ivl_max", s.raw.SetReconnectIvlMax(longest))
	}
}

// bind and connect come last, and only if every option was accepted.
func (s *setup) bind(endpoint string) error {
	if err := s.err(); err != nil {
		return err
	}
	if err := s.raw.Bind(endpoint); err != nil {
		return fmt.Errorf("bind %s: %w", endpoint, err)
	}
	return nil
}

// connectTimeout ends an attempt to connect. Unlike Salt: it leaves that to the kernel, which gives up after one to two
// minutes. Near the end the kernel waits for half of that time between two SYNs, so that a client may need as long
// again to come back after the network does.
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

// Sizes of the buffers of a connection that a server accepts, in bytes; libzmq's own are 8 KB each. Nearly all messages
// of Salt's minions fit. A larger message is received straight into its own memory and sent straight out of it, in one
// or two more system calls.
const (
	serverReadBatch  = 1024
	serverWriteBatch = 1024
)
