package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"brine/wire/event"
)

// Pauses between attempts to join the bus again after the master has gone.
const (
	rejoinFirst = 50 * time.Millisecond
	rejoinMost  = time.Second
)

// hub is one subscription to the bus for all streams of a client. It ends with the last stream. If the bus goes away,
// for example because the master restarts, the hub joins it again.
type hub struct {
	c      *Client
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	streams map[*stream]bool
	lost    bool // the bus has gone away: a new stream makes a new hub, or gets an error
}

// newHub joins the bus.
func (c *Client) newHub(ctx context.Context) (*hub, error) {
	events, err := c.opt.Bus.Subscribe(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	pumpCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h := &hub{c: c, cancel: cancel, done: make(chan struct{}), streams: map[*stream]bool{}}
	go func() {
		defer close(h.done)
		h.pump(pumpCtx, events)
	}()
	return h, nil
}

// add adds a stream. It returns false if the hub has ended or has lost the bus.
func (h *hub) add(s *stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams == nil || h.lost && len(h.streams) > 0 {
		return false
	}
	s.hub = h
	h.streams[s] = true
	return true
}

// remove removes a stream. With the last one the hub ends.
func (h *hub) remove(s *stream) {
	h.mu.Lock()
	delete(h.streams, s)
	last := len(h.streams) == 0
	if last {
		h.streams = nil
	}
	h.mu.Unlock()
	if last {
		h.cancel()
		<-h.done
	}
}

func (h *hub) pump(ctx context.Context, events Events) {
	for events != nil {
		err := h.read(ctx, events)
		_ = events.Close() // its error no longer matters
		if ctx.Err() != nil {
			return
		}
		h.setLost(true)
		h.c.log.Warn("event bus lost, joining it again", "err", err)
		events = h.rejoin(ctx)
		h.setLost(false)
	}
}

func (h *hub) setLost(lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = lost
}

func (h *hub) read(ctx context.Context, events Events) error {
	for {
		body, err := events.Next(ctx)
		if err != nil {
			return err
		}
		h.put(event.Tag(body), body)
	}
}

func (h *hub) put(tag string, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams {
		s.put(tag, body)
	}
}

// rejoin tries until the bus is back; nil if ctx ended.
func (h *hub) rejoin(ctx context.Context) Events {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := rejoinFirst; ; pause = min(2*pause, rejoinMost) {
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if events, err := h.c.opt.Bus.Subscribe(ctx); err == nil {
			return events
		}
	}
}
