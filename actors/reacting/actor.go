package reacting

import (
	"context"
	"fmt"
	"time"

	"brine/modules/reactor"
	"brine/modules/reactor/backlog"
	"brine/supervisor"
)

// These are the messages of the Reactor. Messages of workers carry the incarnation that gave the order. A later
// incarnation ignores them, because it has taken all events anew.
type (
	// EventsWait means that the backlog contains events.
	EventsWait struct{ part *Part }
	// EventCompiled carries the calls of an event. Its jobs are published already.
	EventCompiled struct {
		of     int
		worker int
		ev     backlog.Event
		calls  []reactor.Call // calls for the pool
	}
	// CallEnded means that a call was made, or will not be made.
	CallEnded struct {
		of     int
		worker int
		seq    uint64
		tag    string
		out    outcome
	}
	// workLost means that a worker will not do its order.
	workLost struct {
		of     int
		worker int
		ev     *backlog.Event // the event to compile
		call   *MakeCall      // the call to make
		why    error
	}
	// tick makes the Reactor check its rules and the backlog.
	tick struct{}
)

// Lost allows the next EventsWait.
func (m *EventsWait) Lost(error) { m.part.poked.Store(false) }

// compilers is the number of events that are compiled at the same time.
const compilers = 4

// lookEvery is the time between two checks of the file of rules.
const lookEvery = time.Second

// tries is how often work that was lost with an actor is repeated. The limit exists because the event itself
// may kill the actor.
const tries = 5

// reacts distributes events and calls. Its data is lost with it, and the backlog holds everything that must
// survive.
type reacts struct {
	part      *Part
	self      *supervisor.Ref
	n         int // incarnation
	compilers pool
	pool      pool
	calls     []*MakeCall    // waiting for the pool
	open      map[uint64]int // number of unfinished calls of each event
}

// pool is a group of workers, with a list of the idle ones.
type pool struct {
	refs []*supervisor.Ref
	idle []int
}

func (p *pool) take() (worker int, ref *supervisor.Ref) {
	last := len(p.idle) - 1
	worker = p.idle[last]
	p.idle = p.idle[:last]
	return worker, p.refs[worker]
}

// Child is the spec of the Reactor as a child of a daemon.
func (p *Part) Child() supervisor.Spec {
	return supervisor.Spec{Name: NameReactor, New: func() supervisor.Actor { return &reacts{part: p} }}
}

func (r *reacts) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		r.onStarted(ctx)
	case *EventsWait:
		r.part.poked.Store(false)
		r.dispatch(ctx)
	case *EventCompiled:
		r.onEventCompiled(ctx, m)
	case *CallEnded:
		r.onCallEnded(ctx, m)
	case *workLost:
		r.onWorkLost(ctx, m)
	case *Manage:
		r.part.manage(m)
	case *tick:
		r.part.followFile()
		r.dispatch(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

// onStarted takes over all unfinished work of its predecessor, whose pool has ended by now.
func (r *reacts) onStarted(ctx supervisor.Context) {
	p := r.part
	r.self, r.n, r.open = supervisor.Self(ctx), supervisor.Incarnation(ctx), map[uint64]int{}
	nest := supervisor.Nest(ctx, supervisor.Options{Pool: true})
	add := func(to *pool, name string, n int) {
		for i := range n {
			ref, err := nest.Add(supervisor.Spec{Name: fmt.Sprintf("%s-%d", name, i+1), DropQueued: true,
				New: func() supervisor.Actor {
					return &worker{part: p}
				}})
			if err != nil {
				supervisor.Crash(fmt.Errorf("reactor: %w", err))
			}
			to.refs = append(to.refs, ref)
			to.idle = append(to.idle, i)
		}
	}
	add(&r.compilers, "Compiler", compilers)
	add(&r.pool, "Reaction", max(p.opt.Threads, 1))
	p.reactor.Store(r.self)
	p.back.Recall()
	p.poked.Store(false)
	p.opt.Subscribe(NameReactor, p.sink)
	self := r.self
	supervisor.Go(ctx, "timer", func(ctx context.Context) error { return self.SendEvery(ctx, lookEvery, &tick{}) })
	r.dispatch(ctx)
}

// dispatch gives work to idle workers. Events stay in the backlog while too many calls wait for the pool.
func (r *reacts) dispatch(ctx supervisor.Context) {
	if r.part.halted.Load() {
		return
	}
	for len(r.pool.idle) > 0 && len(r.calls) > 0 {
		m := r.calls[0]
		r.calls = r.calls[1:]
		n, ref := r.pool.take()
		m.worker = n
		supervisor.Send(ctx, ref, m)
	}
	for len(r.compilers.idle) > 0 && len(r.calls) < max(r.part.opt.Queue, 1) {
		ev, ok := r.part.back.Take()
		if !ok {
			return
		}
		if ev.Tries >= tries {
			r.giveUp(ev)
			continue
		}
		n, ref := r.compilers.take()
		supervisor.Send(ctx, ref, &CompileEvent{of: r.n, worker: n, ev: ev, reactor: r.self})
	}
}

// giveUp gives up an event that repeatedly killed its worker.
func (r *reacts) giveUp(ev backlog.Event) {
	p := r.part
	p.opt.Log.Error("the Reactor gives an event up: whoever works on it dies", "tag", ev.Tag)
	p.count(outcome{tag: ev.Tag, err: fmt.Errorf("given up after %d tries", ev.Tries)})
	p.back.Settle(ev.Seq)
}

func (r *reacts) onEventCompiled(ctx supervisor.Context, m *EventCompiled) {
	if m.of != r.n {
		return
	}
	r.compilers.idle = append(r.compilers.idle, m.worker)
	if len(m.calls) == 0 {
		r.part.back.Settle(m.ev.Seq)
	} else {
		r.part.back.Free(m.ev.Seq)
		r.open[m.ev.Seq] = len(m.calls)
		for _, c := range m.calls {
			r.calls = append(r.calls, &MakeCall{of: r.n, seq: m.ev.Seq, tag: m.ev.Tag, call: c, reactor: r.self})
		}
	}
	r.dispatch(ctx)
}

func (r *reacts) onCallEnded(ctx supervisor.Context, m *CallEnded) {
	p := r.part
	p.count(m.out)
	if m.of != r.n {
		return
	}
	r.pool.idle = append(r.pool.idle, m.worker)
	r.ended(m.seq)
	r.dispatch(ctx)
}

// ended notes the end of one call of an event. After the last call the event is settled.
func (r *reacts) ended(seq uint64) {
	if r.open[seq]--; r.open[seq] <= 0 {
		delete(r.open, seq)
		r.part.back.Settle(seq)
	}
}

// onWorkLost handles the death of a worker. A call that had begun is not repeated. If it runs elsewhere,
// CallEnded follows.
func (r *reacts) onWorkLost(ctx supervisor.Context, m *workLost) {
	if m.of != r.n {
		return
	}
	supervisor.Failed(ctx)
	switch {
	case m.ev != nil:
		r.compilers.idle = append(r.compilers.idle, m.worker)
		r.part.back.Return(m.ev.Seq)
	case m.call.running.Load():
		return // CallEnded follows
	case m.call.tries == tries:
		r.pool.idle = append(r.pool.idle, m.worker)
		r.part.count(outcome{tag: m.call.tag, err: fmt.Errorf("%s %s: %w", m.call.call.Kind, m.call.call.Fun, m.why)})
		r.ended(m.call.seq)
	default:
		r.pool.idle = append(r.pool.idle, m.worker)
		r.calls = append([]*MakeCall{m.call.repeated()}, r.calls...)
	}
	r.dispatch(ctx)
}
