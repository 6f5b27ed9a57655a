package pillars

import (
	"context"
	"log/slog"
	"time"

	"brine/supervisor"
)

// Messages of the GitPillar.
type (
	// FetchPillars asks for a fetch of all repositories. One that comes while a fetch is under way changes nothing.
	FetchPillars struct{}
	// PillarsFetched tells how it went.
	PillarsFetched struct{ Err error }
)

// gitPillarOptions are what the GitPillar needs of the master.
type gitPillarOptions struct {
	update func(ctx context.Context) error
	every  time.Duration // git_pillar_update_interval
	log    *slog.Logger
}

// gitPillar fetches the repositories of git external pillars from time to time. Pillars are compiled from what was
// fetched last, also while it is dead.
type gitPillar struct {
	opt  gitPillarOptions
	busy bool
}

func (g *gitPillar) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		g.onStarted(ctx)
	case *FetchPillars:
		g.onFetchPillars(ctx)
	case *PillarsFetched:
		g.onPillarsFetched(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (g *gitPillar) onStarted(ctx supervisor.Context) {
	self, every := supervisor.Self(ctx), g.opt.every
	self.Send(&FetchPillars{})
	supervisor.Go(ctx, "timer", func(ctx context.Context) error { return self.SendEvery(ctx, every, &FetchPillars{}) })
}

func (g *gitPillar) onFetchPillars(ctx supervisor.Context) {
	if g.busy {
		return
	}
	g.busy = true
	self := supervisor.Self(ctx)
	supervisor.Go(ctx, "fetch", func(ctx context.Context) error {
		self.Send(&PillarsFetched{g.opt.update(ctx)})
		return nil
	})
}

func (g *gitPillar) onPillarsFetched(ctx supervisor.Context, m *PillarsFetched) {
	g.busy = false
	if m.Err != nil {
		supervisor.Failed(ctx)
		g.opt.log.Error("repositories of pillars cannot be fetched", "err", m.Err)
	}
}
