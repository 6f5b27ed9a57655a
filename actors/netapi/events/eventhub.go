package events

import (
	"context"
	"fmt"
	"time"

	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/event"
)

// Messages of the EventHub.
type (
	// JoinBus asks for the bus. The answer comes when it is joined: nil, or ErrNoBus after the first attempt that
	// failed.
	JoinBus struct{ Reply chan<- error }
	// eventCame is the body of an event.
	eventCame struct {
		body []byte
		room chan struct{} // one is taken off when it is handled
	}
	// What the n-th subscription says of the bus.
	busJoined struct{ n int }
	busLost   struct { // it was there
		n   int
		err error
	}
	busAway struct { // it could not be joined
		n   int
		err error
	}
	// wakeReaders lets readers look for what has come.
	wakeReaders struct{}
	sweep       struct{}
)

// Lost makes room.
func (m *eventCame) Lost(error) { <-m.room }

const (
	// sweepEvery is how often old events are dropped and idle readers look after their tokens.
	sweepEvery = 5 * time.Second
	// idleSweeps is how many sweeps without a reader the bus is kept.
	idleSweeps = 6
	// inFlight is how many events may be on their way to the actor.
	inFlight = 256
	// Pauses between attempts to join the bus.
	rejoinFirst = 50 * time.Millisecond
	rejoinMost  = time.Second
	// gapEach is by how much each reader stretches the pause between two wakings: the more there are, the more is
	// written at once. gapMost is the longest, and what is below gapLeast is none.
	gapEach  = 50 * time.Microsecond
	gapLeast = 2 * time.Millisecond
	gapMost  = 100 * time.Millisecond
)

// gap is the pause between two wakings of so many readers.
func gap(readers int) time.Duration {
	d := min(time.Duration(readers)*gapEach, gapMost)
	if d < gapLeast {
		return 0
	}
	return d
}

// eventHub is the subscription to the bus. What it has read is in the ring, which outlives it.
type eventHub struct {
	hub     *Hub
	cancel  context.CancelFunc // ends the subscription; nil: there is none
	n       int                // the subscription, counted from 1, over incarnations
	up      bool
	waiting []chan<- error
	idle    int // sweeps without a reader

	woke   time.Time // when readers were woken last
	waking bool      // they will be
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

// onStarted joins the bus again for readers that outlived the incarnation before.
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

// answer tells those who wait for the bus.
func (h *eventHub) answer(err error) {
	for _, reply := range h.waiting {
		reply <- err
	}
	h.waiting = nil
}

// join starts the subscription, if there is none.
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

// listen reads the bus, and joins it again when it goes away, until ctx ends.
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
		_ = source.Close() // what it says does not matter any more
		self.Send(&busLost{n, err})
	}
}

// relay hands what comes to the actor, until the bus or ctx ends.
func relay(ctx context.Context, source Source, self *supervisor.Ref, room chan struct{}) error {
	for {
		body, err := source.Next(ctx)
		if err != nil {
			return err
		}
		if event.Tag(body) == event.TagNudge { // it is for this subscription, not for its readers
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

// onBusLost tells that the master has gone. Of a subscription that was given up it is no news.
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

// onSweep drops what is old, and leaves a bus to which nobody has listened for a while.
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
