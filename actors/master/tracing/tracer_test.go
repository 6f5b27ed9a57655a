package tracing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/config"
	"brine/supervisor"
	"brine/wire/otlp"
)

// traceRig is a Tracer whose spans are the names of its jobs.
type traceRig struct {
	ref           *supervisor.Ref
	got           chan string
	post          func(ctx context.Context) error
	sent, dropped atomic.Int64 // spans
	log           *actortest.Log
	tree          *supervisor.Supervisor
}

func newTraceRig(t *testing.T, idle time.Duration) *traceRig {
	t.Helper()
	r := &traceRig{got: make(chan string, 1000), log: actortest.NewLog(), post: func(context.Context) error {
		return nil
	}}
	opt := tracerOptions{
		spans: func(j *tracedJob) []otlp.Resource {
			if strings.HasPrefix(j.jid, "gone") {
				return nil
			}
			name := j.jid
			if j.told {
				name += " late " + strings.Join(j.late, ",")
			}
			return []otlp.Resource{{Spans: []otlp.Span{{Name: name}}}}
		},
		post: func(ctx context.Context, rs []otlp.Resource) error {
			if err := r.post(ctx); err != nil {
				return err
			}
			for _, one := range rs {
				r.got <- one.Spans[0].Name
			}
			return nil
		},
		count: func(result string, n int) {
			r.counter(result).Add(int64(n))
		}, now: time.Now, tick: time.Millisecond, settle: time.Millisecond, idle: idle, log: r.log.Logger(),
	}
	r.tree = actortest.Start(t, supervisor.Options{})
	r.ref = actortest.Add(t, r.tree, supervisor.Spec{Name: "Tracer", New: func() supervisor.Actor {
		return &tracer{opt: opt}
	}})
	return r
}

// patience bounds every wait of a test; it is reached only when something is wrong.
const patience = time.Minute

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for limit := time.Now().Add(patience); !holds(); <-again.C {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *traceRig) counter(result string) *atomic.Int64 {
	if result == Sent {
		return &r.sent
	}
	return &r.dropped
}

func (r *traceRig) counted(t *testing.T, result string) int {
	t.Helper()
	return int(r.counter(result).Load())
}

func TestTracerTellsWholeJobs(t *testing.T) {
	r := newTraceRig(t, time.Hour)
	r.ref.Send(&TraceJob{JID: "1", Minions: 2})
	r.ref.Send(&TraceJob{JID: "2", Minions: 1})
	r.ref.Send(&TraceReturn{JID: "1", ID: "a"})
	r.ref.Send(&TraceReturn{JID: "2", ID: "a"})
	r.ref.Send(&TraceReturn{JID: "nobody's", ID: "a"})
	if got := actortest.Wait(t, "span", r.got); got != "2" { // 1 waits for another return
		t.Errorf("got %q", got)
	}
	r.ref.Send(&TraceReturn{JID: "1", ID: "b"})
	if got := actortest.Wait(t, "span", r.got); got != "1" {
		t.Errorf("got %q", got)
	}
	r.ref.Send(&TraceReturn{JID: "1", ID: "c"})
	if got := actortest.Wait(t, "span", r.got); got != "1 late c" {
		t.Errorf("got %q", got)
	}
}

// TestTracerGivesUpWaiting: a job with a silent minion is told all the same.
func TestTracerGivesUpWaiting(t *testing.T) {
	r := newTraceRig(t, 20*time.Millisecond)
	r.ref.Send(&TraceJob{JID: "1", Minions: 2})
	if got := actortest.Wait(t, "span", r.got); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestTracerForgets(t *testing.T) {
	r := newTraceRig(t, time.Hour)
	for i := range maxTraced + 10 {
		r.ref.Send(&TraceJob{JID: fmt.Sprint(i), Minions: 1})
	}
	r.ref.Send(&TraceJob{JID: "gone", Minions: 0}) // the ledger knows nothing of it
	r.ref.Send(&TraceReturn{JID: "0", ID: "a"})
	r.ref.Send(&TraceReturn{JID: fmt.Sprint(maxTraced), ID: "a"})
	if got := actortest.Wait(t, "span", r.got); got != fmt.Sprint(maxTraced) {
		t.Errorf("got %q", got)
	}
	until(t, "12 dropped jobs", func() bool { return r.counted(t, Dropped) == 12 })
}

// TestSlowCollectorHoldsUpNobody: while a delivery hangs the Tracer takes what comes, and ends when it is told to.
func TestSlowCollectorHoldsUpNobody(t *testing.T) {
	r := newTraceRig(t, time.Hour)
	hangs := make(chan struct{}, 10)
	r.post = func(ctx context.Context) error {
		hangs <- struct{}{}
		<-ctx.Done()
		return &otlp.RetryError{Err: context.Cause(ctx)}
	}
	r.ref.Send(&TraceJob{JID: "0"})
	actortest.Wait(t, "delivery", hangs)
	for i := range 3 * maxTraced {
		r.ref.Send(&TraceJob{JID: fmt.Sprint("x", i)})
	}
	until(t, "an empty mailbox", func() bool { return r.ref.Depth() == 0 })
	if report := r.tree.Stop(patience); len(report.Abandoned) > 0 {
		t.Errorf("abandoned: %v", report.Abandoned)
	}
	if r.counted(t, Dropped) == 0 {
		t.Error("nothing was counted as dropped")
	}
}

func TestExportTriesAgain(t *testing.T) {
	r := newTraceRig(t, time.Hour)
	var n atomic.Int64
	r.post = func(context.Context) error {
		switch n.Add(1) {
		case 1:
			return &otlp.RetryError{Err: errors.New("later")}
		case 3:
			return fmt.Errorf("%w: never", otlp.ErrRejected)
		}
		return nil
	}
	for _, jid := range []string{"1", "2", "3"} {
		r.ref.Send(&TraceJob{JID: jid})
		if jid == "2" { // rejected for good
			until(t, "the rejected span in the counter", func() bool { return r.counted(t, Dropped) == 1 })
			continue
		}
		if got := actortest.Wait(t, "span", r.got); got != jid {
			t.Errorf("got %q, want %s", got, jid)
		}
	}
	r.log.Await(t, "ERROR traces cannot be delivered")
	r.log.Await(t, "WARN traces are delivered again")
}

func TestSampler(t *testing.T) {
	low, high := otlp.Parent{Trace: otlp.TraceID{8: 0x10}}, otlp.Parent{Trace: otlp.TraceID{8: 0xf0}, Sampled: true}
	for _, tt := range []struct {
		name          string
		arg           float64
		low, high     bool // of ours
		lowIn, highIn bool // that go on from outside
	}{
		{"always_on", 0, true, true, true, true},
		{"always_off", 1, false, false, false, false},
		{"trace_id_ratio", 0.5, true, false, true, false},
		{"trace_id_ratio", 1, true, true, true, true},
		{"trace_id_ratio", 0, false, false, false, false},
		{"parent_based", 0.5, true, false, false, true},
		{"parent_based", 1, true, true, false, true},
		{"nonsense", 1, true, true, false, true},
	} {
		keep := sampler(config.Tracing{Sampler: tt.name, SamplerArg: tt.arg})
		if got := [4]bool{keep(low, false), keep(high, false), keep(low, true),
			keep(high, true)}; got != [4]bool{tt.low, tt.high, tt.lowIn, tt.highIn} {
			t.Errorf("%s %v: got %v", tt.name, tt.arg, got)
		}
	}
}

func TestEndpointOf(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if got := endpointOf("http://c/x", get); got != "http://c/x" {
		t.Errorf("configured: %s", got)
	}
	if got := endpointOf("", get); got != otlp.DefaultURL {
		t.Errorf("nothing: %s", got)
	}
	env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://c:4318/"
	if got := endpointOf("", get); got != "http://c:4318/v1/traces" {
		t.Errorf("for all signals: %s", got)
	}
	env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://d/t"
	if got := endpointOf("", get); got != "http://d/t" {
		t.Errorf("for traces: %s", got)
	}
}

func TestUnknownExporter(t *testing.T) {
	log := actortest.NewLog()
	if New(Options{Config: config.Tracing{Enabled: true, Exporter: "otlp-grpc"}, Log: log.Logger()}) != nil {
		t.Error("it traces")
	}
	log.Await(t, "ERROR Unknown tracing exporter 'otlp-grpc'; tracing will be a no-op")
}
