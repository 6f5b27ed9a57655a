package master

import (
	"context"
	"fmt"

	"brine/supervisor"
	"brine/wire/bus"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the EventPublisher.
type (
	// FireEvent puts one packed event on the bus.
	FireEvent struct{ Body []byte }
	// Subscribe asks for all events from now on, within this process. Sink gets the packed bodies in order;
	// it must not block and runs in the actor.
	Subscribe struct {
		Name string
		Sink bus.Sink
		Done chan<- struct{} // closed when the subscription stands; may be nil
	}
	// Unsubscribe ends a subscription.
	Unsubscribe struct{ Name string }
)

// eventPublisher is the event bus: what anybody fires goes to every subscriber, in order.
type eventPublisher struct {
	open func(*bus.Subscribers) *bus.Bus
	subs *bus.Subscribers // outlives the actor
	bus  *bus.Bus
}

func (p *eventPublisher) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		p.onStarted(ctx)
	case *FireEvent:
		p.bus.Publish(m.Body)
	case *Subscribe:
		p.onSubscribe(m)
	case *Unsubscribe:
		p.subs.Remove(m.Name)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *eventPublisher) onStarted(ctx actor.Context) {
	p.bus = p.open(p.subs)
	if err := p.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event publisher: %w", err))
	}
	self, b := supervisor.Self(ctx), p.bus
	supervisor.Go(ctx, "event pub socket", b.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return b.ServePull(ctx, func(body []byte) { self.Send(&FireEvent{Body: body}) })
	})
}

func (p *eventPublisher) onSubscribe(m *Subscribe) {
	p.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}
