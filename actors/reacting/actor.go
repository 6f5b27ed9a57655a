package reacting

import (
	"context"
	"fmt"
	"time"

	"brine/modules/reactor"
	"brine/modules/reactor/backlog"
	"brine/supervisor"
)

// Messages of the Reactor. Those of workers carry the incarnation that had asked: what a later one hears of them is of
// no account, for it has taken all events anew.
type (
	// EventsWait says that there is something in the backlog.
	EventsWait struct{ part *Part }
	// EventCompiled says what an event means; its jobs are published.
	EventCompiled struct {
		of     int
		worker int
		ev     backlog.Event
		calls  []reactor.Call // that are to be run by the pool
	}
	// CallEnded says that a call was made, or will not be.
	CallEnded struct {
		of     int
		worker int
		seq    uint64
		tag    string
		out    outcome
	}
	// workLost says that no worker will do what it was told.
	workLost struct {
		of     int
		worker int
		ev     *backlog.Event // it was to be compiled
		call   *MakeCall      // it was to be made
		why    error
	}
	// tick makes the Reactor look around.
	tick struct{}
)

// Lost lets the next poke through.
func (m *EventsWait) Lost(error) { m.part.poked.Store(false) }

// compilers is how many events are worked out at once.
const compilers = 4

// lookEvery is how often the Reactor looks for a changed file of rules.
const lookEvery = time.Second

// tries is how often what was lost with an actor is tried again: an event may be what the actor died of.
const tries = 5

// reacts hands out events and calls. What it knows is lost with it; the backlog has what counts.
type reacts struct {
	part      *Part
	self      *supervisor.Ref
	n         int // incarnation
	compilers pool
	pool      pool
	calls     []*MakeCall    // that wait for the pool
	open      map[uint64]int // calls of an event that have not ended
}

// pool is workers, and which of them have nothing to do.
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

// Child is the Reactor as a child of a daemon.
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

// onStarted takes up whatever its predecessor had in hand: the pool of that has ended by now.
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

// dispatch gives work to whoever has none. Events stay in the backlog while as many calls wait for the pool as may.
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

// giveUp leaves an event that has killed whoever took it.
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

// ended counts the calls of an event down.
func (r *reacts) ended(seq uint64) {
	if r.open[seq]--; r.open[seq] <= 0 {
		delete(r.open, seq)
		r.part.back.Settle(seq)
	}
}

// onWorkLost hears of a worker that died. What was begun is not begun again; of a call that runs elsewhere the end will
// be told.
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
