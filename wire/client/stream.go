package client

import (
	"context"
	"sync"
)

// stream keeps the wanted event bodies until its reader takes them, however long the reader is busy. All streams of a
// client share one subscription, because a batch has hundreds of streams.
type stream struct {
	hub  *hub
	more chan struct{} // holds one token while bodies are waiting

	mu    sync.Mutex
	want  func(tag string) bool
	queue [][]byte
}

// listen joins the bus. Another goroutine calls want for every tag.
func (c *Client) listen(ctx context.Context, want func(tag string) bool) (*stream, error) {
	s := &stream{want: want, more: make(chan struct{}, 1)}
	c.hubs.Lock()
	defer c.hubs.Unlock()
	if c.hub != nil && c.hub.add(s) {
		return s, nil
	}
	h, err := c.newHub(ctx)
	if err != nil {
		return nil, err
	}
	c.hub = h
	h.add(s)
	return s, nil
}

// close leaves the bus. The last stream waits for the end of the subscription.
func (s *stream) close() { s.hub.remove(s) }

// narrow changes which events are kept from then on.
func (s *stream) narrow(want func(tag string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = want
}

// take returns the bodies that have arrived since the last call.
func (s *stream) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
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
