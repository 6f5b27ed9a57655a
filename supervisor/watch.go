package supervisor

import (
	"context"
	"log/slog"
	"math"
	"time"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// The watchdog: the core of the root looks at every handler of the tree four times in SlowAfter. What it reads are
// the atomics of a snapshot; only when something is overdue does it look for the stack, once for all that are.

// verdict is what the watchdog thinks of a handler.
type verdict uint8

const (
	inTime  verdict = iota
	tooSlow         // to be reported
	tooLong         // to be given up
)

// judge decides on a handler that has been running for a while, and has been reported or not. A limit that is not
// positive is none.
func judge(running, slowAfter, timeout time.Duration, reported bool) verdict {
	switch {
	case timeout > 0 && running > timeout:
		return tooLong
	case slowAfter > 0 && running > slowAfter && !reported:
		return tooSlow
	}
	return inTime
}

// watchEvery is how often handlers are looked at, 0 for never.
func watchEvery(opt Options) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for _, d := range []time.Duration{opt.SlowAfter, opt.WorkerTimeout} {
		if d > 0 {
			shortest = min(shortest, d)
		}
	}
	if shortest == math.MaxInt64 {
		return 0
	}
	return max(shortest/4, time.Millisecond)
}

// slowAfter is the limit as the mailbox wants it.
func slowAfter(opt Options) time.Duration {
	if opt.SlowAfter <= 0 {
		return math.MaxInt64
	}
	return opt.SlowAfter
}

// overdue is a handler that the watchdog has something to say about.
type overdue struct {
	ref     *Ref
	mailbox *mailbox
	since   int64
	message string
	running time.Duration
	verdict verdict
}

// overdues goes through the tree.
func (s *Supervisor) overdues(now int64) (found []overdue) {
	for _, ref := range s.children() {
		if o := ref.overdue(now); o.verdict != inTime {
			found = append(found, o)
		}
		if t := ref.tree.Load(); t != nil {
			found = append(found, t.overdues(now)...)
		}
	}
	return found
}

func (r *Ref) overdue(now int64) overdue {
	m := r.inbox.cur.Load()
	name, since := r.stats.InHand()
	if m == nil || name == "" {
		return overdue{}
	}
	running := time.Duration(now - since)
	return overdue{
		ref: r, mailbox: m, since: since, message: name, running: running,
		verdict: judge(running, r.sup.opt.SlowAfter, r.spec.WorkerTimeout, r.reported.Load() == since),
	}
}

// current says whether the handler still runs.
func (o overdue) current() bool {
	_, since := o.ref.stats.InHand()
	return since == o.since && o.ref.inbox.cur.Load() == o.mailbox
}

// onWatch reports the slow and has the hung replaced by their supervisors.
func (c *core) onWatch() {
	if c.over {
		return
	}
	if found := c.sup.overdues(c.sup.nanos()); len(found) > 0 {
		all := dump()
		for _, o := range found {
			o.ref.act(o, stackOfMailbox(all, o.mailbox))
		}
	}
	c.watcher = c.after(watchEvery(c.sup.opt), &watch{})
}

func (r *Ref) act(o overdue, stack string) {
	slow := r.slow(o.message, o.mailbox.n, o.running)
	slow.Stack = stack
	if o.verdict == tooLong {
		slow.Abandoned = true
		r.sup.tell(&hung{found: o, slow: slow})
		return
	}
	if r.reported.Swap(o.since) != o.since {
		r.tellSlow(slow, "handler runs for long")
	}
}

// late is called by the mailbox for a handler that took long and has ended. If it was not reported while it ran,
// it is now, without a stack.
func (r *Ref) late(msg any, n int, start, end int64) {
	if r.reported.Swap(start) != start {
		r.tellSlow(r.slow(typeName(msg), n, time.Duration(end-start)), "handler ran for long")
	}
}

func (r *Ref) slow(message string, n int, running time.Duration) stats.Slow {
	return stats.Slow{
		Time: r.sup.opt.Clock.Now(), Name: r.spec.Name, Path: r.path, Incarnation: n, Message: message, Running: running,
	}
}

// tellSlow counts, logs and spreads a report.
func (r *Ref) tellSlow(slow stats.Slow, text string) {
	if !slow.Abandoned {
		r.stats.Slow.Add(1)
	}
	r.mu.Lock()
	r.face.slow = &slow
	r.mu.Unlock()
	r.sup.log.Log(context.Background(), slog.LevelWarn, text, "actor", r.path, "type", slow.Message, "for", slow.Running, "stack", slow.Stack)
	for s := r.sup; s != nil; s = s.parent {
		if s.opt.OnSlow != nil {
			s.opt.OnSlow(slow)
		}
	}
}

// onHung gives up a handler of one of this supervisor's children, if it still runs.
func (c *core) onHung(ctx actor.Context, m *hung) {
	rec := c.records[m.found.ref]
	if rec == nil || rec.inc == nil || rec.inc.mailbox != m.found.mailbox || !rec.life.working() || !m.found.current() {
		return
	}
	rec.inc.hung = &m.slow
	rec.ref.tellSlow(m.slow, "handler ran for too long and is left behind")
	c.feed(ctx, rec, event{kind: evHung, n: rec.life.n})
}
