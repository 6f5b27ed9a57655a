package zmq

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/pebbe/zmq4"
	"golang.org/x/sys/unix"
)

// EventKind says what happened to a connection.
type EventKind int

// Kinds of events. A server (Router, Pub) gets Connected as soon as it has accepted the connection. A client (Req, Sub)
// gets it when the other side has greeted it.
const (
	Connected    EventKind = iota + 1
	Disconnected           // a connection that was Connected has ended
	Refused                // the other side speaks another protocol, or closed at once
	Retrying               // a client will try again
)

// String names the kind for logs.
func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected"
	case Refused:
		return "refused"
	case Retrying:
		return "retrying"
	}
	return "event " + strconv.Itoa(int(k))
}

// Event is the argument of OnEvent, which must not block.
type Event struct {
	Kind EventKind
	Peer string // host:port of the other side; for a client its endpoint
	fd   int    // of the connection, for a server
}

// monitored are the libzmq events behind the kinds of Event.
const monitored = zmq4.EVENT_ACCEPTED | zmq4.EVENT_DISCONNECTED | zmq4.EVENT_CONNECT_RETRIED |
	zmq4.EVENT_HANDSHAKE_SUCCEEDED | zmq4.EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	zmq4.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq4.EVENT_HANDSHAKE_FAILED_AUTH

// crowded are the events that a crowd or a tally needs.
const crowded = zmq4.EVENT_ACCEPTED | zmq4.EVENT_ACCEPT_FAILED | zmq4.EVENT_DISCONNECTED | handshakes

// handshakes are the events that end a handshake. A peer with an older protocol version causes none of them: libzmq
// ends its connection earlier. These events do not name their connection. So a connection that ends is only known to
// have had no handshake if no handshake at all ended since it was accepted, and some refused connections go unnoticed.
const handshakes = zmq4.EVENT_HANDSHAKE_SUCCEEDED | zmq4.EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	zmq4.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq4.EVENT_HANDSHAKE_FAILED_AUTH

// monitor follows the connections of one socket in a goroutine of its own.
type monitor struct {
	sock   *socket
	server bool
	tell   func(Event)      // may be nil
	crowd  *crowd           // of a server with MaxPeers; may be nil
	tally  *tally           // of a server with a Guard; may be nil
	peers  map[int]accepted // by descriptor
	shaken uint64           // handshakes that ended, successful or not

	refused func(peer string) // may be nil
	online  map[string]bool
	cancel  context.CancelFunc
	done    chan struct{}
}

// accepted is a connection of a server: its peer, and how many handshakes had ended when it was accepted.
type accepted struct {
	peer   string
	shaken uint64
}

// newMonitor starts to watch a socket. The monitor must be stopped before the socket is closed.
func newMonitor(of *socket, server bool, tell func(Event)) (*monitor, error) {
	c, raw := of.ctx, of.raw
	addr := fmt.Sprintf("inproc://monitor-%d", c.monitors.Add(1))
	events := zmq4.Event(monitored)
	if tell == nil {
		events, tell = 0, func(Event) {}
	}
	if of.crowd != nil || of.tally != nil || of.refused != nil {
		events |= crowded
	}
	if err := raw.Monitor(addr, events); err != nil {
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	sock := newSocket(c)
	err := sock.open(zmq4.PAIR, func(s *setup) error {
		s.set("linger", s.raw.SetLinger(0))
		return s.connect(addr, 0)
	}, nil)
	if err != nil {
		return nil, errors.Join(err, raw.Monitor("", 0))
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &monitor{
		sock: sock, server: server, tell: tell, crowd: of.crowd, tally: of.tally, refused: of.refused, cancel: cancel,
		done: make(chan struct{}), peers: map[int]accepted{}, online: map[string]bool{},
	}
	go func() {
		defer close(m.done)
		_ = sock.serve(ctx, m.onFrames) // ends only by stop
	}()
	return m, nil
}

// stop ends the watching. libzmq blocks in the middle of an event if nobody reads it, so the source is stopped before
// the reader.
func (m *monitor) stop(raw *zmq4.Socket) error {
	err := raw.Monitor("", 0)
	m.cancel()
	<-m.done
	if err != nil {
		return fmt.Errorf("stop watching connections: %w", err)
	}
	return nil
}

// onFrames takes one event: its number (2 bytes) and value (4 bytes) in the machine's byte order, then the endpoint.
func (m *monitor) onFrames(frames [][]byte) {
	if len(frames) != 2 || len(frames[0]) < 6 {
		return
	}
	kind := zmq4.Event(binary.NativeEndian.Uint16(frames[0]))
	value := int(int32(binary.NativeEndian.Uint32(frames[0][2:])))
	m.handle(kind, value, string(frames[1]))
}

func (m *monitor) handle(kind zmq4.Event, value int, endpoint string) {
	switch kind {
	case zmq4.EVENT_ACCEPTED:
		peer := peerOf(value)
		m.peers[value] = accepted{peer, m.shaken}
		m.tally.accepted(value, peer)
		m.tell(Event{Connected, peer, value})
		if m.crowd != nil {
			m.crowd.accepted(value, peer)
		}
	case zmq4.EVENT_ACCEPT_FAILED:
		if m.crowd != nil {
			m.crowd.failed()
		}
	case zmq4.EVENT_HANDSHAKE_SUCCEEDED:
		m.shaken++
		if !m.server { // for a server, EVENT_ACCEPTED was the event
			m.online[endpoint] = true
			m.tell(Event{Kind: Connected, Peer: endpoint})
		}
	case zmq4.EVENT_DISCONNECTED:
		m.onDisconnected(value, endpoint)
	case zmq4.EVENT_CONNECT_RETRIED:
		m.tell(Event{Kind: Retrying, Peer: endpoint})
	default:
		m.shaken++
		m.tell(Event{Kind: Refused, Peer: endpoint})
	}
}

func (m *monitor) onDisconnected(fd int, endpoint string) {
	m.tally.gone(fd)
	if m.crowd != nil {
		m.crowd.gone(fd)
	}
	peer, known := m.peers[fd]
	switch {
	case known:
		delete(m.peers, fd)
		if peer.shaken == m.shaken && m.refused != nil {
			m.refused(peer.peer)
		}
		m.tell(Event{Disconnected, peer.peer, fd})
	case m.online[endpoint]:
		delete(m.online, endpoint)
		m.tell(Event{Kind: Disconnected, Peer: endpoint})
	}
}

// peerOf is the address of the other side of an accepted connection; "" if the connection has ended.
func peerOf(fd int) string {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return ""
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return net.JoinHostPort(net.IP(a.Addr[:]).String(), strconv.Itoa(a.Port))
	case *unix.SockaddrInet6:
		return net.JoinHostPort(net.IP(a.Addr[:]).String(), strconv.Itoa(a.Port))
	}
	return ""
}
