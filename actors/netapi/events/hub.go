package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"brine/modules/netapi/feed"
	"brine/modules/netapi/websocket"
	"brine/supervisor"
)

// Name is the name of the actor.
const Name = "EventHub"

// Source is a subscription to the bus, as wire/client makes it.
type Source interface {
	Next(ctx context.Context) ([]byte, error)
	Close() error
}

// Options configure a Hub.
type Options struct {
	Subscribe func(ctx context.Context) (Source, error) // connects to the master's bus
	Limits    feed.Limits
	Log       *slog.Logger
}

// Hub gives other code access to the EventHub. All its methods are safe for concurrent use.
type Hub struct {
	opt  Options
	ring *feed.Ring
	ref  atomic.Pointer[supervisor.Ref] // nil before the first start
	subs atomic.Int64                   // number of subscriptions to the bus so far, over all incarnations
	cuts cuts

	rooms   sync.Pool // holds *[]byte, buffers for writing
	sockets *websocket.Server
}

// New makes a Hub. The caller must start its actor, see Spec.
func New(opt Options) *Hub {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{opt: opt, ring: feed.NewRing(opt.Limits), sockets: websocket.NewServer()}
}

// Spec is the spec of the actor, a child of the root of salt-api.
func (h *Hub) Spec() supervisor.Spec {
	return supervisor.Spec{Name: Name, Component: true, Intake: true, New: func() supervisor.Actor {
		return &eventHub{hub: h}
	}}
}

// Open gives a reader a position after the last event. It connects to the bus if necessary. The reader counts
// under the address from. Errors: ErrFull, ErrNoBus, ErrStopped, or the context's.
func (h *Hub) Open(ctx context.Context, from string) (*feed.Stream, error) {
	ref := h.ref.Load()
	if ref == nil {
		return nil, feed.ErrStopped
	}
	s, err := h.ring.Admit(from)
	if err != nil {
		return nil, err
	}
	joined, err := supervisor.Ask(ctx, ref, func(reply chan<- error) any { return &JoinBus{Reply: reply} })
	if err = errors.Join(err, joined); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Readers lists the names of the readers, oldest first.
func (h *Hub) Readers() []string {
	list := h.ring.Readers()
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name()
	}
	return names
}

// subscribe connects to the bus.
func (h *Hub) subscribe(ctx context.Context) (Source, error) {
	source, err := h.opt.Subscribe(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", feed.ErrNoBus, err)
	}
	return source, nil
}
