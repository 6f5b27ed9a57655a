package minion

import (
	"sync"
	"sync/atomic"

	"brine/actors/minion/link"
	"brine/config"
	"brine/wire/payload"
)

// Grains are the grains of this host at one moment, computed when they are asked for.
type Grains interface {
	Map() *payload.Map
	// Get is one of them; it computes the others only where it must.
	Get(name string) (any, bool)
}

// factsOptions are what the facts are made from.
type factsOptions struct {
	compute func(fresh bool) Grains // fresh ones are read past the grains that are kept in a file
	options *payload.Map            // of the minion
	masters []*link.Link
}

// facts are the grains as the functions see them, and the options and the pillar of each master. Grains are computed at
// the start behind everybody's back, and a caller that needs them waits for them. They are replaced, never changed. Any
// number of goroutines may use it.
type facts struct {
	compute func(fresh bool) Grains
	early   atomic.Pointer[Grains] // until all of them are there
	first   func()                 // computes the grains unless that has been done
	now     atomic.Pointer[payload.Map]
	views   map[*link.Link]*view // nil: of jobs of no master
}

func newFacts(opt factsOptions) *facts {
	f := &facts{compute: opt.compute, views: map[*link.Link]*view{}}
	g := opt.compute(false)
	f.early.Store(&g)
	f.first = sync.OnceFunc(func() {
		f.now.CompareAndSwap(nil, g.Map())
		f.early.Store(nil)
	})
	f.views[nil] = &view{all: f, opts: opt.options}
	for _, l := range opt.masters {
		f.views[l] = newView(f, opt.options, l.Master())
	}
	return f
}

// of are the facts as the jobs of a master see them; nil: those of no master.
func (f *facts) of(l *link.Link) *view { return f.views[l] }

// known are the grains of now; nil: they are not there yet.
func (f *facts) known() *payload.Map { return f.now.Load() }

// grains are the grains of now.
func (f *facts) grains() *payload.Map {
	if g := f.now.Load(); g != nil {
		return g
	}
	f.first()
	return f.now.Load()
}

// grain is one of them, which does not wait for the others.
func (f *facts) grain(name string) (any, bool) {
	if early := f.early.Load(); early != nil && f.now.Load() == nil {
		return (*early).Get(name)
	}
	return f.grains().Get(name)
}

// refresh computes the grains anew, past what is kept in files, and tells whether they are others than before.
func (f *facts) refresh() (changed bool) {
	g := f.compute(true).Map()
	before := f.now.Swap(g)
	return before == nil || !payload.Equal(before, g)
}

// view is the facts as the jobs of one master see them: their master is that one, whatever list the configuration has.
type view struct {
	all        *facts
	configured any    // the option master
	host       string // of the master; "": there is none
	opts       *payload.Map
	made       atomic.Pointer[ofMaster]
	data       atomic.Pointer[payload.Map] // the pillar
}

// ofMaster are grains that were made from others.
type ofMaster struct{ from, grains *payload.Map }

// newView is the view of a master; options are those of the minion.
func newView(all *facts, options *payload.Map, master config.MasterAddr) *view {
	opts := options.Clone().Set("master", master.Host).Set("master_port", int64(master.Port))
	return &view{all: all, configured: options.Value("master"), host: master.Host, opts: opts}
}

// pillar is that of now; nil: it is not there yet.
func (f *view) pillar() *payload.Map { return f.data.Load() }

// options are those of the minion with this master.
func (f *view) options() *payload.Map { return f.opts }

// grains are the grains of now. One map is made of each, which is only read.
func (f *view) grains() *payload.Map {
	from := f.all.grains()
	if made := f.made.Load(); made != nil && made.from == from {
		return made.grains
	}
	made := &ofMaster{from: from, grains: from}
	if v, ok := from.Get(grainMaster); ok && f.host != "" && payload.Equal(v, f.configured) {
		made.grains = from.Clone().Set(grainMaster, f.host)
	}
	f.made.Store(made)
	return made.grains
}

// grainMaster is the grain that comes from the option of that name; the configuration may set it otherwise.
const grainMaster = "master"

// grain is one of them, which does not wait for the others.
func (f *view) grain(name string) (any, bool) {
	v, ok := f.all.grain(name)
	if name == grainMaster && ok && f.host != "" && payload.Equal(v, f.configured) {
		return f.host, true
	}
	return v, ok
}
