package quota

import "sync"

// AtOnce bounds how many things of one user go on at a time. Its methods may be called by many goroutines.
type AtOnce struct {
	Most int

	mu sync.Mutex
	n  map[string]int
}

// Enter begins a thing; false: as many as may be are going on.
func (a *AtOnce) Enter(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n[id] >= a.Most {
		return false
	}
	if a.n == nil {
		a.n = map[string]int{}
	}
	a.n[id]++
	return true
}

// Leave ends one.
func (a *AtOnce) Leave(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n[id]--; a.n[id] <= 0 {
		delete(a.n, id)
	}
}
