package minion

import (
	"context"
	"errors"
	"log/slog"

	"brine/config"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Refresher.
type (
	// RefreshGrains computes the grains anew; Done may be nil, changed is about them.
	RefreshGrains struct{ Done func(changed bool) }
	// RefreshPillar asks for the pillar; Done may be nil.
	RefreshPillar struct {
		Link  *link // nil: every master that is there
		Clean bool  // the master is not to answer from its cache
		Done  func(error)
	}
	// pillarFetched is the result of one master.
	pillarFetched struct {
		link   *link
		pillar *payload.Map
		err    error
		done   func(error)
	}
)

// Lost tells whoever waits for the grains.
func (m *RefreshGrains) Lost(error) { m.done(false) }

func (m *RefreshGrains) done(changed bool) {
	if m.Done != nil {
		m.Done(changed)
	}
}

// Lost tells whoever waits for the pillar.
func (m *RefreshPillar) Lost(why error) { m.done(why) }

func (m *RefreshPillar) done(err error) {
	if m.Done != nil {
		m.Done(err)
	}
}

// refresherOptions are what the Refresher needs of the minion.
type refresherOptions struct {
	cfg   *config.Minion
	facts *facts
	links func() []*link
	clock supervisor.Clock
	log   *slog.Logger
}

// refresher keeps grains and pillar up to date. A pillar that cannot be had leaves the old one in place.
type refresher struct {
	opt  refresherOptions
	self *supervisor.Ref
}

func (r *refresher) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.onStarted(ctx)
	case *RefreshGrains:
		r.onRefreshGrains(ctx, m)
	case *RefreshPillar:
		r.onRefreshPillar(ctx, m)
	case *pillarFetched:
		r.onPillarFetched(ctx, m)
	case *tick:
		r.onTick(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

// tick is the message of a timer.
type tick struct{}

func (r *refresher) onStarted(ctx actor.Context) {
	r.self = supervisor.Self(ctx)
	facts := r.opt.facts
	supervisor.Go(ctx, "grains", func(context.Context) error {
		facts.first()
		return nil
	})
	r.arm(ctx)
}

func (r *refresher) arm(ctx actor.Context) {
	if every := r.opt.cfg.GrainsRefreshEvery; every > 0 {
		after(ctx, r.opt.clock, every, &tick{})
	}
}

// onTick is grains_refresh_every: a master that matches by grains learns of changes from the pillar request.
func (r *refresher) onTick(ctx actor.Context) {
	r.arm(ctx)
	self := r.self
	r.onRefreshGrains(ctx, &RefreshGrains{Done: func(changed bool) {
		if changed {
			self.Send(&RefreshPillar{})
		}
	}})
}

func (r *refresher) onRefreshGrains(ctx actor.Context, m *RefreshGrains) {
	facts := r.opt.facts
	supervisor.Go(ctx, "grains", func(context.Context) error {
		m.done(facts.refresh())
		return nil
	})
}

func (r *refresher) onRefreshPillar(ctx actor.Context, m *RefreshPillar) {
	if m.Link != nil {
		r.fetch(ctx, m.Link, m.Clean, m.done)
		return
	}
	var there []*link
	for _, l := range r.opt.links() {
		if l.up() {
			there = append(there, l)
		}
	}
	if len(there) == 0 {
		m.done(errNoMaster)
		return
	}
	results := make(chan error, len(there))
	for _, l := range there {
		r.fetch(ctx, l, m.Clean, func(err error) { results <- err })
	}
	supervisor.Go(ctx, "pillars", func(ctx context.Context) error {
		m.done(collect(ctx, results))
		return nil
	})
}

// collect waits for all results.
func collect(ctx context.Context, results <-chan error) (all error) {
	for range cap(results) {
		select {
		case err := <-results:
			all = errors.Join(all, err)
		case <-ctx.Done():
			return errors.Join(all, context.Cause(ctx))
		}
	}
	return all
}

func (r *refresher) fetch(ctx actor.Context, l *link, clean bool, done func(error)) {
	self, facts, cfg := r.self, r.opt.facts, r.opt.cfg
	supervisor.Go(ctx, "pillar", func(ctx context.Context) error {
		load := pillarLoad(cfg, facts.grains())
		if clean {
			load.Set("clean_cache", true)
		}
		pillar, err := l.pillar(ctx, load)
		self.Send(&pillarFetched{link: l, pillar: pillar, err: err, done: done})
		return nil
	})
}

// pillarVersion is the form of the private reply (not the protocol version).
const pillarVersion = "2"

// pillarLoad is a _pillar request in Salt's order (salt/pillar/__init__.py, RemotePillar.compile_pillar).
func pillarLoad(cfg *config.Minion, grains *payload.Map) *payload.Map {
	return payload.M("id", cfg.ID, "grains", grains, "saltenv", textOrNil(cfg.SaltEnv), "pillarenv", textOrNil(cfg.PillarEnv),
		"pillar_override", payload.NewMap(0), "extra_minion_data", payload.NewMap(0), "ver", pillarVersion, "cmd", payload.CmdPillar)
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r *refresher) onPillarFetched(ctx actor.Context, m *pillarFetched) {
	if m.err != nil {
		supervisor.Failed(ctx)
		m.link.log.Error("Pillar data could not be refreshed. One or more masters may be down!", "err", m.err)
	} else {
		m.link.pillarData.Store(m.pillar)
	}
	m.done(m.err)
}
