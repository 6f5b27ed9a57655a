package minion

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

// meter counts what the minion does, for Prometheus. A nil meter counts nothing. The metrics that begin with salt_ are
// those of Salt 3008 (salt/utils/metrics.py), with seconds where it has milliseconds. All labels are bounded.
type meter struct {
	known func(fun string) bool // functions that have a label of their own

	jobs, signIns, connections, attempts, dropped *prometheus.CounterVec
	seconds                                       *prometheus.HistogramVec

	running, queued atomic.Int64 // jobs
}

// linkGauges are what a connection shows of its returns.
type linkGauges struct {
	returns, bytes atomic.Int64 // that the master has not acknowledged; bytes of those on disk
}

// execBounds are the upper bounds of buckets in seconds, where the configuration says nothing.
var execBounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// measure makes the counters of the minion, where somebody wants them. given are the upper bounds of buckets that the
// configuration names.
func (m *Minion) measure(given []float64) error {
	reg := m.opt.Metrics
	if reg == nil {
		return nil
	}
	bounds := execBounds
	if len(given) > 0 {
		bounds = given
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m.meter = &meter{
		known:   func(fun string) bool { _, ok := m.opt.Registry.Lookup(fun); return ok },
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
	for _, c := range []prometheus.Collector{m.meter.jobs, m.meter.signIns, m.meter.connections, m.meter.attempts,
		m.meter.dropped, m.meter.seconds, m.gauges()} {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	for _, l := range m.links {
		m.meter.connections.WithLabelValues(l.name())
		m.meter.dropped.WithLabelValues(l.name())
	}
	return nil
}

// outcomeFailed is the outcome of a function that has returned and says itself that it has failed.
const outcomeFailed = "failed"

// job counts a job that has ended.
func (m *meter) job(job *payload.Job, ret *payload.Return, facts ledger.Minion) {
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

// inHand notes how many jobs run and wait.
func (m *meter) inHand(running, queued int) {
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

func (m *meter) signIn(l *link, v auth.Verdict) {
	if m == nil {
		return
	}
	result, known := verdicts[v]
	if !known {
		result = "error"
	}
	m.signIns.WithLabelValues(l.name(), result).Inc()
}

func (m *meter) connected(l *link) {
	if m != nil {
		m.connections.WithLabelValues(l.name()).Inc()
	}
}

// tried counts an attempt to deliver a return.
func (m *meter) tried(l *link, err error) {
	if m == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.attempts.WithLabelValues(l.name(), result).Inc()
}

func (m *meter) drop(l *link) {
	if m != nil {
		m.dropped.WithLabelValues(l.name()).Inc()
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

func (m *Minion) gauges() prometheus.Collector {
	return gauges.Look(m.tellGauges, lookRunning, lookQueued, lookConnected, lookReturns, lookSpool, lookJournal,
		lookFunctions)
}

// tellGauges tells what there is.
func (m *Minion) tellGauges(tell gauges.Tell) {
	tell(lookRunning, float64(m.meter.running.Load()))
	tell(lookQueued, float64(m.meter.queued.Load()))
	tell(lookFunctions, float64(len(m.opt.Registry.Names())))
	for _, l := range m.links {
		up := 0.0
		if l.connected.Load() {
			up = 1
		}
		tell(lookConnected, up, l.name())
		tell(lookReturns, float64(l.gauges.returns.Load()), l.name())
		tell(lookSpool, float64(l.gauges.bytes.Load()), l.name())
	}
	if info, err := os.Stat(m.journalPath()); err == nil {
		tell(lookJournal, float64(info.Size()))
	}
}
