package master

import (
	"context"
	"errors"

	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

// subscribe opens a stream of all events from now on.
func (e *events) subscribe(ctx context.Context) (*eventStream, error) {
	s := &eventStream{bus: e.ref, name: e.streamName("stream"), bodies: make(chan []byte, streamRoom),
		ended: make(chan struct{})}
	stands := make(chan struct{})
	e.ref.Send(&Subscribe{Name: s.name, Done: stands, Sink: s.put})
	select {
	case <-stands:
		return s, nil
	case <-ctx.Done():
		_ = s.Close() // nobody waits for it
		return nil, context.Cause(ctx)
	}
}

// streamRoom is how many events wait for a reader in this process before the oldest are dropped.
const streamRoom = 4096

// eventStream is a subscription that is read from a goroutine.
type eventStream struct {
	bus    *supervisor.Ref
	name   string
	bodies chan []byte
	ended  chan struct{}
}

// put is the sink: it never blocks.
func (s *eventStream) put(_ string, body []byte) {
	for {
		select {
		case s.bodies <- body:
			return
		default:
		}
		select {
		case <-s.bodies:
		default:
		}
	}
}

var errStreamClosed = errors.New("event stream is closed")

func (s *eventStream) body(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.bodies:
		return b, nil
	case <-s.ended:
		return nil, errStreamClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Next returns the next event.
func (s *eventStream) Next(ctx context.Context) (string, *payload.Map, error) {
	for {
		body, err := s.body(ctx)
		if err != nil {
			return "", nil, err
		}
		if tag, data, err := event.Unpack(body); err == nil { // what others push may be no event
			return tag, data, nil
		}
	}
}

// Close ends the subscription.
func (s *eventStream) Close() error {
	s.bus.Send(&Unsubscribe{Name: s.name})
	select {
	case <-s.ended:
	default:
		close(s.ended)
	}
	return nil
}
