package master

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/config"
	"brine/supervisor"
	"brine/wire/otlp"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is a receiver of OTLP over HTTP that reads what it gets with OpenTelemetry's own definitions.
type collector struct {
	server *httptest.Server
	got    chan *tracepb.TracesData
	header chan http.Header
	refuse atomic.Int64 // requests that are answered with "later"
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{got: make(chan *tracepb.TracesData, 100), header: make(chan http.Header, 100)}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		switch {
		case err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf":
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
			w.WriteHeader(http.StatusBadRequest)
		case c.refuse.Add(-1) >= 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			c.header <- r.Header
			c.got <- &data
		}
	}))
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) url() string { return c.server.URL + "/v1/traces" }

// read are the spans of one request, by name, with the service that has done each.
func read(data *tracepb.TracesData) (spans map[string]*tracepb.Span, services map[string]string) {
	spans, services = map[string]*tracepb.Span{}, map[string]string{}
	for _, rs := range data.GetResourceSpans() {
		for _, s := range rs.GetScopeSpans()[0].GetSpans() {
			spans[s.GetName()] = s
			services[s.GetName()] = rs.GetResource().GetAttributes()[0].GetValue().GetStringValue()
		}
	}
	return spans, services
}

// TestTracesReachACollector runs a job of a minion of brine on a master that traces.
func TestTracesReachACollector(t *testing.T) {
	c := newCollector(t)
	r := newSite(t, "tracing: {enabled: True, endpoint: '"+c.url()+"', service_name: my-master, headers: {x-token: secret}, resource_attributes: {site: north}}")
	reg := prometheus.NewRegistry()
	r.metrics = reg
	r.start()
	m1 := r.minion("m1")
	ear := r.hear()
	const outside = "00-0102030405060708090a0b0c0d0e0f10-0a00000000000000-01"
	jid := r.publish(payload.M("tgt", "m1", "traceparent", outside))
	now := time.Now()
	r.m.NoteClient(jid, payload.M("pid", 1, "started", now.Add(-time.Second).UnixMicro(), "sent", now.Add(-time.Second).UnixMicro(),
		"replied", now.UnixMicro(), "ended", now.Add(time.Minute).UnixMicro())) // before the return: after that the spans are soon told
	m1.ask(ret("m1", jid))
	spans, services := read(actortest.Wait(t, "spans", c.got))
	want := map[string]string{"salt.cli.test.ping": "salt", "salt.req.send.publish": "salt", "salt.req.recv.publish": "my-master", "brine.request.wait": "my-master",
		"brine.job.target": "my-master", "salt.pub.send": "my-master", "salt.req.recv._return": "my-master"}
	delete(services, "brine.job.save") // is told when the facts are on disk already
	if diff := cmp.Diff(want, services); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	parent, _ := otlp.ParseParent(outside)
	for name, s := range spans {
		if !slices.Equal(s.GetTraceId(), parent.Trace[:]) || len(s.GetSpanId()) != 8 || s.GetStartTimeUnixNano() == 0 || s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
			t.Errorf("%s: %v", name, s)
		}
	}
	if got := spans["salt.cli.test.ping"].GetParentSpanId(); !slices.Equal(got, parent.Span[:]) {
		t.Errorf("the root goes on from %x, want %x", got, parent.Span)
	}
	if h := actortest.Wait(t, "header", c.header); h.Get("X-Token") != "secret" {
		t.Errorf("got %v", h)
	}
	published := ear.await("salt/job/" + jid + "/publish")
	inside, ok := otlp.ParseParent(published.Str("traceparent"))
	if !ok || inside.Trace != parent.Trace || !slices.Equal(spans["salt.pub.send"].GetSpanId(), inside.Span[:]) {
		t.Errorf("minions go on from %q", published.Str("traceparent"))
	}
	r.eventually("the counter", func() error {
		if n := gathered(t, reg)["brine_trace_spans_total{result=sent}"]; n < float64(len(want)) {
			return fmt.Errorf("%v spans are counted", n)
		}
		return nil
	})
}

// TestNoTraces: without the option there is no Tracer, and publications are as ever.
func TestNoTraces(t *testing.T) {
	r := newRig(t)
	r.accept("m1", "minion")
	ear := r.hear()
	jid := r.publish(payload.M("tgt", "m1"))
	if got := ear.await("salt/job/" + jid + "/publish"); got.Has("traceparent") {
		t.Errorf("got %v", got)
	}
	if _, ok := r.m.Supervisor().Lookup("Tracer"); ok {
		t.Error("there is a Tracer")
	}
}

// traceRig is a Tracer whose spans are the names of its jobs.
type traceRig struct {
	ref  *supervisor.Ref
	got  chan string
	post func(ctx context.Context) error
	reg  *prometheus.Registry
	log  *actortest.Log
	tree *supervisor.Supervisor
}

func newTraceRig(t *testing.T, idle time.Duration) *traceRig {
	t.Helper()
	r := &traceRig{got: make(chan string, 1000), log: actortest.NewLog(), post: func(context.Context) error { return nil }}
	var m *meter
	m, r.reg = newTestMeter(t, config.Metrics{})
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
		meter: m, now: time.Now, tick: time.Millisecond, settle: time.Millisecond, idle: idle, log: r.log.Logger(),
	}
	r.tree = actortest.Start(t, supervisor.Options{})
	r.ref = actortest.Add(t, r.tree, supervisor.Spec{Name: "Tracer", New: func() actor.Actor { return &tracer{opt: opt} }})
	return r
}

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

func (r *traceRig) counted(t *testing.T, result string) float64 {
	t.Helper()
	return gathered(t, r.reg)["brine_trace_spans_total{result="+result+"}"]
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
	until(t, "12 dropped jobs", func() bool { return r.counted(t, spansDropped) == 12 })
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
	if r.counted(t, spansDropped) == 0 {
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
			until(t, "the rejected span in the counter", func() bool { return r.counted(t, spansDropped) == 1 })
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
		if got := [4]bool{keep(low, false), keep(high, false), keep(low, true), keep(high, true)}; got != [4]bool{tt.low, tt.high, tt.lowIn, tt.highIn} {
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
	c := &core{cfg: &config.Master{}, log: log.Logger()}
	c.cfg.Tracing = payload.M("enabled", true, "exporter", "otlp-grpc")
	if c.newTracing(Options{}) != nil {
		t.Error("it traces")
	}
	log.Await(t, "ERROR Unknown tracing exporter 'otlp-grpc'; tracing will be a no-op")
}
