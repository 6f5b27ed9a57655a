package metrics

import (
	"math"

	"brine/supervisor/stats"

	"github.com/prometheus/client_golang/prometheus"
)

// number is one metric of an actor.
type number struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(c *stats.Child) float64
}

func actorDesc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("brine_actor_"+name, help, append([]string{"actor"}, more...), nil)
}

// numbers are the metrics of permanent actors. Children that come and go have only their number, mailbox and
// age, because a counter that disappears with its child would run backwards.
var numbers = []number{
	{actorDesc("restarts_total", "Times the actor was started again."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Restarts) }},
	{actorDesc("messages_received_total", "Messages taken into the mailbox."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Received) }},
	{actorDesc("messages_sent_total", "Messages the actor has sent."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Sent) }},
	{actorDesc("messages_failed_total", "Messages that crashed the actor, or that it counted as failed."),
		prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Failed) }},
	{actorDesc("messages_lost_total", "Messages that no incarnation has handled to the end; "+
		"brine_dead_letters_total tells why."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Lost) }},
	{actorDesc("busy_ratio", "Share of the last 10 to 20 seconds spent in handlers."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return c.Busy }},
	{actorDesc("in_hand_seconds", "Age of the message being handled, 0 when there is none."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return float64(c.InHandMS) / 1e3 }},
	{actorDesc("slow_handlers_total", "Handlers that ran for so long that they were reported."),
		prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Slow) }},
	{actorDesc("quarantined_total", "Messages set aside because they have killed the actor twice; workers of one "+
		"pool share the number."), prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Quarantined) }},
	{actorDesc("stuck_goroutines", "Goroutines of abandoned incarnations that still run."), prometheus.GaugeValue,
		func(c *stats.Child) float64 { return float64(c.Stuck) }},
	{actorDesc("abandoned_total", "Incarnations that did not end in time and were left behind."),
		prometheus.CounterValue,
		func(c *stats.Child) float64 { return float64(c.Abandoned) }},
}

var (
	descActors   = prometheus.NewDesc("brine_actors", "Actors by state.", []string{"actor", "state"}, nil)
	descMailbox  = actorDesc("mailbox_messages", "Messages waiting.")
	descOldest   = actorDesc("mailbox_oldest_seconds", "Age of the oldest message waiting, 0 when there is none.")
	descHandling = actorDesc("handling_seconds", "Time that handlers took.")
	descWaiting  = actorDesc("waiting_seconds", "Time that messages waited in the mailbox.")
	descLetters  = prometheus.NewDesc("brine_dead_letters_total", "Messages that nobody has handled to the end, by "+
		"what became of them; nobody: there was no such actor.", []string{"kind"}, nil)
	descStrays = prometheus.NewDesc("brine_stray_deaths_total", "Deaths that belonged to no living child, such as "+
		"the late end of an abandoned one.", nil, nil)
)

// treeCollector walks the supervisor's snapshot at each scrape. It costs nothing in between.
type treeCollector struct{ set *Set }

// Describe sends the possible metrics.
func (t *treeCollector) Describe(to chan<- *prometheus.Desc) {
	for _, n := range numbers {
		to <- n.desc
	}
	for _, d := range []*prometheus.Desc{descActors, descMailbox, descOldest, descHandling, descWaiting, descLetters,
		descStrays} {
		to <- d
	}
	t.set.deaths.Describe(to)
}

// Collect sends the current metrics.
func (t *treeCollector) Collect(to chan<- prometheus.Metric) {
	defer t.set.deaths.Collect(to) // after the walk, which names the actors
	tree := t.set.tree.Load()
	if tree == nil {
		return
	}
	w := &walk{labels: t.set.labels, deaths: t.set.deaths, to: to, rows: map[string]*row{},
		lost: map[string]uint64{"nobody": tree.DeadLetters()}}
	for _, kind := range stats.LossNames() {
		w.lost[kind] = 0
	}
	w.all(tree.Snapshot())
	for label, r := range w.rows {
		r.tell(label, to)
	}
	for kind, n := range w.lost {
		to <- prometheus.MustNewConstMetric(descLetters, prometheus.CounterValue, float64(n), kind)
	}
	to <- prometheus.MustNewConstMetric(descStrays, prometheus.CounterValue, float64(tree.Strays()))
}

// walk is one walk through the tree.
type walk struct {
	labels *labels
	deaths *prometheus.CounterVec
	to     chan<- prometheus.Metric
	rows   map[string]*row
	lost   map[string]uint64 // dead letters by kind
}

// row holds the sums under one label.
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
	for _, how := range []string{diedExit, diedPanic, diedAbandoned} { // a counter must start at 0
		w.deaths.WithLabelValues(label, how)
	}
	for kind, n := range c.DeadLetters {
		w.lost[kind] += n
	}
	for desc, s := range map[*prometheus.Desc]stats.Spread{descHandling: c.Handling, descWaiting: c.Waiting} {
		if s.Count > 0 { // many actors never get a message
			w.to <- histogram(desc, s, label)
		}
	}
}

func (r *row) tell(label string, to chan<- prometheus.Metric) {
	r.states[stats.StateRunning] += 0 // this state is always shown
	for s, n := range r.states {
		to <- prometheus.MustNewConstMetric(descActors, prometheus.GaugeValue, float64(n), label, s)
	}
	to <- prometheus.MustNewConstMetric(descMailbox, prometheus.GaugeValue, float64(r.mailbox), label)
	to <- prometheus.MustNewConstMetric(descOldest, prometheus.GaugeValue, float64(r.oldest)/1e3, label)
}

// The buckets of stats.Histogram end at powers of two from 2^9 ns on. Every third bound from 2^10 ns (1 us) to 2^37 ns
// (137 s) is shown.
const (
	firstBound = 9
	lowest     = 10
	highest    = 37
	everyBound = 3
)

// histogram converts a Spread. A bucket of Prometheus includes its bound, and a bucket of a Spread does not.
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
