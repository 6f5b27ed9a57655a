package events

import (
	"context"
	"fmt"
	"time"

	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/event"
)

// These are the messages of the EventHub.
type (
	// JoinBus asks the actor to connect to the bus. The answer is nil when it is connected, or ErrNoBus after
	// the first failed attempt.
	JoinBus struct{ Reply chan<- error }
	// eventCame is the body of an event.
	eventCame struct {
		body []byte
		room chan struct{} // the actor takes one element off when it has handled the event
	}
	// These messages report the state of the bus, as the n-th subscription sees it.
	busJoined struct{ n int }
	busLost   struct { // the connection is lost
		n   int
		err error
	}
	busAway struct { // connecting failed
		n   int
		err error
	}
	// wakeReaders wakes readers that wait for events.
	wakeReaders struct{}
	sweep       struct{}
)

// Lost frees the place of the event.
func (m *eventCame) Lost(error) { <-m.room }

const (
	// sweepEvery is the time between two sweeps. A sweep drops old events and lets idle readers check their
	// tokens.
	sweepEvery = 5 * time.Second
	// idleSweeps is the number of sweeps without a reader after which the hub disconnects from the bus.
	idleSweeps = 6
	// inFlight is the most events that may be on their way to the actor.
	inFlight = 256
	// These are the shortest and longest pauses between attempts to connect to the bus.
	rejoinFirst = 50 * time.Millisecond
	rejoinMost  = time.Second
	// gapEach is the time by which each reader lengthens the pause between two wakings, so that with many
	// readers more events are written at once. gapMost is the longest pause. A pause shorter than gapLeast is
	// omitted.
	gapEach  = 50 * time.Microsecond
	gapLeast = 2 * time.Millisecond
	gapMost  = 100 * time.Millisecond
)

// gap is the pause between two wakings for a number of readers.
func gap(readers int) time.Duration {
	d := min(time.Duration(readers)*gapEach, gapMost)
	if d < gapLeast {
		return 0
	}
	return d
}

// eventHub owns the subscription to the bus. Its events are in the ring, which outlives it.
type eventHub struct {
	hub     *Hub
	cancel  context.CancelFunc // ends the subscription; nil: there is none
	n       int                // number of the subscription, from 1, over all incarnations
	up      bool
	waiting []chan<- error
	idle    int // sweeps without a reader

	woke   time.Time // last time when readers were woken
	waking bool      // a wakeReaders message is on its way
}

func (h *eventHub) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		h.onStarted(ctx)
	case *JoinBus:
		h.onJoinBus(ctx, m)
	case *eventCame:
		h.onEventCame(ctx, m)
	case *busJoined:
		h.onBusJoined(m)
	case *busLost:
		h.onBusLost(m)
	case *busAway:
		h.onBusAway(m)
	case *wakeReaders:
		h.rouse(time.Now())
	case *sweep:
		h.onSweep(ctx)
	case *supervisor.CloseIntake:
		h.hub.ring.End(feed.ErrStopped)
		m.Done()
	default:
		supervisor.Unhandled(ctx)
	}
}

// onStarted connects to the bus again for readers from before a restart.
func (h *eventHub) onStarted(ctx supervisor.Context) {
	self := supervisor.Self(ctx)
	h.hub.ref.Store(self)
	h.hub.ring.SetUp(false)
	supervisor.Go(ctx, "sweep", func(ctx context.Context) error {
		return self.SendEvery(ctx, sweepEvery, &sweep{})
	})
	if readers, _ := h.hub.ring.Count(); readers > 0 {
		h.join(ctx)
	}
}

func (h *eventHub) onJoinBus(ctx supervisor.Context, m *JoinBus) {
	if h.up {
		m.Reply <- nil
		return
	}
	h.waiting = append(h.waiting, m.Reply)
	h.join(ctx)
}

// answer answers all waiting JoinBus messages.
func (h *eventHub) answer(err error) {
	for _, reply := range h.waiting {
		reply <- err
	}
	h.waiting = nil
}

// join starts the subscription unless it exists.
func (h *eventHub) join(ctx supervisor.Context) {
	if h.cancel != nil {
		return
	}
	own, cancel := context.WithCancel(supervisor.Lifetime(ctx))
	h.cancel = cancel
	h.n = int(h.hub.subs.Add(1))
	self, hub, n := supervisor.Self(ctx), h.hub, h.n
	supervisor.Go(ctx, "event bus", func(context.Context) error {
		hub.listen(own, self, n)
		return nil
	})
}

// listen reads the bus until ctx ends. If the connection is lost, it reconnects.
func (h *Hub) listen(ctx context.Context, self *supervisor.Ref, n int) {
	room := make(chan struct{}, inFlight)
	pause := rejoinFirst
	for ctx.Err() == nil {
		source, err := h.subscribe(ctx)
		if err != nil {
			self.Send(&busAway{n, err})
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, rejoinMost)
			continue
		}
		pause = rejoinFirst
		self.Send(&busJoined{n})
		err = relay(ctx, source, self, room)
		_ = source.Close() // the source is not needed any more
		self.Send(&busLost{n, err})
	}
}

// relay passes events to the actor until the bus or ctx ends.
func relay(ctx context.Context, source Source, self *supervisor.Ref, room chan struct{}) error {
	for {
		body, err := source.Next(ctx)
		if err != nil {
			return err
		}
		if event.Tag(body) == event.TagNudge { // the event is for this subscription, not for its readers
			continue
		}
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		self.Send(&eventCame{body, room})
	}
}

func (h *eventHub) onBusJoined(m *busJoined) {
	if m.n != h.n || h.cancel == nil {
		return
	}
	if !h.up {
		h.hub.opt.Log.Info("event bus joined")
	}
	h.up = true
	h.hub.ring.SetUp(true)
	h.answer(nil)
}

// onBusLost logs that the connection to the master is lost. A cancelled subscription does not count.
func (h *eventHub) onBusLost(m *busLost) {
	if m.n != h.n || h.cancel == nil {
		return
	}
	h.up = false
	h.hub.ring.SetUp(false)
	h.hub.opt.Log.Warn("event bus lost, joining it again", "err", m.err)
}

func (h *eventHub) onBusAway(m *busAway) {
	if m.n == h.n {
		h.answer(m.err)
	}
}

func (h *eventHub) onEventCame(ctx supervisor.Context, m *eventCame) {
	<-m.room
	now := time.Now()
	h.hub.ring.Add(m.body, now)
	if h.waking {
		return
	}
	readers, _ := h.hub.ring.Count()
	rest := gap(readers) - now.Sub(h.woke)
	if rest <= 0 {
		h.rouse(now)
		return
	}
	h.waking = true
	self := supervisor.Self(ctx)
	time.AfterFunc(rest, func() { self.Send(&wakeReaders{}) })
}

func (h *eventHub) rouse(now time.Time) {
	h.woke, h.waking = now, false
	h.hub.ring.Rouse()
}

// onSweep drops old events. It disconnects from the bus if there has been no reader for a while.
func (h *eventHub) onSweep(ctx supervisor.Context) {
	h.hub.ring.Expire(time.Now())
	readers, kept := h.hub.ring.Count()
	supervisor.Note(ctx, fmt.Sprintf("%d readers, %d events kept", readers, kept))
	if h.idle++; readers > 0 || len(h.waiting) > 0 {
		h.idle = 0
	}
	if h.idle >= idleSweeps && h.cancel != nil {
		h.cancel()
		h.cancel, h.up = nil, false
		h.hub.ring.SetUp(false)
	}
}
