package feed

import (
	"context"
	"sync/atomic"
	"time"
)

// batch is how many events a reader takes at once.
const batch = 64

// Stream is the place of one reader in the stream of events. It is read from one goroutine.
type Stream struct {
	ring  *Ring
	from  string
	since time.Time
	name  atomic.Pointer[string]
	next  uint64
	room  []*Event
	left  atomic.Bool
}

// Next waits for events and returns those that there are, up to some dozens; they hold until the next call. None and no
// error means that there was something else to look at: time has passed, or the bus has come or gone. Errors: ErrSlow,
// ErrStopped, or the context's.
func (s *Stream) Next(ctx context.Context) ([]*Event, error) {
	clear(s.room)
	got, wake, err := s.ring.read(s.next, s.room[:0], batch)
	if len(got) == 0 && err == nil {
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		got, _, err = s.ring.read(s.next, s.room[:0], batch)
	}
	if err != nil {
		return nil, err
	}
	s.next += uint64(len(got))
	s.room = got
	return got, nil
}

// Skip goes behind the last event: what came before is not read.
func (s *Stream) Skip() {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	s.next = s.ring.first + uint64(len(s.ring.events))
}

// Up tells whether the bus of the master is there just now.
func (s *Stream) Up() bool {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	return s.ring.up
}

// Since is when the stream was opened.
func (s *Stream) Since() time.Time { return s.since }

// SetName says whose the stream is, for logs and for the list of readers.
func (s *Stream) SetName(name string) { s.name.Store(&name) }

// Name is whose the stream is: what SetName said, else the address.
func (s *Stream) Name() string {
	if p := s.name.Load(); p != nil {
		return *p
	}
	return s.from
}

// Close gives the place back. It may be called more than once.
func (s *Stream) Close() {
	if !s.left.Swap(true) {
		s.ring.leave(s)
	}
}
