package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"brine/wire/event"
)

// Pauses between attempts to find the bus again after the master has gone.
const (
	rejoinFirst = 50 * time.Millisecond
	rejoinMost  = time.Second
)

// stream is a subscription that keeps the bodies somebody wants until they are taken, however long the reader
// is busy. A bus that goes away (the master restarts) is joined again.
type stream struct {
	c      *Client
	cancel context.CancelFunc
	done   chan struct{}
	more   chan struct{} // holds a token when there is something to take

	mu    sync.Mutex
	want  func(tag string) bool
	queue [][]byte
}

// listen joins the bus. want is asked for every tag, from another goroutine.
func (c *Client) listen(ctx context.Context, want func(tag string) bool) (*stream, error) {
	events, err := c.opt.Bus.Subscribe(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	pumpCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &stream{c: c, cancel: cancel, want: want, done: make(chan struct{}), more: make(chan struct{}, 1)}
	go func() {
		defer close(s.done)
		s.pump(pumpCtx, events)
	}()
	return s, nil
}

// close leaves the bus and waits for the goroutine.
func (s *stream) close() {
	s.cancel()
	<-s.done
}

// narrow changes what is kept from now on.
func (s *stream) narrow(want func(tag string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = want
}

// take returns the bodies that have come since.
func (s *stream) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

func (s *stream) pump(ctx context.Context, events Events) {
	for events != nil {
		err := s.read(ctx, events)
		_ = events.Close() // what it says does not matter any more
		if ctx.Err() != nil {
			return
		}
		s.c.log.Warn("event bus lost, joining it again", "err", err)
		events = s.rejoin(ctx)
	}
}

func (s *stream) read(ctx context.Context, events Events) error {
	for {
		body, err := events.Next(ctx)
		if err != nil {
			return err
		}
		s.put(event.Tag(body), body)
	}
}

func (s *stream) put(tag string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.want(tag) {
		return
	}
	s.queue = append(s.queue, body)
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// rejoin tries until the bus is back; nil when ctx ended.
func (s *stream) rejoin(ctx context.Context) Events {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := rejoinFirst; ; pause = min(2*pause, rejoinMost) {
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if events, err := s.c.opt.Bus.Subscribe(ctx); err == nil {
			return events
		}
	}
}
