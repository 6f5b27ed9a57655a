package scheduler

import (
	"context"
	"log/slog"
	"time"

	"brine/actors/daemon"
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

// MineOptions are what the MineTimer needs of the minion.
type MineOptions struct {
	Ref    *supervisor.Ref                 // by which others know it; nil: there is none
	Every  time.Duration                   // mine_interval
	Update func(ctx context.Context) error // calls mine.update
	Clock  supervisor.Clock
	Log    *slog.Logger
}

// NewMine makes the MineTimer as a child, unless there is to be none.
func NewMine(opt MineOptions) daemon.Child {
	if opt.Ref == nil {
		return daemon.Child{}
	}
	return daemon.Child{Spec: supervisor.Spec{Ref: opt.Ref, Name: "MineTimer", New: func() supervisor.Actor {
		return &mineTimer{opt: opt}
	}}}
}

// mineTimer calls mine.update when the minion is ready, and every mine_interval from then on.
type mineTimer struct {
	opt   MineOptions
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
	daemon.After(ctx, t.opt.Clock, t.opt.Every, &mineDue{})
	if t.busy {
		return
	}
	t.busy = true
	self, update := t.self, t.opt.Update
	supervisor.Go(ctx, "mine.update", func(ctx context.Context) error {
		self.Send(&mineUpdated{update(ctx)})
		return nil
	})
}

func (t *mineTimer) onUpdated(m *mineUpdated) {
	t.busy = false
	if m.err != nil {
		t.opt.Log.Error("the mine could not be updated", "err", m.err)
	}
}
