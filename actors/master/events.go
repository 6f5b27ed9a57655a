package master

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

// stampField is the time of an event.
const stampField = "_stamp"

// events is the way to the bus, for whoever in this process fires events or listens to them. Any number of goroutines
// may use it.
type events struct {
	ref     *supervisor.Ref // EventPublisher; set when that has started
	room    *room           // of its mailbox
	maxSize int             // of one event in bytes (max_event_size)
	streams atomic.Uint64   // subscriptions so far
	log     *slog.Logger
}

// newEvents makes the way to a bus on which so much may wait.
func newEvents(room *room, maxSize int, log *slog.Logger) *events {
	return &events{room: room, maxSize: maxSize, log: log}
}

// fire packs an event here, in the goroutine of whoever fires it, and hands it to the bus. data is not kept. What
// minions say goes by the gate instead.
func (e *events) fire(tag string, data *payload.Map) {
	if body := e.pack(tag, data); body != nil {
		e.put(body)
	}
}

// pack packs an event; nil when that cannot be. The time of an event is that of the master: a stamp that came with the
// data is replaced.
func (e *events) pack(tag string, data *payload.Map) []byte {
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

// put hands a packed event to the bus. When too many wait, its sender waits, so that whoever fires too many is held up
// by that: a worker, and with it the requests behind it. No event of the master is left out.
func (e *events) put(body []byte) {
	e.room.wait(context.Background(), ownPatience)
	e.putNow(body)
}

// putNow is put for those who must not wait.
func (e *events) putNow(body []byte) {
	e.room.enter(len(body))
	e.ref.Send(&FireEvent{Body: body, room: e.room})
}

// heard waits until the bus has sent out what was fired so far; false when ctx ended before.
func (e *events) heard(ctx context.Context) bool {
	done := make(chan struct{})
	e.ref.Send(&EventsHeard{Done: sync.OnceFunc(func() { close(done) })})
	select {
	case <-done:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// streamName is a name for another subscription.
func (e *events) streamName(what string) string {
	return what + "-" + strconv.FormatUint(e.streams.Add(1), 10)
}
