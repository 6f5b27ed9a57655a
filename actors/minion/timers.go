package minion

import (
	"context"
	"fmt"
	"time"

	"brine/actors/daemon"
	"brine/modules/loader"
	"brine/supervisor"
)

// Messages of the MineTimer.
type (
	// BeginMine starts it: a master is there. Later ones have no effect.
	BeginMine struct{}
	// mineUpdated says that an update has ended, or failed.
	mineUpdated struct{ err error }
	// mineDue is the message of the timer.
	mineDue struct{}
)

// mineTimer calls mine.update when the minion is ready, and every mine_interval from then on.
type mineTimer struct {
	m     *Minion
	every time.Duration // mine_interval
	self  *supervisor.Ref
	begun bool
	busy  bool
}

func (t *mineTimer) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		t.onStarted(ctx)
	case *BeginMine:
		t.onBegin(ctx)
	case *mineDue:
		t.update(ctx)
	case *mineUpdated:
		t.onUpdated(m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (t *mineTimer) onStarted(ctx supervisor.Context) {
	t.self = supervisor.Self(ctx)
	if supervisor.Incarnation(ctx) > 1 {
		t.onBegin(ctx)
	}
}

func (t *mineTimer) onBegin(ctx supervisor.Context) {
	if !t.begun {
		t.begun = true
		t.update(ctx)
	}
}

// update asks for one update, unless the one before still goes on.
func (t *mineTimer) update(ctx supervisor.Context) {
	daemon.After(ctx, t.m.clock, t.every, &mineDue{})
	if t.busy {
		return
	}
	t.busy = true
	m, self := t.m, t.self
	supervisor.Go(ctx, "mine.update", func(ctx context.Context) error {
		self.Send(&mineUpdated{m.call(ctx, "mine.update")})
		return nil
	})
}

func (t *mineTimer) onUpdated(m *mineUpdated) {
	t.busy = false
	if m.err != nil {
		t.m.log.Error("the mine could not be updated", "err", m.err)
	}
}

// call runs a function on the minion's own behalf, outside any job. It never panics.
func (m *Minion) call(ctx context.Context, fun string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panic: %v", fun, r)
		}
	}()
	_, err = loader.NewCall(ctx, m.envOf(m.anyLink()), fun, nil).Call(fun, nil, nil)
	return err
}
