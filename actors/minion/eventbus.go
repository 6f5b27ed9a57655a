package minion

import (
	"context"
	"fmt"

	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the EventBus.
type (
	// FireEvent puts one packed event on the minion's bus.
	FireEvent struct{ Body []byte }
	// Subscribe asks for all events from now on, within this process; Done is closed when it stands.
	Subscribe struct {
		Name string
		Sink bus.Sink
		Done chan<- struct{}
	}
	// Unsubscribe ends a subscription.
	Unsubscribe struct{ Name string }
)

// eventBus is the minion's bus: job processes and local tools ask the minion for things by events.
type eventBus struct {
	open   func(*bus.Subscribers) *bus.Bus
	subs   *bus.Subscribers // outlives the actor
	handle map[string]func(data *payload.Map)
	bus    *bus.Bus
}

func (b *eventBus) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		b.onStarted(ctx)
	case *FireEvent:
		b.onFireEvent(ctx, m.Body)
	case *Subscribe:
		b.onSubscribe(m)
	case *Unsubscribe:
		b.subs.Remove(m.Name)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (b *eventBus) onStarted(ctx actor.Context) {
	b.bus = b.open(b.subs)
	if err := b.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event bus: %w", err))
	}
	self, own := supervisor.Self(ctx), b.bus
	supervisor.Go(ctx, "event pub socket", own.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return own.ServePull(ctx, func(body []byte) { self.Send(&FireEvent{Body: body}) })
	})
}

// onFireEvent shows an event to everybody and does what it asks of the minion.
func (b *eventBus) onFireEvent(ctx actor.Context, body []byte) {
	b.bus.Publish(body)
	handle := b.handle[event.Tag(body)]
	if handle == nil {
		return
	}
	_, data, err := event.Unpack(body)
	if err != nil {
		supervisor.Failed(ctx)
		return
	}
	handle(data)
}

func (b *eventBus) onSubscribe(m *Subscribe) {
	b.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}

// busHandlers are the events the minion acts on (salt/minion.py, Minion.handle_event).
func (m *Minion) busHandlers() map[string]func(*payload.Map) {
	return map[string]func(*payload.Map){
		event.TagModuleRefresh: func(*payload.Map) { m.refresher.Send(&RefreshGrains{}) },
		event.TagGrainsRefresh: func(*payload.Map) {
			m.refresher.Send(&RefreshGrains{Done: func() { m.refresher.Send(&RefreshPillar{}) }})
		},
		event.TagPillarRefresh: func(data *payload.Map) {
			m.refresher.Send(&RefreshPillar{Done: func(err error) {
				m.fire(event.TagMinionComplete("pillar_refresh"), payload.M("complete", err == nil))
			}})
		},
		event.TagMine:       func(data *payload.Map) { m.forward(data) },
		event.TagFireMaster: func(data *payload.Map) { m.fireMaster(data) },
	}
}

// forward sends a whole load that a local tool made.
func (m *Minion) forward(load *payload.Map) {
	load = load.Clone()
	load.Delete("_stamp")
	for _, l := range m.links {
		l.sender.Send(&SendRequest{Load: load, Timeout: l.returnTimeout(), Tries: m.cfg.ReturnRetryTries, Done: m.logFailure(load.Str("cmd"))})
	}
}

// fireMaster sends {data, tag, events, pretag} as a minion event.
func (m *Minion) fireMaster(data *payload.Map) {
	load := payload.M("id", m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", data.Value("pretag"))
	if events, ok := data.Get("events"); ok && events != nil {
		load.Set("events", events)
	} else {
		load.Set("tag", data.Value("tag")).Set("data", data.Value("data"))
	}
	m.forward(load)
}

func (m *Minion) logFailure(what string) func(any, error) {
	return func(_ any, err error) {
		if err != nil {
			m.log.Error("request to the master failed", "cmd", what, "err", err)
		}
	}
}

// fire packs an event and puts it on the minion's bus; false when it cannot be.
func (m *Minion) fire(tag string, data *payload.Map) bool {
	body, err := event.Pack(tag, data, m.cfg.MaxEventSize)
	if err != nil {
		m.log.Error("event cannot be packed", "tag", tag, "err", err)
		return false
	}
	return m.bus.Send(&FireEvent{Body: body})
}
