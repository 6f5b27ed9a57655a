package supervisor

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a core, from a Supervisor's methods, its timers and its subtrees.
type (
	post struct { // an event in the life of one child
		quiet
		ref *Ref
		ev  event
	}
	haltTree struct { // stop all children
		quiet
		final  bool
		within time.Duration
	}
	haltTimer struct { // a part of the time for a halt has passed
		quiet
		halt *halting
		kind haltKind
	}
	subtreeDown struct { // the answer to doDrain and doRelease
		post
		report Report
	}
	reviveTree struct{ quiet } // start the children of a resting tree
	sweep      struct{ quiet } // check_children
	watch      struct{ quiet } // look for handlers that run too long
	hung       struct {        // a handler that the watchdog gives up
		quiet
		found overdue
		slow  stats.Slow
	}
)

// quiet keeps a late message to an ended core out of the dead letters.
type quiet struct{}

func (quiet) InfrastructureMessage() {}

// core is the actor behind a Supervisor: for protoactor the parent of the children. It gives events to the policy and
// carries out its effects.
type core struct {
	sup     *Supervisor
	records map[*Ref]*record
	byID    map[string]*record // by actor id, without abandoned incarnations
	resting bool               // children do not start until the tree is revived
	halt    *halting           // nil unless a halt is running
	over    bool               // a final halt has ended
	sweeper func() bool        // stops the timer of the next sweep
	watcher func() bool        // stops the timer of the next watch

	progress progress // only for the root
}

// record is the core's state of one child.
type record struct {
	ref      *Ref
	life     life
	inc      *incarnation
	pid      *PID
	delay    func() bool // stops the back-off timer
	patience func() bool // stops the timer of doPatience
	suspect  int         // incarnation that the last sweep missed
	drained  bool        // the incarnation's subtree was stopped before its actor
	counted  bool        // in the report of the current halt
	heir     bool        // it ends because its tree ends
}

func newCore(s *Supervisor, resting bool) *core {
	return &core{sup: s, records: make(map[*Ref]*record), byID: make(map[string]*record), resting: resting}
}

// alwaysStop is the strategy for failing children: protoactor only ever stops them, and we restart them.
type alwaysStop struct{}

func (alwaysStop) HandleFailure(_ *System, s actor.Supervisor, child *PID, _ *actor.RestartStatistics,
	_, _ any) {
	s.StopChildren(child)
}

func (c *core) Receive(ctx Context) {
	defer func() { // a supervisor does not die from its own faults
		if r := recover(); r != nil {
			c.sup.log.Error("panic in a supervisor", "actor", c.sup.path, "err", fmt.Sprint(r), "stack",
				trimStack(string(debug.Stack())))
		}
	}()
	switch m := ctx.Message().(type) {
	case *post:
		c.onPost(ctx, m)
	case *actor.Terminated:
		c.onTerminated(ctx, m)
	case *subtreeDown:
		c.note(m.report)
		c.onPost(ctx, &m.post)
	case *haltTree:
		c.onHalt(ctx, m)
	case *haltTimer:
		if m.halt == c.halt {
			c.step(ctx, haltEvent{kind: m.kind})
		}
	case *reviveTree:
		c.onRevive(ctx)
	case *sweep:
		c.onSweep(ctx)
	case *watch:
		c.onWatch()
	case *hung:
		c.onHung(ctx, m)
	case *question:
		close(m.answer)
	}
}

func (c *core) onPost(ctx Context, m *post) {
	rec, ok := c.records[m.ref]
	if m.ev.kind == evAdd && !ok && !c.over {
		rec = &record{ref: m.ref, life: life{n: m.ref.face.incarnation}}
		c.records[m.ref] = rec
		if c.resting {
			rec.life.next = rest
			return
		}
	}
	if rec != nil {
		c.feed(ctx, rec, m.ev)
	}
}

func (c *core) onTerminated(ctx Context, m *actor.Terminated) {
	rec, ok := c.byID[m.Who.Id]
	if !ok {
		c.stray(m.Who.Id)
		return
	}
	c.feed(ctx, rec, event{kind: evTerminated, n: rec.life.n})
}

func (c *core) stray(id string) {
	c.sup.past.strays.Add(1)
	c.sup.log.Debug("a process that is not in the map has died", "actor", id)
}

// feed gives one event to the policy, and then the events with which effects answer at once.
func (c *core) feed(ctx Context, rec *record, first event) {
	for queue := []event{first}; len(queue) > 0; queue = queue[1:] {
		var effects []effect
		rec.life, effects = next(rec.life, queue[0], c.env())
		for _, f := range effects {
			if answer, ok := c.do(ctx, rec, f); ok {
				queue = append(queue, answer)
			}
		}
	}
	if c.halt != nil && c.halt.final && rec.life.phase == down { // it died before the halt reached it
		c.feed(ctx, rec, event{kind: evStop})
		return
	}
	rec.ref.show(rec.life)
	switch rec.life.phase {
	case down, waiting, gone, up:
		stopTimer(&rec.patience)
	}
	if c.halt != nil && (rec.life.phase == gone || rec.life.phase == down) {
		c.halt.ended(rec)
		c.step(ctx, haltEvent{haltEnded, rec.ref.spec.Name})
	}
}

func (c *core) env() env {
	final := c.halt != nil && c.halt.final
	return env{now: c.sup.opt.Clock.Now(), restarting: !final && c.sup.restarting(),
		delayMax: c.sup.opt.RestartDelayMax}
}

func (c *core) onRevive(ctx Context) {
	c.resting = false
	for _, rec := range c.inOrder() {
		c.feed(ctx, rec, event{kind: evAdd})
	}
}

func (c *core) inOrder() []*record {
	recs := make([]*record, 0, len(c.records))
	for _, rec := range c.records {
		recs = append(recs, rec)
	}
	slices.SortFunc(recs, func(a, b *record) int { return int(a.ref.seq) - int(b.ref.seq) })
	return recs
}

// onSweep is check_children. A child counts as dead if the registry has lost it and it does nothing any more, but only
// the second time: the first time the message about its death may still be under way.
func (c *core) onSweep(ctx Context) {
	if c.over {
		return
	}
	now := c.sup.nanos()
	for _, rec := range c.inOrder() {
		rec.ref.sample(now)
		if !rec.life.working() {
			continue
		}
		if _, alive := c.sup.system.ProcessRegistry.GetLocal(rec.pid.Id); alive || !rec.inc.mailbox.still() {
			continue
		}
		if rec.suspect != rec.life.n {
			rec.suspect = rec.life.n
			continue
		}
		c.feed(ctx, rec, event{kind: evMissing, n: rec.life.n})
	}
	c.sweeper = c.after(c.sup.opt.SweepEvery, &sweep{})
}

// after sends msg to this core after d.
func (c *core) after(d time.Duration, msg any) (stop func() bool) {
	return c.sup.opt.Clock.AfterFunc(d, func() { c.sup.tell(msg) })
}

func stopTimer(stop *func() bool) {
	if *stop != nil {
		(*stop)()
		*stop = nil
	}
}
