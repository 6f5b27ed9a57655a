// Package eventbus is the event bus of the master: the actor EventPublisher, and Bus, the way to it for the other
// parts. It owns the subscriptions and the bound on events that wait. It asks no other part; what minions may fire,
// package access decides. Answers to EventPublisher in salt/utils/event.py.
package eventbus

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"brine/actors/daemon"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"
)

// stampField is the time of an event.
const stampField = "_stamp"

// Bus is the way to the bus, for whoever in this process fires events or listens to them. Any number of goroutines
// may use it.
type Bus struct {
	Way     *daemon.Bus // to the EventPublisher
	maxSize int         // of one event in bytes (max_event_size)
	log     *slog.Logger
}

// Times that a sender waits for room.
const (
	ownPatience  = 2 * time.Second // the master's own events: then they are sent all the same, for none may be lost
	toolPatience = time.Hour       // a local tool that fires events: it can wait
)

// Options are what may wait on the way to the bus.
type Options struct {
	Most    int   // events (event_bus_max)
	Bytes   int64 // of them (event_bus_max_bytes)
	MaxSize int   // of one event in bytes (max_event_size)
}

// New makes the way to a bus on which so much may wait.
func New(opt Options, log *slog.Logger) *Bus {
	room := daemon.NewBound(daemon.BoundOptions{What: "events for the bus", Most: opt.Most, MostBytes: opt.Bytes,
		Log: log})
	return &Bus{Way: daemon.NewBus(room), maxSize: opt.MaxSize, log: log}
}

// Child is the EventPublisher as a child of the master, under the name by which others look it up.
func (e *Bus) Child(name string, opt PublisherOptions) supervisor.Spec {
	subs := &bus.Subscribers{} // they outlive the actor
	return supervisor.Spec{Name: name, Component: true, Ref: e.Way.Ref(), New: func() supervisor.Actor {
		return &eventPublisher{opt: opt, subs: subs, room: e.Way.Room()}
	}}
}

// Fire packs an event here, in the goroutine of whoever fires it, and hands it to the bus. data is not kept. Events of
// minions go through access.Admission instead.
func (e *Bus) Fire(tag string, data *payload.Map) {
	if body := e.Pack(tag, data); body != nil {
		e.Put(body)
	}
}

// Pack packs an event; nil when that cannot be. The time of an event is that of the master: a stamp that came with the
// data is replaced.
func (e *Bus) Pack(tag string, data *payload.Map) []byte {
	if data.Has(stampField) {
		data = data.Clone().Set(stampField, event.Stamp(time.Now()))
	}
	body, err := event.Pack(tag, data, e.maxSize)
	if err != nil {
		e.log.Error("event cannot be packed", "tag", tag, "err", err)
		return nil
	}
	return body
}

// Put hands a packed event to the bus. When too many wait, its sender waits, so that whoever fires too many is held up
// by that: a worker, and with it the requests behind it. No event of the master is left out.
func (e *Bus) Put(body []byte) {
	waitFor(context.Background(), e.Way.Room(), ownPatience)
	e.PutNow(body)
}

// Offer puts an event on the bus as soon as there is room, which a sender outside of the actors can wait for.
func (e *Bus) Offer(ctx context.Context, tag string, data *payload.Map) error {
	body := e.Pack(tag, data)
	if body == nil {
		return errors.New("it cannot be packed")
	}
	if !waitFor(ctx, e.Way.Room(), toolPatience) {
		return errors.Join(errors.New("too much waits for the bus"), context.Cause(ctx))
	}
	e.PutNow(body)
	return nil
}

// waitFor waits until there is room; false when that takes longer than patience, or ctx has ended.
func waitFor(ctx context.Context, room *daemon.Bound, patience time.Duration) bool {
	if room.Has() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return room.Wait(ctx)
}

// PutNow is put for those who must not wait.
func (e *Bus) PutNow(body []byte) {
	e.Way.Put(body)
}

// Heard waits until the bus has sent out what was fired so far; false when ctx ended before.
func (e *Bus) Heard(ctx context.Context) bool {
	done := make(chan struct{})
	e.Way.Ref().Send(&EventsHeard{Done: sync.OnceFunc(func() { close(done) })})
	select {
	case <-done:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
