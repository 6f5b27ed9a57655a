package tracing

import (
	"context"
	"encoding/binary"
	"log/slog"
	"time"

	"brine/config"
	"brine/supervisor"
	"brine/wire/otlp"
)

// Messages of the Tracer. They say that there is news of a job; the facts are in the ledger.
type (
	// TraceJob says that a job was announced.
	TraceJob struct {
		JID     string
		Context otlp.Parent // its trace, and the span outside that it goes on from
		Minions int         // that are expected to answer
	}
	// TraceReturn says that a return is on disk, or will never be.
	TraceReturn struct{ JID, ID string }
	// lookAround asks for the jobs that can be told by now.
	lookAround struct{}
)

// Bounds of the Tracer.
const (
	maxTraced   = 4096  // jobs it knows: those that run, and the last that are told
	traceMail   = 16384 // messages waiting for it; more are dropped
	traceTick   = 500 * time.Millisecond
	traceSettle = 2 * time.Second // after the last return, for the command line to tell its facts
	traceIdle   = 5 * time.Minute // without news: who has not answered by then is told as silent
)

// tracerOptions are what the Tracer needs of the master.
type tracerOptions struct {
	spans  func(t *tracedJob) []otlp.Resource // nil: nothing is known of the job any more
	post   func(ctx context.Context, rs []otlp.Resource) error
	count  func(result string, spans int)
	now    func() time.Time
	tick   time.Duration
	settle time.Duration
	idle   time.Duration
	log    *slog.Logger
}

// tracedJob is what the Tracer knows of a job.
type tracedJob struct {
	jid     string
	context otlp.Parent
	left    int       // minions that have not answered
	news    time.Time // when something was heard of it
	told    bool      // its spans are on their way
	late    []string  // who has answered since
}

// tracer decides when the trace of a job is whole. It makes no spans itself: a goroutine beside it does, and delivers
// them, so that a collector that hangs holds up nobody.
type tracer struct {
	opt   tracerOptions
	jobs  map[string]*tracedJob
	order []string // of jobs, the oldest first
	out   chan *tracedJob
}

func (t *tracer) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		t.onStarted(ctx)
	case *TraceJob:
		t.onJob(m)
	case *TraceReturn:
		t.onReturn(m)
	case *lookAround:
		t.onLookAround()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (t *tracer) onStarted(ctx supervisor.Context) {
	t.jobs, t.out = map[string]*tracedJob{}, make(chan *tracedJob, maxTraced)
	self, every, e := supervisor.Self(ctx), t.opt.tick, &spanExport{opt: t.opt, in: t.out}
	supervisor.Go(ctx, "look around", func(ctx context.Context) error {
		return self.SendEvery(ctx, every, &lookAround{})
	})
	supervisor.Go(ctx, "span export", e.run)
}

func (t *tracer) onJob(m *TraceJob) {
	if t.jobs[m.JID] != nil {
		return
	}
	t.jobs[m.JID] = &tracedJob{jid: m.JID, context: m.Context, left: m.Minions, news: t.opt.now()}
	t.order = append(t.order, m.JID)
	if len(t.jobs) > maxTraced {
		if j := t.jobs[t.order[0]]; !j.told {
			t.opt.count(Dropped, 1)
		}
		delete(t.jobs, t.order[0])
		t.order = t.order[1:]
	}
}

func (t *tracer) onReturn(m *TraceReturn) {
	j := t.jobs[m.JID]
	if j == nil {
		return // not sampled, or long gone
	}
	j.left--
	j.news = t.opt.now()
	if j.told {
		j.late = append(j.late, m.ID)
	}
}

// onLookAround passes on the jobs that are whole, and those that nothing is heard of.
func (t *tracer) onLookAround() {
	now := t.opt.now()
	for _, jid := range t.order {
		j := t.jobs[jid]
		still := now.Sub(j.news)
		due := still >= t.opt.idle || still >= t.opt.settle && (j.left <= 0 || j.told)
		if !due || j.told && len(j.late) == 0 {
			continue
		}
		select {
		case t.out <- &tracedJob{jid: jid, context: j.context, told: j.told, late: j.late}:
			j.told, j.late = true, nil
		default:
			return // the collector is slow: later
		}
	}
}

// sampler decides which traces are kept, as OpenTelemetry's samplers of Salt's names do.
func sampler(opt config.Tracing) func(p otlp.Parent, outside bool) bool {
	ratio := func(p otlp.Parent) bool {
		return opt.SamplerArg >= 1 || float64(binary.BigEndian.Uint64(p.Trace[8:])>>1) < opt.SamplerArg*(1<<63)
	}
	switch opt.Sampler {
	case "always_on":
		return func(otlp.Parent, bool) bool { return true }
	case "always_off":
		return func(otlp.Parent, bool) bool { return false }
	case "trace_id_ratio":
		return func(p otlp.Parent, _ bool) bool { return ratio(p) }
	}
	return func(p otlp.Parent, outside bool) bool {
		if outside {
			return p.Sampled
		}
		return ratio(p)
	}
}
