package reacting

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"brine/modules/reactor"
	"brine/modules/reactor/backlog"
	"brine/supervisor"
	"brine/wire/event"
)

// These are the messages of the pool.
type (
	// CompileEvent orders a worker to compute the calls for an event, and to publish its jobs in order.
	CompileEvent struct {
		of      int
		worker  int
		ev      backlog.Event
		reactor *supervisor.Ref
	}
	// MakeCall orders a worker to make one call that is no job.
	MakeCall struct {
		of      int
		worker  int
		seq     uint64
		tag     string
		call    reactor.Call
		reactor *supervisor.Ref
		tries   int         // how often it was lost before
		running atomic.Bool // CallEnded will follow
	}
)

// Lost reports the loss to the Reactor.
func (m *CompileEvent) Lost(why error) {
	m.reactor.Send(&workLost{of: m.of, worker: m.worker, ev: &m.ev, why: why})
}

// Lost reports the loss to the Reactor.
func (m *MakeCall) Lost(why error) {
	m.reactor.Send(&workLost{of: m.of, worker: m.worker, call: m, why: why})
}

func (m *MakeCall) repeated() *MakeCall {
	return &MakeCall{of: m.of, seq: m.seq, tag: m.tag, call: m.call, reactor: m.reactor, tries: m.tries + 1}
}

// These are the time limits of one step of a reaction.
const (
	compileTime = 10 * time.Second
	publishTime = 30 * time.Second
)

// worker compiles events, or makes calls, one at a time. It has no state.
type worker struct{ part *Part }

func (w *worker) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *CompileEvent:
		w.onCompileEvent(ctx, m)
	case *MakeCall:
		w.onMakeCall(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (w *worker) onCompileEvent(ctx supervisor.Context, m *CompileEvent) {
	supervisor.Note(ctx, m.ev.Tag)
	calls := w.compile(supervisor.Lifetime(ctx), m.ev)
	if w.cutOff(supervisor.Lifetime(ctx)) {
		return // the next start of the actor begins anew
	}
	supervisor.Send(ctx, m.reactor, &EventCompiled{of: m.of, worker: m.worker, ev: m.ev, calls: calls})
}

// cutOff tells whether an error may come from the end of this worker, or of its daemon.
func (w *worker) cutOff(ctx context.Context) bool { return ctx.Err() != nil || w.part.halted.Load() }

// compile publishes the jobs of an event, and returns the calls for the pool.
func (w *worker) compile(ctx context.Context, ev backlog.Event) (later []reactor.Call) {
	p := w.part
	tag, data, err := event.Unpack(ev.Body)
	if err != nil || reactor.Own(data) {
		return nil
	}
	o := outcome{tag: tag, compiled: !ev.Again}
	within, cancel := context.WithTimeout(ctx, compileTime)
	chunks, err := p.engine.Chunks(within, tag, data, p.rules.Load().Match(tag))
	cancel()
	if o.err = err; w.cutOff(ctx) {
		return nil
	}
	for _, chunk := range chunks {
		c, err := p.engine.Call(chunk)
		switch {
		case w.cutOff(ctx):
			return nil
		case err != nil:
			p.count(outcome{tag: tag, err: fmt.Errorf("%s: %w", c.ID, err)})
		case c.Kind == reactor.KindLocal:
			p.count(w.publish(ctx, ev, c))
		default:
			later = append(later, c)
		}
	}
	p.count(o)
	return later
}

// nameOf identifies a call among those of its event. The name is the same each time the files are rendered.
func nameOf(c reactor.Call) string {
	return c.Kind + "\x00" + c.ID + "\x00" + c.Fun + "\x00" + c.Name()
}

// publish publishes a job unless it was published already. If an earlier process had begun, the job has its id
// from then. It is published only if no job with that id exists.
func (w *worker) publish(ctx context.Context, ev backlog.Event, c reactor.Call) outcome {
	p, o := w.part, outcome{tag: ev.Tag}
	state, jid := p.back.Begin(ev.Seq, nameOf(c), p.opt.Do.NextJID())
	if state == backlog.Begun || state == backlog.Before && p.opt.Do.Published(jid) {
		return o
	}
	within, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	o.calls = 1
	if err := p.opt.Do.Publish(within, jid, c); err != nil {
		if w.cutOff(ctx) { // the next process will check whether the job exists
			return outcome{tag: ev.Tag}
		}
		p.engine.Failed(c, err)
		o.err = fmt.Errorf("%s: %w", c.ID, err)
	}
	p.back.End(ev.Seq, nameOf(c))
	return o
}

// onMakeCall begins a call. CallEnded reports its end to the Reactor.
func (w *worker) onMakeCall(ctx supervisor.Context, m *MakeCall) {
	p, c := w.part, m.call
	if p.halted.Load() {
		return // it does not begin
	}
	supervisor.Note(ctx, c.Kind+" "+c.Fun)
	end := func(o outcome) {
		o.tag = m.tag
		m.reactor.Send(&CallEnded{of: m.of, worker: m.worker, seq: m.seq, tag: m.tag, out: o})
	}
	state, jid := p.back.Begin(m.seq, nameOf(c), p.opt.Do.NextJID())
	if state != backlog.Mine {
		m.running.Store(true)
		end(w.notAgain(m, state))
		return
	}
	m.running.Store(true)
	done := func(err error) {
		o := outcome{calls: 1}
		if err != nil {
			p.engine.Failed(c, err)
			o.err = fmt.Errorf("%s: %w", c.ID, err)
		}
		p.back.End(m.seq, nameOf(c))
		end(o)
	}
	if c.Kind == reactor.KindCaller {
		supervisor.Go(ctx, c.Fun, func(ctx context.Context) error {
			done(p.opt.Do.Execute(ctx, c))
			return nil
		})
		return
	}
	if err := p.opt.Do.Run(jid, c, done); err != nil {
		done(err)
	}
}

// notAgain is the outcome of a call that an earlier process had begun. Nobody knows how far its function got,
// so it is not run again. The same rule holds for jobs of a minion.
func (w *worker) notAgain(m *MakeCall, state backlog.State) outcome {
	if state == backlog.Begun {
		return outcome{}
	}
	w.part.opt.Log.Error("a reaction was under way when the process ended: it is not made again", "tag", m.tag, "id",
		m.call.ID, "kind", m.call.Kind, "fun", m.call.Fun)
	return outcome{doubtful: true}
}
