// Package meter counts what the master does, for Prometheus. A Meter owns all counters, whose labels are bounded. Other
// parts tell it what they did. When Prometheus comes it looks at keys, connections and the size of the job store.
package meter

import (
	"fmt"
	"sync/atomic"

	"brine/actors/master/tracing"
	"brine/config"
	"brine/wire/bus"

	"github.com/prometheus/client_golang/prometheus"
)

// Meter counts what the master does, for Prometheus. A nil meter counts nothing. The metrics that begin with salt_ are
// those of Salt 3008 (salt/utils/metrics.py), with seconds where it has milliseconds. All labels are bounded.
type Meter struct {
	functions map[string]bool // that have a label of their own
	command   func(cmd string) bool
	pools     []string

	published, completed, signIns, events, handled, failed, commits, spans *prometheus.CounterVec
	jobSeconds, requestSeconds, waitSeconds                                *prometheus.HistogramVec
	answerSeconds, commitSeconds, commitEntries                            prometheus.Histogram

	queued []atomic.Int64 // requests waiting for a worker, by pool
	bus    atomic.Pointer[bus.Bus]
}

// other is the label of what is not known.
const other = "other"

// Why a request was not answered as its sender hoped.
const (
	FailedShed      = "shed"      // too many wait
	FailedMalformed = "malformed" // no envelope
	FailedRefused   = "refused"   // it cannot be opened, or is not authentic
	FailedHandler   = "error"     // the command failed
	FailedLate      = "late"      // the deadline
	FailedForbidden = "forbidden" // a minion may not, or has had enough
)

// Upper bounds of buckets in seconds, where the configuration says nothing.
var (
	requestBounds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	jobBounds     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	groupBounds   = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
)

// Options are what a meter is made for.
type Options struct {
	Metrics   config.Metrics
	Functions []string              // that have a label of their own
	Pools     []string              // the names of pools of workers
	Command   func(cmd string) bool // tells whether a command exists: it has a label of its own
}

// New makes the counters of a master.
func New(reg prometheus.Registerer, opt Options) (*Meter, error) {
	m := &Meter{functions: map[string]bool{}, command: opt.Command, pools: opt.Pools,
		queued: make([]atomic.Int64, len(opt.Pools))}
	for _, f := range opt.Functions {
		m.functions[f] = true
	}
	bounds := func(name string, std []float64) []float64 {
		if given := opt.Metrics.Boundaries[name]; len(given) > 0 {
			return given
		}
		return std
	}
	r := registrar{reg: reg}
	m.published = r.counters("salt_jobs_published_total", "Jobs published to minions.", "fun")
	m.completed = r.counters("salt_jobs_completed_total", "Returns received from minions.", "fun", "success")
	m.jobSeconds = r.histograms("salt_job_duration_seconds", "Time from the announcement of a job to each of its "+
		"returns.", bounds("salt.job.duration", jobBounds), "fun")
	m.signIns = r.counters("salt_auth_attempts_total", "Sign-ins of minions by what came of them.", "result")
	m.events = r.counters("salt_events_fired_total", "Events on the bus.", "tag_prefix")
	m.handled = r.counters("salt_master_requests_handled_total", "Requests handled by workers.", "cmd", "pool")
	m.requestSeconds = r.histograms("salt_master_requests_duration_seconds", "Time a worker had a request in hand.",
		bounds("salt.master.requests.duration", requestBounds), "cmd")
	m.waitSeconds = r.histograms("brine_master_request_wait_seconds", "Time from the arrival of a request until a "+
		"worker took it in hand.", requestBounds, "pool")
	m.failed = r.counters("brine_master_requests_failed_total", "Requests that were not answered as hoped.", "reason")
	m.answerSeconds = r.histogram("brine_master_answer_seconds", "Time from the arrival of a request to its answer.",
		requestBounds)
	m.commits = r.counters("brine_store_commits_total", "Commits of the job store.", "result")
	m.commitSeconds = r.histogram("brine_store_commit_seconds", "Time that commits of the job store took.",
		requestBounds)
	m.commitEntries = r.histogram("brine_store_commit_entries", "Loads and returns in one commit.", groupBounds)
	m.spans = r.counters("brine_trace_spans_total", "Spans of jobs by what became of them; a job that was forgotten "+
		"counts as one.", "result")
	for _, result := range []string{tracing.Sent, tracing.Dropped} {
		m.spans.WithLabelValues(result)
	}
	for _, reason := range []string{FailedShed, FailedMalformed, FailedRefused, FailedHandler, FailedLate} {
		m.failed.WithLabelValues(reason)
	}
	for _, result := range []string{resultOK, resultError} {
		m.commits.WithLabelValues(result)
	}
	return m, r.err
}

const (
	resultOK    = "ok"
	resultError = "error"
)

// registrar registers metrics until one cannot be.
type registrar struct {
	reg prometheus.Registerer
	err error
}

func (r *registrar) add(c prometheus.Collector) {
	if r.err == nil {
		if err := r.reg.Register(c); err != nil {
			r.err = fmt.Errorf("metrics: %w", err)
		}
	}
}

func (r *registrar) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.add(c)
	return c
}

func (r *registrar) histograms(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}, labels)
	r.add(h)
	return h
}

func (r *registrar) histogram(name, help string, bounds []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds})
	r.add(h)
	return h
}
