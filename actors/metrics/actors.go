package metrics

import (
	"math"

	"brine/supervisor/stats"

	"github.com/prometheus/client_golang/prometheus"
)

// number is one figure of an actor.
type number struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(c *stats.Child) float64
}

func actorDesc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("brine_actor_"+name, help, append([]string{"actor"}, more...), nil)
}

// numbers are the figures of actors that stay. For children that come and go only Actors, mailbox and age are shown:
// a counter that leaves with its child would run backwards.
var numbers = []number{
	{actorDesc("restarts_total", "Times the actor was started again."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Restarts) }},
	{actorDesc("messages_received_total", "Messages taken into the mailbox."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Received) }},
	{actorDesc("messages_sent_total", "Messages the actor has sent."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Sent) }},
	{actorDesc("messages_failed_total", "Messages that crashed the actor, or that it counted as failed."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Failed) }},
	{actorDesc("busy_ratio", "Share of the last 10 to 20 seconds spent in handlers."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return c.Busy }},
	{actorDesc("in_hand_seconds", "Age of the message being handled, 0 when there is none."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return float64(c.InHandMS) / 1e3 }},
	{actorDesc("slow_handlers_total", "Handlers that ran for so long that they were reported."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Slow) }},
	{actorDesc("quarantined_total", "Messages set aside because they have killed the actor twice; workers of one pool share the number."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Quarantined) }},
	{actorDesc("stuck_goroutines", "Goroutines of abandoned incarnations that still run."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return float64(c.Stuck) }},
	{actorDesc("abandoned_total", "Incarnations that did not end in time and were left behind."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Abandoned) }},
}

var (
	descActors   = prometheus.NewDesc("brine_actors", "Actors by state.", []string{"actor", "state"}, nil)
	descMailbox  = actorDesc("mailbox_messages", "Messages waiting.")
	descOldest   = actorDesc("mailbox_oldest_seconds", "Age of the oldest message waiting, 0 when there is none.")
	descLost     = actorDesc("dead_letters_total", "Messages that no incarnation has handled to the end, by what became of them.", "kind")
	descHandling = actorDesc("handling_seconds", "Time that handlers took.")
	descWaiting  = actorDesc("waiting_seconds", "Time that messages waited in the mailbox.")
	descLetters  = prometheus.NewDesc("brine_dead_letters_total", "Messages to actors that are gone.", nil, nil)
	descStrays   = prometheus.NewDesc("brine_stray_deaths_total", "Deaths that belonged to no living child, such as the late end of an abandoned one.", nil, nil)
)

// states are all that a child can be in.
var states = []string{
	stats.StateStarting, stats.StateRunning, stats.StateBackoff, stats.StateStopping, stats.StateDead, stats.StateStopped, stats.StateRestarting,
}

// treeCollector walks the supervisor's snapshot when it is asked. It costs nothing in between.
type treeCollector struct{ set *Set }

// Describe tells what there can be.
func (t *treeCollector) Describe(to chan<- *prometheus.Desc) {
	for _, n := range numbers {
		to <- n.desc
	}
	for _, d := range []*prometheus.Desc{descActors, descMailbox, descOldest, descLost, descHandling, descWaiting, descLetters, descStrays} {
		to <- d
	}
}

// Collect tells what there is.
func (t *treeCollector) Collect(to chan<- prometheus.Metric) {
	tree := t.set.tree.Load()
	if tree == nil {
		return
	}
	w := &walk{labels: t.set.labels, to: to, rows: map[string]*row{}}
	w.all(tree.Snapshot())
	for label, r := range w.rows {
		r.tell(label, to)
	}
	to <- prometheus.MustNewConstMetric(descLetters, prometheus.CounterValue, float64(tree.DeadLetters()))
	to <- prometheus.MustNewConstMetric(descStrays, prometheus.CounterValue, float64(tree.Strays()))
}

// walk is one look at the tree.
type walk struct {
	labels *labels
	to     chan<- prometheus.Metric
	rows   map[string]*row
}

// row is what is added up under one label.
type row struct {
	states  map[string]int
	mailbox int
	oldest  int64 // milliseconds
}

func (w *walk) all(children []stats.Child) {
	for i := range children {
		c := &children[i]
		label, shared := w.labels.of(below(c.Path))
		w.add(label, c)
		if !shared {
			w.tell(label, c)
		}
		w.all(c.Children)
	}
}

func (w *walk) add(label string, c *stats.Child) {
	r := w.rows[label]
	if r == nil {
		r = &row{states: map[string]int{}}
		w.rows[label] = r
	}
	r.states[c.State]++
	r.mailbox += c.Mailbox
	r.oldest = max(r.oldest, c.OldestMS)
}

func (w *walk) tell(label string, c *stats.Child) {
	for _, n := range numbers {
		w.to <- prometheus.MustNewConstMetric(n.desc, n.kind, n.read(c), label)
	}
	for _, kind := range stats.LossNames() {
		w.to <- prometheus.MustNewConstMetric(descLost, prometheus.CounterValue, float64(c.DeadLetters[kind]), label, kind)
	}
	w.to <- histogram(descHandling, c.Handling, label)
	w.to <- histogram(descWaiting, c.Waiting, label)
}

func (r *row) tell(label string, to chan<- prometheus.Metric) {
	for _, s := range states {
		to <- prometheus.MustNewConstMetric(descActors, prometheus.GaugeValue, float64(r.states[s]), label, s)
	}
	to <- prometheus.MustNewConstMetric(descMailbox, prometheus.GaugeValue, float64(r.mailbox), label)
	to <- prometheus.MustNewConstMetric(descOldest, prometheus.GaugeValue, float64(r.oldest)/1e3, label)
}

// The buckets of stats.Histogram end at powers of two from 2^9 ns on. Every second bound from 2^10 ns (1 us) to
// 2^38 ns (275 s) is shown.
const (
	firstBound = 9
	lowest     = 10
	highest    = 38
	everyBound = 2
)

// histogram shows a Spread. A bucket of Prometheus holds what is at most its bound, one of ours what is below it.
func histogram(desc *prometheus.Desc, s stats.Spread, label string) prometheus.Metric {
	buckets := make(map[float64]uint64, (highest-lowest)/everyBound+1)
	var sum uint64
	next := 0
	for exp := lowest; exp <= highest; exp += everyBound {
		for ; next <= exp-firstBound && next < len(s.Buckets); next++ {
			sum += s.Buckets[next]
		}
		buckets[math.Ldexp(1, exp)/1e9] = sum
	}
	return prometheus.MustNewConstHistogram(desc, s.Count, float64(s.SumUS)/1e6, buckets, label)
}
