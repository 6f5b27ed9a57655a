package eventbus

import (
	"context"
	"errors"

	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"
)

// Subscribe opens a stream of all events from now on.
func (e *Bus) Subscribe(ctx context.Context) (*Stream, error) {
	s := &Stream{bodies: make(chan []byte, streamRoom), ended: make(chan struct{})}
	var err error
	if s.stop, err = e.Way.Listen(ctx, "stream", s.put); err != nil {
		return nil, err
	}
	return s, nil
}

// Listen subscribes sink, which must not block, to all events until stop is called.
func (e *Bus) Listen(ctx context.Context, what string, sink bus.Sink) (stop func(), err error) {
	return e.Way.Listen(ctx, what, sink)
}

// Hear subscribes sink, which must not block, under a name for as long as the bus lives.
func (e *Bus) Hear(name string, sink bus.Sink) { e.Way.Subscribe(name, sink) }

// streamRoom is how many events wait for a reader in this process before the oldest are dropped.
const streamRoom = 4096

// Stream is a subscription that is read from a goroutine.
type Stream struct {
	stop   func()
	bodies chan []byte
	ended  chan struct{}
}

// put is the sink: it never blocks.
func (s *Stream) put(_ string, body []byte) {
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

// Body returns the next event as it is packed.
func (s *Stream) Body(ctx context.Context) ([]byte, error) {
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
func (s *Stream) Next(ctx context.Context) (string, *payload.Map, error) {
	for {
		body, err := s.Body(ctx)
		if err != nil {
			return "", nil, err
		}
		if tag, data, err := event.Unpack(body); err == nil { // what others push may be no event
			return tag, data, nil
		}
	}
}

// Close ends the subscription.
func (s *Stream) Close() error {
	s.stop()
	select {
	case <-s.ended:
	default:
		close(s.ended)
	}
	return nil
}
