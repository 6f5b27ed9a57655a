package metrics

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"brine/supervisor"
	"brine/supervisor/stats"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// SetOptions describe a daemon for its metrics.
type SetOptions struct {
	Daemon  string // "master" or "minion"
	Program string // version of the program
	Version string // Salt version as which the daemon answers
	// Groups are prefixes of paths below the root, such as "Jobs/Job-". Children with such a path come and go,
	// and share a label.
	Groups []string
}

// Set is everything that one daemon shows. It is made before the daemon, so that the daemon can register its
// own counters.
type Set struct {
	reg    *prometheus.Registry
	labels *labels
	deaths *prometheus.CounterVec
	tree   atomic.Pointer[supervisor.Supervisor] // nil before Watch
}

// NewSet makes a set with the metrics of every process.
func NewSet(opt SetOptions) (*Set, error) {
	s := &Set{
		reg:    prometheus.NewRegistry(),
		labels: &labels{groups: opt.Groups},
		deaths: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_actor_deaths_total", Help: "Deaths of an actor: exit, panic, or abandoned because it did " +
				"not end.",
		}, []string{"actor", "how"}),
	}
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(opt), &treeCollector{set: s},
	} {
		if err := s.reg.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return s, nil
}

// Registerer registers the daemon's own counters.
func (s *Set) Registerer() prometheus.Registerer { return s.reg }

// Watch shows the actors of a tree.
func (s *Set) Watch(tree *supervisor.Supervisor) { s.tree.Store(tree) }

// These are the kinds of deaths of an actor.
const (
	diedExit      = "exit"
	diedPanic     = "panic"
	diedAbandoned = "abandoned"
)

// OnDeath counts a death.
func (s *Set) OnDeath(d stats.Death) {
	how := diedAbandoned
	switch d.Status {
	case 0:
		how = diedExit
	case 1:
		how = diedPanic
	}
	name, _ := s.labels.of(below(d.Path))
	s.deaths.WithLabelValues(name, how).Inc()
}

// buildInfo is the constant 1 with the versions as labels.
func buildInfo(opt SetOptions) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "brine_build_info", Help: "Always 1; the labels tell what runs.",
		ConstLabels: prometheus.Labels{"daemon": opt.Daemon, "version": opt.Program, "salt_version": opt.Version,
			"goversion": runtime.Version()},
	})
	g.Set(1)
	return g
}
