package minion

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Refresher.
type (
	// RefreshGrains computes the grains anew; Done may be nil.
	RefreshGrains struct{ Done func() }
	// RefreshPillar asks a master for the pillar; Done may be nil.
	RefreshPillar struct {
		Link *link // nil: the first that is connected
		Done func(error)
	}
	// grainsComputed and pillarFetched are the results.
	grainsComputed struct {
		grains *payload.Map
		done   func()
	}
	pillarFetched struct {
		pillar *payload.Map
		err    error
		done   func(error)
	}
)

// Lost tells whoever waits for the pillar.
func (m *RefreshPillar) Lost(why error) {
	if m.Done != nil {
		m.Done(why)
	}
}

// facts are grains and pillar as the functions see them. They are replaced, never changed.
type facts struct {
	grains atomic.Pointer[payload.Map]
	pillar atomic.Pointer[payload.Map]
}

// refresherOptions are what the Refresher needs of the minion.
type refresherOptions struct {
	cfg     *config.Minion
	facts   *facts
	compute func(ctx context.Context) *payload.Map
	links   []*link
	log     *slog.Logger
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
	case *grainsComputed:
		r.opt.facts.grains.Store(m.grains)
		if m.done != nil {
			m.done()
		}
	case *pillarFetched:
		r.onPillarFetched(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (r *refresher) onStarted(ctx actor.Context) {
	r.self = supervisor.Self(ctx)
	every := r.opt.cfg.GrainsRefreshEvery
	if every <= 0 {
		return
	}
	self := r.self
	supervisor.Go(ctx, "grains timer", func(ctx context.Context) error { return tick(ctx, every, self, &RefreshGrains{}) })
}

// tick sends msg every interval until ctx ends.
func tick(ctx context.Context, every time.Duration, to *supervisor.Ref, msg any) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			to.Send(msg)
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *refresher) onRefreshGrains(ctx actor.Context, m *RefreshGrains) {
	self, compute := r.self, r.opt.compute
	supervisor.Go(ctx, "grains", func(ctx context.Context) error {
		self.Send(&grainsComputed{grains: compute(ctx), done: m.Done})
		return nil
	})
}

func (r *refresher) onRefreshPillar(ctx actor.Context, m *RefreshPillar) {
	l := m.Link
	if l == nil {
		if i := slices.IndexFunc(r.opt.links, func(l *link) bool { return l.connected.Load() }); i >= 0 {
			l = r.opt.links[i]
		}
	}
	if l == nil {
		m.Lost(errNoMaster)
		return
	}
	self, facts, cfg := r.self, r.opt.facts, r.opt.cfg
	supervisor.Go(ctx, "pillar", func(ctx context.Context) error {
		pillar, err := l.pillar(ctx, pillarLoad(cfg, facts.grains.Load()))
		self.Send(&pillarFetched{pillar: pillar, err: err, done: m.Done})
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
		r.opt.log.Error("Pillar data could not be refreshed. One or more masters may be down!", "err", m.err)
	} else {
		r.opt.facts.pillar.Store(m.pillar)
	}
	if m.done != nil {
		m.done(m.err)
	}
}
