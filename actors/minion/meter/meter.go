// Package meter counts what a minion does, for Prometheus: jobs, sign-ins, connections, returns. It owns the counters
// and knows no part of the minion: each part tells it what happens, with the name of a master as a label, and the
// minion says what there is when Prometheus comes.
package meter

import (
	"fmt"
	"os"
	"sync/atomic"

	"brine/modules/fleet/ledger"
	"brine/modules/host/gauges"
	"brine/wire/auth"
	"brine/wire/payload"

	"github.com/prometheus/client_golang/prometheus"
)

// Meter counts what the minion does, for Prometheus. A nil meter counts nothing. The metrics that begin with salt_ are
// those of Salt 3008 (salt/utils/metrics.py), with seconds where it has milliseconds. All labels are bounded.
type Meter struct {
	known func(fun string) bool // tells the functions that have a label of their own

	jobs, signIns, connections, attempts, dropped *prometheus.CounterVec
	seconds                                       *prometheus.HistogramVec

	running, queued atomic.Int64 // jobs
}

// Options are what a Meter is made from, and whom it asks when Prometheus comes.
type Options struct {
	Registry  prometheus.Registerer // nil: nothing is counted
	Buckets   []float64             // upper bounds that the configuration names; none: the usual ones
	Names     []string              // of the masters, as labels
	Masters   func() []Master
	Known     func(fun string) bool // tells the functions that have a label of their own
	Functions func() int            // how many there are
	Journal   string                // path of the journal
}

// Master is what a connection to a master shows.
type Master struct {
	Name           string
	Connected      bool
	Returns, Bytes int64 // that the master has not acknowledged; bytes of those on disk
}

// execBounds are the upper bounds of buckets in seconds, where the configuration says nothing.
var execBounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// New makes the counters of a minion, where somebody wants them; else the Meter is nil.
func New(opt Options) (*Meter, error) {
	if opt.Registry == nil {
		return nil, nil
	}
	bounds := execBounds
	if len(opt.Buckets) > 0 {
		bounds = opt.Buckets
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Meter{
		known:   opt.Known,
		jobs:    counters("brine_minion_jobs_total", "Jobs by function and by how they ended.", "fun", "outcome"),
		signIns: counters("brine_minion_sign_ins_total", "Sign-ins by what came of them.", "master", "result"),
		connections: counters("brine_minion_connections_total", "Connections made to the publish port of a master.",
			"master"),
		attempts: counters("brine_minion_return_attempts_total", "Attempts to deliver a return.", "master", "result"),
		dropped: counters("brine_minion_returns_dropped_total", "Returns given up, or replaced by the reason: too "+
			"old, or too large to be kept.", "master"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "salt_minion_exec_duration_seconds", Help: "Time that functions took.", Buckets: bounds,
		}, []string{"fun"}),
	}
	for _, c := range []prometheus.Collector{m.jobs, m.signIns, m.connections, m.attempts, m.dropped, m.seconds,
		m.gauges(opt)} {
		if err := opt.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	for _, name := range opt.Names {
		m.connections.WithLabelValues(name)
		m.dropped.WithLabelValues(name)
	}
	return m, nil
}

// outcomeFailed is the outcome of a function that has returned and says itself that it has failed.
const outcomeFailed = "failed"

// Job counts a job that has ended.
func (m *Meter) Job(job *payload.Job, ret *payload.Return, facts ledger.Minion) {
	if m == nil {
		return
	}
	fun, outcome := "other", string(facts.Outcome)
	if name := job.Function(); name != "" && m.known(name) {
		fun = name
	}
	if good, _ := ret.Success(); facts.Outcome == ledger.Done && (ret.Code() != 0 || !good) {
		outcome = outcomeFailed
	}
	m.jobs.WithLabelValues(fun, outcome).Inc()
	if facts.Started != 0 && facts.Ended != 0 {
		m.seconds.WithLabelValues(fun).Observe(max(facts.Ended.Sub(facts.Started), 0).Seconds())
	}
}

// InHand notes how many jobs run and wait.
func (m *Meter) InHand(running, queued int) {
	if m != nil {
		m.running.Store(int64(running))
		m.queued.Store(int64(queued))
	}
}

// verdicts are the labels of sign-ins; Salt's words where it has them.
var verdicts = map[auth.Verdict]string{
	auth.Accepted: "success", auth.Pending: "pending", auth.Retry: "retry", auth.Full: "max_minions",
	auth.Rejected: "rejected", auth.Fatal: "fatal",
}

// SignIn counts a sign-in to a master.
func (m *Meter) SignIn(master string, v auth.Verdict) {
	if m == nil {
		return
	}
	result, known := verdicts[v]
	if !known {
		result = "error"
	}
	m.signIns.WithLabelValues(master, result).Inc()
}

// Connected counts a connection to the publish port of a master.
func (m *Meter) Connected(master string) {
	if m != nil {
		m.connections.WithLabelValues(master).Inc()
	}
}

// Tried counts an attempt to deliver a return.
func (m *Meter) Tried(master string, err error) {
	if m == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.attempts.WithLabelValues(master, result).Inc()
}

// Drop counts a return that is given up.
func (m *Meter) Drop(master string) {
	if m != nil {
		m.dropped.WithLabelValues(master).Inc()
	}
}

// What the minion is asked for when Prometheus comes, and does not count in between.
var (
	lookRunning   = gauges.Gauge("brine_minion_jobs_running", "Jobs that run.")
	lookQueued    = gauges.Gauge("brine_minion_jobs_queued", "Jobs that wait behind process_count_max.")
	lookConnected = gauges.Gauge("brine_minion_master_connected", "Whether the publish port of a master is connected.",
		"master")
	lookReturns = gauges.Gauge("brine_minion_returns_waiting", "Returns that a master has not acknowledged.",
		"master")
	lookSpool     = gauges.Gauge("brine_minion_spool_bytes", "Size of those that are on disk.", "master")
	lookJournal   = gauges.Gauge("brine_minion_journal_bytes", "Size of the journal of jobs and returns.")
	lookFunctions = gauges.Gauge("brine_minion_functions", "Functions that jobs may call.")
)

func (m *Meter) gauges(opt Options) prometheus.Collector {
	return gauges.Look(func(tell gauges.Tell) {
		m.tell(tell, opt)
	}, lookRunning, lookQueued, lookConnected, lookReturns,
		lookSpool, lookJournal, lookFunctions)
}

// tell tells what there is.
func (m *Meter) tell(tell gauges.Tell, opt Options) {
	tell(lookRunning, float64(m.running.Load()))
	tell(lookQueued, float64(m.queued.Load()))
	tell(lookFunctions, float64(opt.Functions()))
	for _, l := range opt.Masters() {
		up := 0.0
		if l.Connected {
			up = 1
		}
		tell(lookConnected, up, l.Name)
		tell(lookReturns, float64(l.Returns), l.Name)
		tell(lookSpool, float64(l.Bytes), l.Name)
	}
	if info, err := os.Stat(opt.Journal); err == nil {
		tell(lookJournal, float64(info.Size()))
	}
}
