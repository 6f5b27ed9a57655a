package fleet

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Trouble is a problem of a fleet.
type Trouble struct {
	What    string
	Minions int64 // minions that cannot sign in now because of it
	Jobs    int64 // jobs without an answer because of it, so far
}

// troubles groups problems by their texts, because thousands of minions have the same.
type troubles struct {
	mu   sync.Mutex
	of   map[*emulated]string
	jobs map[string]int64
}

// set notes why a minion cannot sign in. "" means that it can.
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

// lost notes why a job has no answer.
func (t *troubles) lost(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[string]int64{}
	}
	t.jobs[what]++
}

// Troubles lists the problems. The one that affects most minions and jobs comes first.
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
