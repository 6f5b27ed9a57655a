package metrics

import (
	"strings"
	"sync"
	"sync/atomic"
)

// maxActors bounds the number of different actor labels, so that no mistake elsewhere floods Prometheus.
const maxActors = 200

// other stands for all that is too much.
const other = "other"

// labels gives actors their labels, and remembers which it has given.
type labels struct {
	groups []string // see SetOptions
	given  sync.Map // label → nothing
	count  atomic.Int64
}

// of is the label of an actor at a path below the root. A shared label belongs to several actors, which come and go.
func (l *labels) of(path string) (label string, shared bool) {
	for _, g := range l.groups {
		if strings.HasPrefix(path, g) {
			return strings.TrimRight(g, "-"), true
		}
	}
	if _, known := l.given.Load(path); known {
		return path, false
	}
	if l.count.Load() >= maxActors {
		return other, true
	}
	if _, raced := l.given.LoadOrStore(path, struct{}{}); !raced {
		l.count.Add(1)
	}
	return path, false
}

// below cuts the name of the root off a path.
func below(path string) string {
	_, rest, _ := strings.Cut(path, "/")
	return rest
}
