package daemon

import (
	"context"
	"strconv"
	"sync/atomic"

	"brine/supervisor"
	"brine/wire/bus"
)

// Messages of the actor that owns the event bus of a daemon.
type (
	// FireEvent puts one packed event on the bus.
	FireEvent struct {
		Body []byte
		Place
	}
	// Subscribe asks for all events from now on, within this process. Sink gets the packed bodies in order; it must not
	// block and runs in the actor. Done is closed when the subscription stands; it may be nil.
	Subscribe struct {
		Name string
		Sink bus.Sink
		Done chan<- struct{}
	}
	// Unsubscribe ends a subscription.
	Unsubscribe struct{ Name string }
)

// Lost makes room.
func (m *FireEvent) Lost(error) { m.Leave() }

// Content is the packed event: whoever fires it again, it is the same (see supervisor.Content).
func (m *FireEvent) Content() []byte { return m.Body }

// Bus is the way to the event bus of a daemon, for all that fire events or listen to them in this process. Any number
// of goroutines may use it.
type Bus struct {
	ref     *supervisor.Ref
	room    *Bound
	streams atomic.Uint64 // subscriptions so far
}

// NewBus makes the way to a bus on which so much may wait; nil: any number.
func NewBus(room *Bound) *Bus { return &Bus{ref: supervisor.NewRef(), room: room} }

// Ref is that of the actor that owns the bus.
func (b *Bus) Ref() *supervisor.Ref { return b.ref }

// Room is the bound of what waits for the bus. A sender that can wait asks it before Put.
func (b *Bus) Room() *Bound { return b.room }

// Put hands a packed event to the bus, whether there is room or not.
func (b *Bus) Put(body []byte) bool {
	m := &FireEvent{Body: body}
	m.Enter(b.room, len(body))
	return b.ref.Send(m)
}

// Subscribe shows all events from now on to sink, under a name that the next subscription of it takes over.
func (b *Bus) Subscribe(name string, sink bus.Sink) { b.ref.Send(&Subscribe{Name: name, Sink: sink}) }

// Listen shows all events from now on to sink, and returns when that stands. stop ends it. The error is the cause of
// ctx.
func (b *Bus) Listen(ctx context.Context, what string, sink bus.Sink) (stop func(), err error) {
	name, stands := b.StreamName(what), make(chan struct{})
	stop = func() { b.ref.Send(&Unsubscribe{Name: name}) }
	b.ref.Send(&Subscribe{Name: name, Sink: sink, Done: stands})
	select {
	case <-stands:
		return stop, nil
	case <-ctx.Done():
		stop()
		return nil, context.Cause(ctx)
	}
}

// StreamName is a name for another subscription.
func (b *Bus) StreamName(what string) string {
	return what + "-" + strconv.FormatUint(b.streams.Add(1), 10)
}
