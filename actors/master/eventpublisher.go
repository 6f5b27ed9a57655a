package master

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
)

// Messages of the EventPublisher.
type (
	// FireEvent puts one packed event on the bus.
	FireEvent struct {
		Body []byte
		room *room // it counts in; nil: in none
		left atomic.Bool
	}
	// Subscribe asks for all events from now on, within this process. Sink gets the packed bodies in order;
	// it must not block and runs in the actor.
	Subscribe struct {
		Name string
		Sink bus.Sink
		Done chan<- struct{} // closed when the subscription stands; may be nil
	}
	// Unsubscribe ends a subscription.
	Unsubscribe struct{ Name string }
	// EventsHeard calls Done when all events that were fired before it have been sent out: for goroutines, which wait
	// for it. The EventPublisher calls it, or whoever finds that the message is lost; it must not block.
	EventsHeard struct{ Done func() }
	// nudge makes the tools that have just connected look at what they have got.
	nudge struct{ step int }
)

// Lost makes room.
func (m *FireEvent) Lost(error) { m.leave() }

func (m *FireEvent) leave() {
	if m.room != nil && !m.left.Swap(true) {
		m.room.leave(len(m.Body))
	}
}

// Lost ends the wait.
func (m *EventsHeard) Lost(error) { m.Done() }

// Salt 3007's tools stop seeing events that reach them before their first look at the bus, until another one
// comes. A real master is so slow that one always does. brine sends tools that connected within youth an empty
// event at each of nudgeAt after the last activity began; long-lived readers never see it.
const youth = 4 * time.Second

var nudgeAt = [...]time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 250 * time.Millisecond,
	500 * time.Millisecond}

// checksWaiting is how much waits for Maintenance before it need not be told once more to look at the keys.
const checksWaiting = 8

// busOptions are what the EventPublisher needs of the master.
type busOptions struct {
	open  func() *bus.Bus
	subs  *bus.Subscribers // outlive the actor
	young []byte           // the packed event for tools that have just connected; nil: none is sent
	// onKeys is told that somebody outside says that keys have changed.
	onKeys func()
	meter  *meter
	room   *room
}

// eventPublisher is the event bus: what anybody fires goes to every subscriber, in order.
type eventPublisher struct {
	opt     busOptions
	bus     *bus.Bus
	nudging bool // a nudge is on its way
}

func (p *eventPublisher) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		p.onStarted(ctx)
	case *FireEvent:
		p.onFireEvent(ctx, m)
	case *nudge:
		p.onNudge(ctx, m)
	case *Subscribe:
		p.onSubscribe(m)
	case *Unsubscribe:
		p.opt.subs.Remove(m.Name)
	case *EventsHeard:
		m.Done()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *eventPublisher) onStarted(ctx supervisor.Context) {
	p.bus = p.opt.open()
	p.opt.meter.opened(p.bus)
	if err := p.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event publisher: %w", err))
	}
	self, b, onKeys, room, log := supervisor.Self(ctx), p.bus, p.opt.onKeys, p.opt.room, ctx.Logger()
	supervisor.Go(ctx, "event pub socket", b.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return b.ServePull(ctx, func(body []byte) {
			if err := event.CheckTag(event.Tag(body)); err != nil {
				log.Warn("an event of a tool is refused", "err", err)
				return
			}
			room.wait(ctx, toolPatience)
			room.enter(len(body))
			self.Send(&FireEvent{Body: body, room: room})
			if event.Tag(body) == event.TagKey {
				onKeys()
			}
		})
	})
}

func (p *eventPublisher) onFireEvent(ctx supervisor.Context, m *FireEvent) {
	p.bus.Publish(m.Body)
	p.opt.meter.event(m.Body)
	m.leave()
	if !p.nudging && p.opt.young != nil {
		p.nudging = true
		p.arm(ctx, 0)
	}
}

func (p *eventPublisher) arm(ctx supervisor.Context, step int) {
	self := supervisor.Self(ctx)
	time.AfterFunc(nudgeAt[step], func() { self.Send(&nudge{step: step}) })
}

// onNudge nudges, and goes on as long as there is somebody young.
func (p *eventPublisher) onNudge(ctx supervisor.Context, m *nudge) {
	young := p.bus.Nudge(p.opt.young, time.Now().Add(-youth))
	if young == 0 || m.step+1 == len(nudgeAt) {
		p.nudging = false
		return
	}
	p.arm(ctx, m.step+1)
}

func (p *eventPublisher) onSubscribe(m *Subscribe) {
	p.opt.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}
