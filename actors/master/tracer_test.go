package master

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/otlp"
	"brine/wire/payload"

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
	r := newSite(t, "tracing: {enabled: True, endpoint: '"+c.url()+"', service_name: my-master, headers: {x-token: "+
		"secret}, resource_attributes: {site: north}}")
	reg := prometheus.NewRegistry()
	r.metrics = reg
	r.start()
	m1 := r.minion("m1")
	ear := r.hear()
	const outside = "00-0102030405060708090a0b0c0d0e0f10-0a00000000000000-01"
	jid := r.publish(payload.M("tgt", "m1", "traceparent", outside))
	now := time.Now()
	r.m.NoteClient(jid, payload.M("pid", 1, "started", now.Add(-time.Second).UnixMicro(), "sent",
		now.Add(-time.Second).UnixMicro(),
		// before the return: after that the spans are soon told
		"replied", now.UnixMicro(), "ended", now.Add(time.Minute).UnixMicro()))
	m1.ask(ret("m1", jid))
	spans, services := read(actortest.Wait(t, "spans", c.got))
	want := map[string]string{"salt.cli.test.ping": "salt", "salt.req.send.publish": "salt",
		"salt.req.recv.publish": "my-master", "brine.request.wait": "my-master", "brine.job.target": "my-master",
		"salt.pub.send": "my-master", "salt.req.recv._return": "my-master"}
	delete(services, "brine.job.save") // is told when the facts are on disk already
	if diff := cmp.Diff(want, services); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	parent, _ := otlp.ParseParent(outside)
	for name, s := range spans {
		if !slices.Equal(s.GetTraceId(), parent.Trace[:]) || len(s.GetSpanId()) != 8 || s.GetStartTimeUnixNano() == 0 ||
			s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
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
