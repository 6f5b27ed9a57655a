package zmq

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/pebbe/zmq4"
)

// EventKind says what happened to a connection.
type EventKind int

// Kinds of events. A connection counts as Connected when both sides have introduced themselves.
const (
	Connected    EventKind = iota + 1
	Disconnected           // a connection that was Connected has ended
	Refused                // the other side speaks something else, or closed at once
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

// Event is told to OnEvent, which must not block.
type Event struct {
	Kind EventKind
	Peer string // host:port of the other side; at a client (Req, Sub) its endpoint
}

// monitored are the libzmq events behind the kinds.
const monitored = zmq4.EVENT_DISCONNECTED | zmq4.EVENT_CONNECT_RETRIED |
	zmq4.EVENT_HANDSHAKE_SUCCEEDED | zmq4.EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	zmq4.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq4.EVENT_HANDSHAKE_FAILED_AUTH

// monitor follows the connection of one client socket in a goroutine of its own.
type monitor struct {
	sock   *socket
	tell   func(Event)
	online map[string]bool // endpoints that are connected
	cancel context.CancelFunc
	done   chan struct{}
}

// newMonitor starts to watch raw. It must be stopped before raw is closed.
func newMonitor(c *Context, raw *zmq4.Socket, tell func(Event)) (*monitor, error) {
	addr := fmt.Sprintf("inproc://monitor-%d", c.monitors.Add(1))
	if err := raw.Monitor(addr, monitored); err != nil {
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	sock := newSocket(c)
	err := sock.open(zmq4.PAIR, func(s *setup) error {
		s.set("linger", s.raw.SetLinger(0))
		return s.connect(addr)
	}, nil)
	if err != nil {
		return nil, errors.Join(err, raw.Monitor("", 0))
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &monitor{
		sock: sock, tell: tell, cancel: cancel, done: make(chan struct{}), online: map[string]bool{},
	}
	go func() {
		defer close(m.done)
		_ = sock.serve(ctx, m.onFrames) // ends by stop only
	}()
	return m, nil
}

// stop ends the watching. libzmq waits in the middle of an event when nobody reads, so the source is
// stopped before the reader.
func (m *monitor) stop(raw *zmq4.Socket) error {
	err := raw.Monitor("", 0)
	m.cancel()
	<-m.done
	if err != nil {
		return fmt.Errorf("stop watching connections: %w", err)
	}
	return nil
}

// onFrames takes one event: number (2 bytes, in the machine's order) and value (4 bytes), then the endpoint.
func (m *monitor) onFrames(frames [][]byte) {
	if len(frames) == 2 && len(frames[0]) == 6 {
		m.handle(zmq4.Event(binary.NativeEndian.Uint16(frames[0])), string(frames[1]))
	}
}

func (m *monitor) handle(kind zmq4.Event, endpoint string) {
	switch kind {
	case zmq4.EVENT_HANDSHAKE_SUCCEEDED:
		m.online[endpoint] = true
		m.tell(Event{Connected, endpoint})
	case zmq4.EVENT_DISCONNECTED:
		if m.online[endpoint] {
			delete(m.online, endpoint)
			m.tell(Event{Disconnected, endpoint})
		}
	case zmq4.EVENT_CONNECT_RETRIED:
		m.tell(Event{Retrying, endpoint})
	default:
		m.tell(Event{Refused, endpoint})
	}
}
