package events

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"brine/actors/daemon"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"
)

// busHandler is what the minion does about events whose tags begin with prefix. The EventBus runs it in its handler; it
// must not block.
type busHandler struct {
	prefix string
	handle func(tag string, data *payload.Map)
}

// Options are what the bus needs of the minion.
type Options struct {
	ID        string // of this minion
	Open      func(*bus.Subscribers) *bus.Bus
	Room      *daemon.Bound // of events that wait
	MaxEvent  int           // max_event_size in bytes
	Refresher *supervisor.Ref
	Manage    func(data *payload.Map) // hands a request to the Scheduler
	Links     []*link.Link
	Times     *link.LatestTimes
	Log       *slog.Logger
}

// Events is the way to the bus of a minion. Any number of goroutines may use it.
type Events struct {
	*daemon.Bus
	opt  Options
	subs *bus.Subscribers // outlive the actor
}

// New makes the part.
func New(opt Options) *Events {
	return &Events{Bus: daemon.NewBus(opt.Room), opt: opt, subs: &bus.Subscribers{}}
}

// Child is the EventBus as a child.
func (m *Events) Child() daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: m.Ref(), Name: "EventBus", Component: true,
		New: func() supervisor.Actor {
			return &eventBus{open: m.opt.Open, subs: m.subs, handlers: m.busHandlers(), room: m.opt.Room}
		}}}
}

// eventBus is the minion's bus: functions and local tools ask the minion for things by events.
type eventBus struct {
	open     func(*bus.Subscribers) *bus.Bus
	subs     *bus.Subscribers // outlives the actor
	handlers []busHandler
	room     *daemon.Bound
	bus      *bus.Bus
}

func (b *eventBus) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		b.onStarted(ctx)
	case *daemon.FireEvent:
		m.Leave()
		b.onFireEvent(ctx, m.Body)
	case *daemon.Subscribe:
		b.onSubscribe(m)
	case *daemon.Unsubscribe:
		b.subs.Remove(m.Name)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (b *eventBus) onStarted(ctx supervisor.Context) {
	b.bus = b.open(b.subs)
	if err := b.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event bus: %w", err))
	}
	self, own, room, log := supervisor.Self(ctx), b.bus, b.room, ctx.Logger()
	supervisor.Go(ctx, "event pub socket", own.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return own.ServePull(ctx, func(body []byte) {
			if err := event.CheckTag(event.Tag(body)); err != nil {
				log.Warn("an event of a tool is refused", "err", err)
				return
			}
			room.Wait(ctx)
			m := &daemon.FireEvent{Body: body}
			m.Enter(room, len(body))
			self.Send(m)
		})
	})
}

// onFireEvent shows an event to everybody and does what it asks of the minion.
func (b *eventBus) onFireEvent(ctx supervisor.Context, body []byte) {
	b.bus.Publish(body)
	tag := event.Tag(body)
	for _, h := range b.handlers {
		if !strings.HasPrefix(tag, h.prefix) {
			continue
		}
		_, data, err := event.Unpack(body)
		if err != nil {
			supervisor.Failed(ctx)
			return
		}
		h.handle(tag, data)
		return
	}
}

func (b *eventBus) onSubscribe(m *daemon.Subscribe) {
	b.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}
