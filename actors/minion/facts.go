package minion

import (
	"sync"
	"sync/atomic"

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
