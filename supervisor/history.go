package supervisor

import (
	"slices"
	"sync"
	"sync/atomic"

	"brine/supervisor/stats"
)

// keepHistory is how many deaths of a whole tree are kept.
const keepHistory = 128

// history is the record of the last deaths of a tree.
type history struct {
	strays atomic.Uint64 // deaths that belonged to no living child
	mu     sync.Mutex
	deaths []stats.Death
}

func (h *history) add(d stats.Death) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.deaths) >= keepHistory {
		h.deaths = slices.Delete(h.deaths, 0, len(h.deaths)-keepHistory+1)
	}
	h.deaths = append(h.deaths, d)
}

func (h *history) list() []stats.Death {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.deaths)
}
