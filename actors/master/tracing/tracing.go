package tracing

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/otlp"
	"brine/wire/payload"
)

// fieldTraceparent carries the context of a trace in a request and in a publication, as in Salt 3008.
const fieldTraceparent = "traceparent"

// Options are what tracing needs of the master.
type Options struct {
	Config  config.Tracing
	Version string // of Salt, as the master answers to test.version
	Master  string // its id
	// Job is all that is known of a job, nil when that is nothing, Reasons why minions of it are silent. The Tracer
	// asks beside itself, in a goroutine of its own.
	Job     func(jid string) (*ledger.Snapshot, error)
	Reasons func(*ledger.Snapshot) (map[string]ledger.Reason, error)
	// Count is told what became of spans. The Tracer and the goroutine beside it call it.
	Count func(result string, spans int)
	Log   *slog.Logger
}

// Tracing is the way of the workers to the Tracer. Nil: nothing is traced.
type Tracing struct {
	ref    *supervisor.Ref // of the Tracer
	opt    tracerOptions
	sample func(p otlp.Parent, outside bool) bool
	master string // id, for the ids of traces
}

// New prepares the Tracer, where the configuration asks for traces; nil elsewhere.
func New(opt Options) *Tracing {
	cfg := opt.Config
	switch {
	case !cfg.Enabled:
		return nil
	case cfg.Exporter != config.ExporterOTLPHTTP:
		opt.Log.Error("Unknown tracing exporter '"+cfg.Exporter+"'; tracing will be a no-op", "known",
			config.ExporterOTLPHTTP)
		return nil
	}
	collector := &otlp.Collector{URL: endpointOf(cfg.Endpoint, os.Getenv), Headers: headersOf(cfg.Headers),
		HTTP: exportClient()}
	return &Tracing{ref: supervisor.NewRef(), sample: sampler(cfg), master: opt.Master, opt: tracerOptions{
		spans: opt.spans,
		post: func(ctx context.Context, rs []otlp.Resource) error {
			return collector.Post(ctx, otlp.Marshal("brine", opt.Version, rs))
		},
		count: opt.Count, now: time.Now, tick: traceTick, settle: traceSettle, idle: traceIdle, log: opt.Log,
	}}
}

// Child is the Tracer as a child of the master; the zero Spec without traces.
func (t *Tracing) Child() supervisor.Spec {
	if t == nil {
		return supervisor.Spec{}
	}
	return supervisor.Spec{Name: "Tracer", Ref: t.ref, Limit: traceMail, New: func() supervisor.Actor {
		return &tracer{opt: t.opt}
	}}
}

// Begin names the trace of a job that was asked for with load, and puts it into the publication: Salt's minions that
// trace, too, go on from it. It returns what the Tracer is told when the job is announced; nil: it is not traced.
func (t *Tracing) Begin(load, pub *payload.Map, minions int) *TraceJob {
	if t == nil {
		return nil
	}
	jid := load.Str(payload.FieldJID)
	p, outside := otlp.ParseParent(load.Str(fieldTraceparent))
	if !outside {
		p = otlp.Parent{Trace: traceIDOf(t.master, jid)}
	}
	if !t.sample(p, outside) {
		return nil
	}
	p.Sampled = true
	pub.Set(fieldTraceparent, otlp.Parent{Trace: p.Trace, Span: spanIDOf(p.Trace, spanPublish, ""),
		Sampled: true}.String())
	return &TraceJob{JID: jid, Context: p, Minions: minions}
}

// Announced tells the Tracer of a job of Begin. It never waits.
func (t *Tracing) Announced(m *TraceJob) {
	if t != nil && m != nil {
		t.ref.Send(m)
	}
}

// Returned tells the Tracer of the return of a minion that the job means. It never waits.
func (t *Tracing) Returned(jid, id string) {
	if t != nil {
		t.ref.Send(&TraceReturn{JID: jid, ID: id})
	}
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

// about tells who works, by the name of the service.
func (o Options) about(service string) []otlp.Attr {
	attrs := []otlp.Attr{{Key: "service.name", Value: service}}
	if service == serviceMaster {
		if o.Config.ServiceName != "" {
			attrs[0].Value = o.Config.ServiceName
		}
		attrs = append(attrs, otlp.Attr{Key: "service.instance.id", Value: o.Master}, otlp.Attr{Key: "service.version",
			Value: o.Version})
	}
	for k, v := range o.Config.Resource.All() {
		if name, ok := k.(string); ok {
			attrs = append(attrs, otlp.Attr{Key: name, Value: v})
		}
	}
	return attrs
}

// spans makes the spans of a job out of the ledger; nil when that knows nothing of it.
func (o Options) spans(j *tracedJob) []otlp.Resource {
	s, err := o.Job(j.jid)
	if err != nil {
		o.Log.Debug("a job cannot be traced", "jid", j.jid, "err", err)
	}
	if s == nil {
		return nil
	}
	plan := tracePlan{context: j.context, about: o.about}
	if j.told {
		plan.only = j.late
		return spansOf(s, plan)
	}
	if plan.reasons, err = o.Reasons(s); err != nil {
		o.Log.Debug("reasons for silence are not known", "jid", j.jid, "err", err)
	}
	return spansOf(s, plan)
}
