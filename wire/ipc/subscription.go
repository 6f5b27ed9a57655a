package ipc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"brine/wire/event"
	"brine/wire/payload"
)

// ErrClosed means that the owner has closed a Subscription.
var ErrClosed = errors.New("ipc: closed")

// readAhead is how many events a Subscription holds before it stops reading.
const readAhead = 256

// Subscription reads all events of a pub socket from the time of its creation.
type Subscription struct {
	conn      net.Conn
	bodies    chan []byte
	done      chan struct{} // closed by Close
	ended     chan struct{} // closed when the reading goroutine has ended
	closed    atomic.Bool
	err       error // why reading ended; read after ended is closed
	malformed atomic.Uint64
}

// Subscribe connects to a pub socket. FramingDetect works with every release.
func Subscribe(ctx context.Context, addr string, f Framing) (*Subscription, error) {
	conn, err := Dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("subscribe to events: %w", err)
	}
	s := &Subscription{
		conn: conn, bodies: make(chan []byte, readAhead), done: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.read(NewReader(conn, f))
	return s, nil
}

func (s *Subscription) read(r *Reader) {
	defer close(s.ended)
	for {
		body, err := r.Next()
		if err != nil {
			s.err = fmt.Errorf("read events: %w", err)
			return
		}
		select {
		case s.bodies <- body:
		case <-s.done:
			s.err = ErrClosed
			return
		}
	}
}

// NextBody returns the body of the next event; event.Tag tells cheaply whether it is worth unpacking. If ctx ends, no
// event is lost: the next call gets it. After the bus has closed the connection, the error wraps io.EOF.
func (s *Subscription) NextBody(ctx context.Context) ([]byte, error) {
	select {
	case body := <-s.bodies: // an event that has arrived comes before the end of ctx
		return body, nil
	default:
	}
	select {
	case body := <-s.bodies:
		return body, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.ended:
	}
	select {
	case body := <-s.bodies:
		return body, nil
	default:
	}
	if s.closed.Load() {
		return nil, ErrClosed
	}
	return nil, s.err
}

// Next returns the next event. It skips and counts bodies that are not events.
func (s *Subscription) Next(ctx context.Context) (tag string, data *payload.Map, err error) {
	for {
		body, err := s.NextBody(ctx)
		if err != nil {
			return "", nil, err
		}
		if tag, data, err = event.Unpack(body); err == nil {
			return tag, data, nil
		}
		s.malformed.Add(1)
	}
}

// Malformed is the number of bodies that Next skipped.
func (s *Subscription) Malformed() uint64 { return s.malformed.Load() }

// Close ends the subscription and waits for its goroutine.
func (s *Subscription) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.done)
	err := s.conn.Close()
	<-s.ended
	return err
}
