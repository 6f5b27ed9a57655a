package master

import (
	"context"
	"fmt"
	"path/filepath"

	"brine/modules/keys"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"

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

// busOptions are what the EventPublisher needs of the master.
type busOptions struct {
	open func() *bus.Bus
	subs *bus.Subscribers // outlive the actor
	// onKeys is told that somebody outside says that keys have changed.
	onKeys func()
}

// eventPublisher is the event bus: what anybody fires goes to every subscriber, in order.
type eventPublisher struct {
	opt busOptions
	bus *bus.Bus
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
		p.opt.subs.Remove(m.Name)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *eventPublisher) onStarted(ctx actor.Context) {
	p.bus = p.opt.open()
	if err := p.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event publisher: %w", err))
	}
	self, b, onKeys := supervisor.Self(ctx), p.bus, p.opt.onKeys
	supervisor.Go(ctx, "event pub socket", b.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return b.ServePull(ctx, func(body []byte) {
			self.Send(&FireEvent{Body: body})
			if event.Tag(body) == keys.EventTag {
				onKeys()
			}
		})
	})
}

func (p *eventPublisher) onSubscribe(m *Subscribe) {
	p.opt.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}

// busOptions are those of the configuration.
func (c *core) busOptions(subs *bus.Subscribers) busOptions {
	cfg := c.cfg
	framing := ipc.FramingPlain
	if cfg.IPCFraming == "length" {
		framing = ipc.FramingLength
	}
	sock := func(name string) string { return filepath.Join(cfg.SockDir, name) }
	return busOptions{
		open: func() *bus.Bus {
			return bus.New(
				ipc.PubOptions{Path: sock(event.MasterPubSocket), Mode: 0o660, Framing: framing, Queue: cfg.EventQueueMax, Logger: c.log},
				ipc.PullOptions{Path: sock(event.MasterPullSocket), Mode: 0o600, Logger: c.log}, subs)
		},
		subs: subs,
		onKeys: func() {
			if ref, ok := c.top.Lookup(nameMaintenance); ok {
				ref.Send(&CheckKeys{})
			}
		},
	}
}
