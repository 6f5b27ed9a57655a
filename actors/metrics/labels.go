package metrics

import (
	"strings"
	"sync"
	"sync/atomic"
)

// maxActors limits the number of different actor labels, so that no mistake elsewhere floods Prometheus.
const maxActors = 200

// other is the label for all names beyond the limit.
const other = "other"

// labels gives actors their labels, and stores which it has given.
type labels struct {
	groups []string // see SetOptions
	given  sync.Map // set of labels
	count  atomic.Int64
}

// of is the label of the actor at a path below the root. Several actors that come and go have a shared label.
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

// below removes the name of the root from a path.
func below(path string) string {
	_, rest, _ := strings.Cut(path, "/")
	return rest
}
