package loader

import (
	"sync"

	"brine/wire/payload"
)

// Grains are the minion's grains, with what the job itself has changed of them.
func (c *Call) Grains() *payload.Map { return c.top.grains.over(provided(c.Env.Grains)) }

// Grain is one grain, found without computing the others where the minion can do that.
func (c *Call) Grain(name string) (any, bool) {
	if v, there, changed := c.top.grains.get(name); changed {
		return v, there
	}
	return c.Env.Grain(name)
}

// SetGrain changes a grain for what follows in this job, as a function of Salt does that stores one: the minion itself
// hears of it another way. With gone there is no such grain any more.
func (c *Call) SetGrain(name, v any, gone bool) { c.top.grains.set(name, v, gone) }

// changedGrains are what a job has made of the grains; the zero value is nothing.
type changedGrains struct {
	mu   sync.Mutex
	kept *payload.Map
	gone *payload.Map
}

func (g *changedGrains) get(name any) (v any, there, changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, there = g.kept.Get(name)
	return v, there, there || g.gone.Has(name)
}

func (g *changedGrains) set(name, v any, gone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	set, without := g.kept.Clone(), g.gone.Clone()
	set.Delete(name)
	without.Delete(name)
	if gone {
		without.Set(name, true)
	} else {
		set.Set(name, v)
	}
	g.kept, g.gone = set, without
}

// over is the grains of the minion with the changes.
func (g *changedGrains) over(grains *payload.Map) *payload.Map {
	g.mu.Lock()
	set, gone := g.kept, g.gone
	g.mu.Unlock()
	if set.Len() == 0 && gone.Len() == 0 {
		return grains
	}
	out := grains.Clone()
	for name := range gone.All() {
		out.Delete(name)
	}
	out.Update(set)
	return out
}
