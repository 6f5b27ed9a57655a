package fleet

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Trouble is something that is wrong with a fleet.
type Trouble struct {
	What    string
	Minions int64 // whom it keeps from signing in now
	Jobs    int64 // that were not answered because of it, so far
}

// troubles gathers them by their words: thousands of minions have the same.
type troubles struct {
	mu   sync.Mutex
	of   map[*emulated]string
	jobs map[string]int64
}

// set notes what keeps a minion from signing in; "" when nothing does any more.
func (t *troubles) set(m *emulated, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what == "" {
		delete(t.of, m)
		return
	}
	if t.of == nil {
		t.of = map[*emulated]string{}
	}
	t.of[m] = what
}

// lost notes why a job was not answered.
func (t *troubles) lost(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[string]int64{}
	}
	t.jobs[what]++
}

// Troubles tells what is wrong, what concerns most first.
func (f *Fleet) Troubles() []Trouble {
	t := &f.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	by := map[string]Trouble{}
	for _, what := range t.of {
		one := by[what]
		one.What, one.Minions = what, one.Minions+1
		by[what] = one
	}
	for what, n := range t.jobs {
		one := by[what]
		one.What, one.Jobs = what, n
		by[what] = one
	}
	return slices.SortedFunc(maps.Values(by), func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Minions+b.Jobs, a.Minions+a.Jobs), cmp.Compare(a.What, b.What))
	})
}
