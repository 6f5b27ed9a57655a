package facts

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/link"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the Refresher.
type (
	// RefreshGrains computes the grains anew; Done may be nil, changed is about them. The Refresher runs it in its
	// handler, as it does that of RefreshPillar, or whoever finds the message lost does; it must not block.
	RefreshGrains struct{ Done func(changed bool) }
	// RefreshPillar asks for the pillar; Done may be nil.
	RefreshPillar struct {
		Link  *link.Link // nil: every master that is there
		Clean bool       // the master is not to answer from its cache
		Done  func(error)
	}
	// pillarFetched is the result of one master.
	pillarFetched struct {
		link   *link.Link
		pillar *payload.Map
		err    error
		done   func(error)
		by     *refresher // that asked
	}
	// grainsComputed says that the grains have been computed.
	grainsComputed struct{ by *refresher }
)

// Lost tells whoever waits for the pillar.
func (m *pillarFetched) Lost(why error) { m.done(errors.Join(m.err, why)) }

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

// RefresherOptions are what the Refresher needs of the minion.
type RefresherOptions struct {
	Ref     *supervisor.Ref // by which others know it
	Asked   Question
	Source  loader.PillarSource // compiles the pillar on this machine (file_client: local); nil: masters do
	Stored  func()              // is told that there is another pillar
	KeepIn  string              // below this folder the pillar of a master is kept in files; "": it is not
	Every   time.Duration       // grains_refresh_every; 0: never
	Facts   *Facts
	Masters []*link.Link
	Most    int // requests that wait for the grains, or for the pillar of one master
	Clock   supervisor.Clock
	Log     *slog.Logger
}

// NewRefresher makes the Refresher as a child.
func NewRefresher(opt RefresherOptions) daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: opt.Ref, Name: "Refresher", Component: true,
		New: func() supervisor.Actor { return &refresher{opt: opt} }}}
}

// refresher keeps grains and pillar up to date. A pillar that cannot be had leaves the old one in place. However many
// ask, grains are computed once at a time, and the pillar of a master is fetched once at a time: who asks meanwhile
// gets the next.
type refresher struct {
	opt     RefresherOptions
	self    *supervisor.Ref
	busy    bool         // grains are being computed
	grains  []func(bool) // who wait for the next
	pillars map[*link.Link]*nextPillar
}

// nextPillar is what of a master's pillar is still to be asked for.
type nextPillar struct {
	busy  bool // one is being fetched
	clean bool
	done  []func(error)
}

func (r *refresher) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		r.onStarted(ctx)
	case *RefreshGrains:
		r.onRefreshGrains(ctx, m)
	case *RefreshPillar:
		r.onRefreshPillar(ctx, m)
	case *pillarFetched:
		r.onPillarFetched(ctx, m)
	case *grainsComputed:
		r.onGrainsComputed(ctx, m)
	case *supervisor.Stopping:
		r.onStopping()
	case *refreshDue:
		r.onTick(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

// refreshDue is the message of the timer.
type refreshDue struct{}

func (r *refresher) onStarted(ctx supervisor.Context) {
	r.self, r.pillars = supervisor.Self(ctx), map[*link.Link]*nextPillar{}
	facts := r.opt.Facts
	supervisor.Go(ctx, "grains", func(context.Context) error {
		facts.first()
		return nil
	})
	if r.opt.Source != nil {
		r.self.Send(&RefreshPillar{})
	}
	r.arm(ctx)
}

func (r *refresher) arm(ctx supervisor.Context) {
	if every := r.opt.Every; every > 0 {
		daemon.After(ctx, r.opt.Clock, every, &refreshDue{})
	}
}

// onTick is grains_refresh_every: a master that matches by grains learns of changes from the pillar request.
func (r *refresher) onTick(ctx supervisor.Context) {
	r.arm(ctx)
	self := r.self
	r.onRefreshGrains(ctx, &RefreshGrains{Done: func(changed bool) {
		if changed {
			self.Send(&RefreshPillar{})
		}
	}})
}

func (r *refresher) onRefreshGrains(ctx supervisor.Context, m *RefreshGrains) {
	if len(r.grains) >= r.opt.Most {
		r.opt.Log.Warn("the grains are not computed once more: too many wait for them", "waiting", len(r.grains))
		m.done(false)
		return
	}
	r.grains = append(r.grains, m.done)
	r.compute(ctx)
}

// compute computes the grains for all who wait, unless that is being done.
func (r *refresher) compute(ctx supervisor.Context) {
	if r.busy || len(r.grains) == 0 {
		return
	}
	all := r.grains
	r.busy, r.grains = true, nil
	facts, self := r.opt.Facts, r.self
	supervisor.Go(ctx, "grains", func(context.Context) error {
		changed := false
		defer func() { // also when they cannot be computed
			for _, done := range all {
				done(changed)
			}
		}()
		changed = facts.refresh()
		self.Send(&grainsComputed{r})
		return nil
	})
}

func (r *refresher) onGrainsComputed(ctx supervisor.Context, m *grainsComputed) {
	if m.by == r {
		r.busy = false
		r.compute(ctx)
	}
}

// onStopping tells those who wait; nobody else would.
func (r *refresher) onStopping() {
	for _, done := range r.grains {
		done(false)
	}
	for _, n := range r.pillars {
		tellAll(n.done, supervisor.ErrDropped)
	}
	r.grains, r.pillars = nil, nil
}

func tellAll(all []func(error), err error) {
	for _, done := range all {
		done(err)
	}
}

func (r *refresher) onRefreshPillar(ctx supervisor.Context, m *RefreshPillar) {
	if m.Link != nil {
		r.fetch(ctx, m.Link, m.Clean, m.done)
		return
	}
	var there []*link.Link
	if r.opt.Source != nil {
		there = append(there, nil) // for jobs of no master
	}
	for _, l := range r.opt.Masters {
		if l.Up() {
			there = append(there, l)
		}
	}
	if len(there) == 0 {
		m.done(link.ErrNoMaster)
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

func (r *refresher) fetch(ctx supervisor.Context, l *link.Link, clean bool, done func(error)) {
	n := r.pillars[l]
	if n == nil {
		n = &nextPillar{}
		r.pillars[l] = n
	}
	if len(n.done) >= r.opt.Most {
		r.logOf(l).Warn("the pillar is not fetched once more: too many wait for it", "waiting", len(n.done))
		done(link.ErrTooMuch)
		return
	}
	n.clean, n.done = n.clean || clean, append(n.done, done)
	r.fetchNext(ctx, l)
}

// fetchNext asks a master for all who wait, unless it is being asked.
func (r *refresher) fetchNext(ctx supervisor.Context, l *link.Link) {
	n := r.pillars[l]
	if n == nil || n.busy || len(n.done) == 0 {
		return
	}
	clean, all := n.clean, n.done
	n.busy, n.clean, n.done = true, false, nil
	self, opt := r.self, r.opt
	supervisor.Go(ctx, "pillar", func(ctx context.Context) error {
		out := &pillarFetched{link: l, err: supervisor.ErrDropped, done: func(err error) { tellAll(all, err) }, by: r}
		defer func() { self.Send(out) }() // also when it cannot be asked for
		if opt.Source != nil {
			out.pillar, out.err = compile(ctx, opt.Source, loader.PillarQuery{}, opt.Asked)
			return nil
		}
		load := opt.Asked.load(opt.Facts.Of(l).Grains())
		if clean {
			load.Set("clean_cache", true)
		}
		if out.pillar, out.err = l.Pillar(ctx, load); out.err == nil {
			opt.keep(l, out.pillar)
		}
		return nil
	})
}

// logOf is the log of a link, or the minion's.
func (r *refresher) logOf(l *link.Link) *slog.Logger {
	if l == nil {
		return r.opt.Log
	}
	return l.Log()
}

// keep writes the pillar to files, where the configuration wants it (minion_pillar_cache).
func (o RefresherOptions) keep(l *link.Link, data *payload.Map) {
	if o.KeepIn == "" {
		return
	}
	if err := pillar.KeepOnMinion(o.KeepIn, o.Asked.ID, o.Asked.Saltenv, data); err != nil {
		l.Log().Error("the pillar could not be kept in files (minion_pillar_cache)", "err", err)
	}
}

func (r *refresher) onPillarFetched(ctx supervisor.Context, m *pillarFetched) {
	if m.err != nil {
		supervisor.Failed(ctx)
		r.logOf(m.link).Error("Pillar data could not be refreshed. One or more masters may be down!", "err", m.err)
	} else {
		r.opt.Facts.Of(m.link).data.Store(m.pillar)
		r.opt.Stored()
	}
	m.done(m.err)
	if m.by == r {
		r.pillars[m.link].busy = false
		r.fetchNext(ctx, m.link)
	}
}
