package eventbus

import (
	"context"
	"fmt"
	"time"

	"brine/actors/daemon"
	"brine/actors/master/meter"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
)

// Messages of the EventPublisher.
type (
	// EventsHeard calls Done when all events that were fired before it have been sent out: for goroutines, which wait
	// for it. The EventPublisher calls it, or whoever finds that the message is lost; it must not block.
	EventsHeard struct{ Done func() }
	// nudge makes the tools that have just connected look at what they have got.
	nudge struct{ step int }
)

// Lost ends the wait.
func (m *EventsHeard) Lost(error) { m.Done() }

// Salt 3007's tools stop seeing events that reach them before their first look at the bus, until another one
// comes. A real master is so slow that one always does. brine sends tools that connected within youth an empty
// event at each of nudgeAt after the last activity began; long-lived readers never see it.
const youth = 4 * time.Second

var nudgeAt = [...]time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 250 * time.Millisecond,
	500 * time.Millisecond}

// PublisherOptions are what the EventPublisher needs of the master.
type PublisherOptions struct {
	Open  func(*bus.Subscribers) *bus.Bus
	Young []byte // the packed event for tools that have just connected; nil: none is sent
	// onKeys is told that somebody outside says that keys have changed.
	OnKeys func()
	Meter  *meter.Meter
}

// eventPublisher is the event bus: what anybody fires goes to every subscriber, in order.
type eventPublisher struct {
	opt     PublisherOptions
	subs    *bus.Subscribers
	room    *daemon.Bound
	bus     *bus.Bus
	nudging bool // a nudge is on its way
}

func (p *eventPublisher) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		p.onStarted(ctx)
	case *daemon.FireEvent:
		p.onFireEvent(ctx, m)
	case *nudge:
		p.onNudge(ctx, m)
	case *daemon.Subscribe:
		p.onSubscribe(m)
	case *daemon.Unsubscribe:
		p.subs.Remove(m.Name)
	case *EventsHeard:
		m.Done()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *eventPublisher) onStarted(ctx supervisor.Context) {
	p.bus = p.opt.Open(p.subs)
	p.opt.Meter.Opened(p.bus)
	if err := p.bus.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("event publisher: %w", err))
	}
	self, b, onKeys, room, log := supervisor.Self(ctx), p.bus, p.opt.OnKeys, p.room, ctx.Logger()
	supervisor.Go(ctx, "event pub socket", b.ServePub)
	supervisor.Go(ctx, "event pull socket", func(ctx context.Context) error {
		return b.ServePull(ctx, func(body []byte) {
			if err := event.CheckTag(event.Tag(body)); err != nil {
				log.Warn("an event of a tool is refused", "err", err)
				return
			}
			waitFor(ctx, room, toolPatience)
			m := &daemon.FireEvent{Body: body}
			m.Enter(room, len(body))
			self.Send(m)
			if event.Tag(body) == event.TagKey {
				onKeys()
			}
		})
	})
}

func (p *eventPublisher) onFireEvent(ctx supervisor.Context, m *daemon.FireEvent) {
	p.bus.Publish(m.Body)
	p.opt.Meter.Event(m.Body)
	m.Leave()
	if !p.nudging && p.opt.Young != nil {
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
	young := p.bus.Nudge(p.opt.Young, time.Now().Add(-youth))
	if young == 0 || m.step+1 == len(nudgeAt) {
		p.nudging = false
		return
	}
	p.arm(ctx, m.step+1)
}

func (p *eventPublisher) onSubscribe(m *daemon.Subscribe) {
	p.subs.Add(m.Name, m.Sink)
	if m.Done != nil {
		close(m.Done)
	}
}
