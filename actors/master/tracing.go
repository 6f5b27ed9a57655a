package master

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/otlp"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// fieldTraceparent carries the context of a trace in a request and in a publication, as in Salt 3008.
const fieldTraceparent = "traceparent"

// tracing is the way of the workers to the Tracer.
type tracing struct {
	spec   supervisor.Spec // of the Tracer
	ref    *supervisor.Ref // set when that has started
	sample func(p otlp.Parent, outside bool) bool
	master string // id, for the ids of traces
}

// begin names the trace of a job that was asked for with load, and puts it into the publication: Salt's minions that
// trace, too, go on from it. It returns what the Tracer is told when the job is announced; nil: it is not traced.
func (t *tracing) begin(load, pub *payload.Map, minions int) *TraceJob {
	if t == nil {
		return nil
	}
	jid := load.Str("jid")
	p, outside := otlp.ParseParent(load.Str(fieldTraceparent))
	if !outside {
		p = otlp.Parent{Trace: traceIDOf(t.master, jid)}
	}
	if !t.sample(p, outside) {
		return nil
	}
	p.Sampled = true
	pub.Set(fieldTraceparent, otlp.Parent{Trace: p.Trace, Span: spanIDOf(p.Trace, spanPublish, ""), Sampled: true}.String())
	return &TraceJob{JID: jid, Context: p, Minions: minions}
}

// job and ret tell the Tracer; they never wait.
func (t *tracing) job(m *TraceJob) {
	if t != nil && m != nil {
		t.ref.Send(m)
	}
}

// ret tells of a return that the ledger has not known before. One of a minion that the job did not mean is passed over.
func (t *tracing) ret(book *ledger.Book, jid, id string, first bool) {
	if t != nil && first && book.Meant(jid, id) {
		t.ref.Send(&TraceReturn{JID: jid, ID: id})
	}
}

// newTracing prepares the Tracer, where the configuration asks for traces; nil elsewhere.
func (c *core) newTracing(opt Options) *tracing {
	cfg := c.cfg.TracingOptions()
	switch {
	case !cfg.Enabled:
		return nil
	case cfg.Exporter != config.ExporterOTLPHTTP:
		c.log.Error("Unknown tracing exporter '"+cfg.Exporter+"'; tracing will be a no-op", "known", config.ExporterOTLPHTTP)
		return nil
	}
	about := c.resources(cfg, opt.Version)
	collector := &otlp.Collector{URL: endpointOf(cfg.Endpoint, os.Getenv), Headers: headersOf(cfg.Headers), HTTP: exportClient()}
	topt := tracerOptions{
		spans: func(j *tracedJob) []otlp.Resource { return c.spans(j, about) },
		post: func(ctx context.Context, rs []otlp.Resource) error {
			return collector.Post(ctx, otlp.Marshal("brine", opt.Version, rs))
		},
		meter: c.meter, now: time.Now, tick: traceTick, settle: traceSettle, idle: traceIdle, log: c.log,
	}
	return &tracing{sample: sampler(cfg), master: c.cfg.ID,
		spec: supervisor.Spec{Name: "Tracer", Limit: traceMail, New: func() actor.Actor { return &tracer{opt: topt} }}}
}

// child is the Tracer as a child of the master; none without traces.
func (t *tracing) child() child {
	if t == nil {
		return child{}
	}
	return child{&t.ref, t.spec}
}

// endpointOf is where spans are delivered: to what the configuration says, else the environment, else to the collector
// on this machine.
func endpointOf(configured string, getenv func(string) string) string {
	if configured != "" {
		return configured
	}
	if u := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); u != "" {
		return u
	}
	if u := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); u != "" {
		return strings.TrimRight(u, "/") + "/v1/traces"
	}
	return otlp.DefaultURL
}

func headersOf(m *payload.Map) http.Header {
	h := http.Header{}
	for k, v := range m.All() {
		name, isText := k.(string)
		value, isValue := v.(string)
		if isText && isValue {
			h.Set(name, value)
		}
	}
	return h
}

// exportTimeout bounds one delivery, as the exporter of OpenTelemetry does.
const exportTimeout = 10 * time.Second

func exportClient() *http.Client {
	return &http.Client{Timeout: exportTimeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: exportTimeout}).DialContext,
		TLSHandshakeTimeout: exportTimeout, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
	}}
}

const serviceMaster = "salt-master"

// resources tells who works, by the name of the service.
func (c *core) resources(cfg config.Tracing, version string) func(service string) []otlp.Attr {
	var extra []otlp.Attr
	for k, v := range cfg.Resource.All() {
		if name, ok := k.(string); ok {
			extra = append(extra, otlp.Attr{Key: name, Value: v})
		}
	}
	return func(service string) []otlp.Attr {
		attrs := []otlp.Attr{{Key: "service.name", Value: service}}
		if service == serviceMaster {
			if cfg.ServiceName != "" {
				attrs[0].Value = cfg.ServiceName
			}
			attrs = append(attrs, otlp.Attr{Key: "service.instance.id", Value: c.cfg.ID}, otlp.Attr{Key: "service.version", Value: version})
		}
		return append(attrs, extra...)
	}
}

// spans makes the spans of a job out of the ledger; nil when that knows nothing of it.
func (c *core) spans(j *tracedJob, about func(string) []otlp.Attr) []otlp.Resource {
	s, _, err := c.snapshot(j.jid)
	if err != nil {
		c.log.Debug("a job cannot be traced", "jid", j.jid, "err", err)
	}
	if s == nil {
		return nil
	}
	plan := tracePlan{context: j.context, about: about}
	if j.told {
		plan.only = j.late
		return spansOf(s, plan)
	}
	plan.reasons = c.reasons(s)
	return spansOf(s, plan)
}

// reasons tells why minions of a job are silent.
func (c *core) reasons(s *ledger.Snapshot) map[string]ledger.Reason {
	var ids []string
	for _, id := range slices.Concat(s.Job.Minions, s.Job.Missing) {
		if r := s.Rows[id]; r == nil || r.Returned == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	cases, err := c.cases(s.Job.JID, s, true, ids)
	if err != nil {
		c.log.Debug("reasons for silence are not known", "jid", s.Job.JID, "err", err)
	}
	out := make(map[string]ledger.Reason, len(ids))
	for _, one := range cases {
		out[one.ID] = ledger.Why(one)
	}
	return out
}
