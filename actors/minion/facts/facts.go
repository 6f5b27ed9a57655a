package facts

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

// Options are what the facts are made from.
type Options struct {
	Compute func(fresh bool) Grains // fresh ones are read past the grains that are kept in a file
	Options *payload.Map            // of the minion
	Masters []*link.Link
}

// Facts are the grains as the functions see them, and the options and the pillar of each master. Grains are computed at
// the start behind everybody's back, and a caller that needs them waits for them. They are replaced, never changed. Any
// number of goroutines may use it.
type Facts struct {
	compute func(fresh bool) Grains
	early   atomic.Pointer[Grains] // until all of them are there
	first   func()                 // computes the grains unless that has been done
	now     atomic.Pointer[payload.Map]
	views   map[*link.Link]*View // nil: of jobs of no master
}

func New(opt Options) *Facts {
	f := &Facts{compute: opt.Compute, views: map[*link.Link]*View{}}
	g := opt.Compute(false)
	f.early.Store(&g)
	f.first = sync.OnceFunc(func() {
		f.now.CompareAndSwap(nil, g.Map())
		f.early.Store(nil)
	})
	f.views[nil] = &View{all: f, opts: opt.Options}
	for _, l := range opt.Masters {
		f.views[l] = newView(f, opt.Options, l.Master())
	}
	return f
}

// Of are the facts as the jobs of a master see them; nil: those of no master.
func (f *Facts) Of(l *link.Link) *View { return f.views[l] }

// Known are the grains of now; nil: they are not there yet.
func (f *Facts) Known() *payload.Map { return f.now.Load() }

// Grains are the grains of now.
func (f *Facts) grains() *payload.Map {
	if g := f.now.Load(); g != nil {
		return g
	}
	f.first()
	return f.now.Load()
}

// Grain is one of them, which does not wait for the others.
func (f *Facts) grain(name string) (any, bool) {
	if early := f.early.Load(); early != nil && f.now.Load() == nil {
		return (*early).Get(name)
	}
	return f.grains().Get(name)
}

// refresh computes the grains anew, past what is kept in files, and tells whether they are others than before.
func (f *Facts) refresh() (changed bool) {
	g := f.compute(true).Map()
	before := f.now.Swap(g)
	return before == nil || !payload.Equal(before, g)
}

// View is the facts as the jobs of one master see them: their master is that one, whatever list the configuration has.
type View struct {
	all        *Facts
	configured any    // the option master
	host       string // of the master; "": there is none
	opts       *payload.Map
	made       atomic.Pointer[ofMaster]
	data       atomic.Pointer[payload.Map] // the pillar
}

// ofMaster are grains that were made from others.
type ofMaster struct{ from, grains *payload.Map }

// newView is the view of a master; options are those of the minion.
func newView(all *Facts, options *payload.Map, master config.MasterAddr) *View {
	opts := options.Clone().Set("master", master.Host).Set("master_port", int64(master.Port))
	return &View{all: all, configured: options.Value("master"), host: master.Host, opts: opts}
}

// Pillar is that of now; nil: it is not there yet.
func (f *View) Pillar() *payload.Map { return f.data.Load() }

// Options are those of the minion with this master.
func (f *View) Options() *payload.Map { return f.opts }

// Grains are the grains of now. One map is made of each, which is only read.
func (f *View) Grains() *payload.Map {
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

// Grain is one of them, which does not wait for the others.
func (f *View) Grain(name string) (any, bool) {
	v, ok := f.all.grain(name)
	if name == grainMaster && ok && f.host != "" && payload.Equal(v, f.configured) {
		return f.host, true
	}
	return v, ok
}
