package master

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// maxWeakKeys bounds the ids that are remembered; past it all are told of again.
const maxWeakKeys = 1024

// weakKeys tells once of each minion that is turned away because others could break its key: it asks again and again.
type weakKeys struct {
	told sync.Map // by id
	n    atomic.Int32
}

func (w *weakKeys) say(log *slog.Logger, id, why string) {
	if _, told := w.told.LoadOrStore(id, true); told {
		log.Debug("sign-in refused", "minion", id, "why", why)
		return
	}
	if w.n.Add(1) > maxWeakKeys {
		w.told.Clear()
		w.n.Store(0)
	}
	log.Warn("sign-in refused", "minion", id, "why", why)
}
