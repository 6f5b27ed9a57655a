package supervisor

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"brine/supervisor/stats"
)

// keepHistory is how many deaths are kept for a whole tree, in memory and on disk.
const keepHistory = 200

// history holds the last deaths of a tree, including those of earlier processes.
type history struct {
	strays atomic.Uint64 // deaths of no living child
	file   *deathFile    // nil: the history ends with the process
	mu     sync.Mutex
	deaths []stats.Death
}

// newHistory begins with the content of the file, if there is one.
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

// insert adds a death that is older than others in the list.
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

// flush waits until all deaths are on disk, or the disk takes too long.
func (h *history) flush() {
	if h.file != nil {
		h.file.flush()
	}
}
