package reacting

import (
	"errors"
	"fmt"
	"sync/atomic"

	"brine/supervisor"
)

// Names of the actors.
const (
	NameKeeper  = "ReactorKeeper"
	NameReactor = "Reactor"
)

// KeepEvent puts an event that a rule wants into the backlog.
type KeepEvent struct {
	Tag   string
	Body  []byte
	part  *Part
	kept  *atomic.Bool // the event is stored or dropped; nil: not tried yet
	tries int          // how often it was lost before
	left  atomic.Bool
}

// Lost sends an event again if a ReactorKeeper died while handling it. Any other loss is a drop, which is
// counted.
func (m *KeepEvent) Lost(why error) {
	if m.kept != nil && m.kept.Load() {
		m.leave()
		return
	}
	if died := errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned); died &&
		m.tries < tries {
		m.part.keeper.Send(&KeepEvent{Tag: m.Tag, Body: m.Body, part: m.part, kept: m.kept, tries: m.tries + 1})
		return
	}
	m.leave()
	m.part.drop(m.Tag, fmt.Sprintf("it did not reach the backlog: %v", why))
}

// leave subtracts the event's bytes from those on their way.
func (m *KeepEvent) leave() {
	if !m.left.Swap(true) {
		m.part.mailed.Add(-int64(len(m.Body)))
	}
}

// keeper writes events to the backlog. It has no state of its own.
type keeper struct{ part *Part }

// holdEvents is how many events may wait while no ReactorKeeper runs. maxMailed limits their bytes.
const holdEvents = 1 << 20

// Keeper is the spec of the ReactorKeeper as a child of a daemon.
func (p *Part) Keeper() supervisor.Spec {
	return supervisor.Spec{Name: NameKeeper, Ref: p.keeper, Hold: holdEvents, Store: true, New: func() supervisor.Actor {
		return &keeper{p}
	}}
}

func (k *keeper) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *KeepEvent:
		k.onKeepEvent(ctx, m)
	case *supervisor.Flush:
		m.Done() // all handled events are written
	default:
		supervisor.Unhandled(ctx)
	}
}

func (k *keeper) onKeepEvent(ctx supervisor.Context, m *KeepEvent) {
	defer m.leave()
	if m.kept == nil {
		m.kept = new(atomic.Bool)
	}
	if m.kept.Swap(true) {
		return // an earlier attempt has stored it
	}
	p := k.part
	p.tally.events.Add(1)
	kept, err := p.back.Keep(p.lane(m.Tag), m.Body)
	switch {
	case !kept:
		supervisor.Failed(ctx)
		p.drop(m.Tag, err.Error())
		return
	case err != nil && !p.tally.noDisk.Swap(true):
		p.opt.Log.Error("events for the Reactor cannot be written to disk: they wait in memory", "err", err)
	}
	if err == nil && p.tally.noDisk.Swap(false) {
		p.opt.Log.Warn("events for the Reactor can be written to disk again")
	}
	p.poke()
}
