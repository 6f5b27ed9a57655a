package minion

import (
	"sync"
	"sync/atomic"

	"brine/config"
	"brine/wire/payload"
)

// Grains are the grains of this host at one moment, computed when they are asked for.
type Grains interface {
	Map() *payload.Map
	// Get is one of them; it computes the others only where it must.
	Get(name string) (any, bool)
}

// facts are the grains as the functions see them. They are computed at the start behind everybody's back, and
// waited for by whoever needs them. They are replaced, never changed.
type facts struct {
	compute func(fresh bool) Grains
	early   atomic.Pointer[Grains] // until all of them are there
	first   func()                 // computes the grains unless that has been done
	now     atomic.Pointer[payload.Map]
}

func newFacts(compute func(fresh bool) Grains) *facts {
	f := &facts{compute: compute}
	g := compute(false)
	f.early.Store(&g)
	f.first = sync.OnceFunc(func() {
		f.now.CompareAndSwap(nil, g.Map())
		f.early.Store(nil)
	})
	return f
}

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

// linkFacts are the facts as the jobs of one master see them: their master is that one, whatever list the configuration
// has.
type linkFacts struct {
	all        *facts
	configured any    // the option master
	host       string // of the master
	opts       *payload.Map
	made       atomic.Pointer[ofMaster]
}

// ofMaster are grains that were made from others.
type ofMaster struct{ from, grains *payload.Map }

// newLinkFacts are the facts of a link; options are those of the minion.
func newLinkFacts(all *facts, options *payload.Map, master config.MasterAddr) *linkFacts {
	opts := options.Clone().Set("master", master.Host).Set("master_port", int64(master.Port))
	return &linkFacts{all: all, configured: options.Value("master"), host: master.Host, opts: opts}
}

// options are those of the minion with this master.
func (f *linkFacts) options() *payload.Map { return f.opts }

// grains are the grains of now. One map is made of each, which is only read.
func (f *linkFacts) grains() *payload.Map {
	from := f.all.grains()
	if made := f.made.Load(); made != nil && made.from == from {
		return made.grains
	}
	made := &ofMaster{from: from, grains: from}
	if v, ok := from.Get(grainMaster); ok && payload.Equal(v, f.configured) {
		made.grains = from.Clone().Set(grainMaster, f.host)
	}
	f.made.Store(made)
	return made.grains
}

// grainMaster is the grain that comes from the option of that name; the configuration may set it otherwise.
const grainMaster = "master"

// grain is one of them, which does not wait for the others.
func (f *linkFacts) grain(name string) (any, bool) {
	v, ok := f.all.grain(name)
	if name == grainMaster && ok && payload.Equal(v, f.configured) {
		return f.host, true
	}
	return v, ok
}
