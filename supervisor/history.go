package supervisor

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"brine/supervisor/stats"
)

// keepHistory is how many deaths of a whole tree are kept, in memory and on disk.
const keepHistory = 200

// history is the record of the last deaths of a tree, those of the process before included.
type history struct {
	strays atomic.Uint64 // deaths that belonged to no living child
	file   *deathFile    // nil: the record ends with the process
	mu     sync.Mutex
	deaths []stats.Death
}

// newHistory begins with what the file has, if there is one.
func newHistory(path string, log *slog.Logger) *history {
	if path == "" {
		return new(history)
	}
	h := &history{file: &deathFile{path: path, log: log}}
	h.deaths = h.file.load()
	return h
}

func (h *history) add(d stats.Death) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deaths = pushBounded(h.deaths, d, keepHistory)
	if h.file != nil {
		h.file.add(d)
	}
}

// insert adds a death that was before others of the list.
func (h *history) insert(d stats.Death) {
	h.add(d)
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortStableFunc(h.deaths, func(a, b stats.Death) int { return a.Time.Compare(b.Time) })
}

func (h *history) list() []stats.Death {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.deaths)
}

// flush waits until all is on disk, if the disk lets it.
func (h *history) flush() {
	if h.file != nil {
		h.file.flush()
	}
}
