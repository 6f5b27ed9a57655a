package minion

import (
	"context"
	"sync"
	"sync/atomic"

	"brine/wire/payload"
)

// facts are the grains as the functions see them. They are computed at the start behind everybody's back, and
// waited for by whoever needs them. They are replaced, never changed.
type facts struct {
	compute func(ctx context.Context) *payload.Map
	first   func() // computes the grains unless that has been done
	now     atomic.Pointer[payload.Map]
}

func newFacts(compute func(ctx context.Context) *payload.Map) *facts {
	f := &facts{compute: compute}
	f.first = sync.OnceFunc(func() { f.refresh(context.Background()) })
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

// refresh computes the grains anew and tells whether they are others than before.
func (f *facts) refresh(ctx context.Context) (changed bool) {
	g := f.compute(ctx)
	before := f.now.Swap(g)
	return before == nil || !payload.Equal(before, g)
}
