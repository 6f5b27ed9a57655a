package supervisor

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"

	"brine/supervisor/stats"
)

// The watchdog: the core of the root checks every handler of the tree, four times within the shortest time limit. It
// reads the atomics of a snapshot. Only if a handler is overdue does it dump the stacks, once for all overdue handlers.

// verdict is the watchdog's decision about a handler.
type verdict uint8

const (
	inTime  verdict = iota
	tooSlow         // report it
	tooIdle         // give it up if it only waits
	tooLong         // give it up
)

// maxCredit is the most time that one look may count for. excuse is how long a handler that works is not looked at
// again. Both are numbers of looks.
const (
	maxCredit = 2
	excuse    = 4
)

// limits are the time limits of one handler. A value that is not positive means no limit.
type limits struct{ slow, component, worker time.Duration }

// judge decides about a handler by its running time and whether it was already reported.
func judge(running time.Duration, l limits, reported bool) verdict {
	switch {
	case l.worker > 0 && running > l.worker:
		return tooLong
	case l.component > 0 && l.worker > 0 && running > l.component:
		return tooIdle
	case l.slow > 0 && running > l.slow && !reported:
		return tooSlow
	}
	return inTime
}

// progress is the time of the watchdog. From one look to the next it grows by at most maxCredit looks: while the
// process is stopped, or gets no processor time, handlers cannot end, and that is not their fault.
type progress struct {
	last int64 // time of the last look, 0: none yet
	sum  time.Duration
}

func (p *progress) look(now int64, every time.Duration) {
	if p.last != 0 {
		p.sum += min(time.Duration(now-p.last), maxCredit*every)
	}
	p.last = now
}

// sight is the watchdog's state for the current handler of a child. Only the core of the root uses it.
type sight struct {
	since   int64         // start of the handler
	before  time.Duration // progress at that time
	excused time.Duration // progress until which its stack is not looked at again
}

// running is how long a handler has run, measured by progress.
func (v *sight) running(since int64, p *progress, every time.Duration) time.Duration {
	if v.since != since {
		*v = sight{since: since, before: p.sum - min(time.Duration(p.last-since), maxCredit*every)}
	}
	return p.sum - v.before
}

// waits tells whether the goroutine of a stack waits for another one, for a lock or for the network. A runnable
// goroutine waits for the processor, and one in a system call perhaps for a slow disk; these do not count.
func waits(stack string) bool {
	_, rest, _ := strings.Cut(stack, "[")
	for _, state := range []string{"chan ", "select", "sema", "sync.", "sleep", "IO wait"} {
		if strings.HasPrefix(rest, state) {
			return true
		}
	}
	return false
}

// watchEvery is the interval of the watchdog; 0: never.
func watchEvery(opt Options) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for i, d := range []time.Duration{opt.SlowAfter, opt.WorkerTimeout, opt.ComponentTimeout} {
		if d > 0 && (i < 2 || opt.WorkerTimeout > 0) {
			shortest = min(shortest, d)
		}
	}
	if shortest == math.MaxInt64 {
		return 0
	}
	return max(shortest/4, time.Millisecond)
}

// slowAfter is the limit for the mailbox.
func slowAfter(opt Options) time.Duration {
	if opt.SlowAfter <= 0 {
		return math.MaxInt64
	}
	return opt.SlowAfter
}

// overdue is a handler for which the watchdog has a verdict.
type overdue struct {
	ref     *Ref
	mailbox *mailbox
	since   int64
	message string
	running time.Duration
	limits  limits
	verdict verdict
}

// overdues finds all overdue handlers in the tree.
func (s *Supervisor) overdues(p *progress, every time.Duration) (found []overdue) {
	for _, ref := range s.children() {
		if o := ref.overdue(p, every); o.verdict != inTime {
			found = append(found, o)
		}
		if t := ref.tree.Load(); t != nil {
			found = append(found, t.overdues(p, every)...)
		}
	}
	return found
}

func (r *Ref) overdue(p *progress, every time.Duration) overdue {
	m := r.inbox.cur.Load()
	name, since := r.stats.InHand()
	if m == nil || name == "" {
		return overdue{}
	}
	running := r.sight.running(since, p, every)
	l := limits{slow: r.sup.opt.SlowAfter, worker: r.spec.WorkerTimeout}
	if inc := r.living.Load(); r.spec.Component && p.sum >= r.sight.excused && inc != nil && inc.patient.Load() == 0 {
		l.component = r.sup.opt.ComponentTimeout
	}
	o := overdue{ref: r, mailbox: m, since: since, message: name, running: running, limits: l}
	o.verdict = judge(running, l, r.reported.Load() == since)
	return o
}

// current tells whether the handler still runs.
func (o overdue) current() bool {
	_, since := o.ref.stats.InHand()
	return since == o.since && o.ref.inbox.cur.Load() == o.mailbox
}

// onWatch reports slow handlers, and tells supervisors to replace hung ones.
func (c *core) onWatch() {
	if c.over {
		return
	}
	every := watchEvery(c.sup.opt)
	c.progress.look(c.sup.nanos(), every)
	if found := c.sup.overdues(&c.progress, every); len(found) > 0 {
		all := dump()
		for _, o := range found {
			stack := stackOfMailbox(all, o.mailbox)
			if o.verdict == tooIdle && !waits(stack) {
				o.verdict, o.ref.sight.excused = tooSlow, c.progress.sum+excuse*every
			}
			o.ref.act(o, stack)
		}
	}
	c.watcher = c.after(every, &watch{})
}

func (r *Ref) act(o overdue, stack string) {
	slow := r.slow(o.message, o.mailbox.n, o.running)
	slow.Stack = stack
	if o.verdict == tooLong || o.verdict == tooIdle {
		slow.Abandoned = true
		r.sup.tell(&hung{found: o, slow: slow})
		return
	}
	if r.reported.Swap(o.since) != o.since {
		r.tellSlow(slow, "handler runs for long")
	}
}

// late must be called by the mailbox for a slow handler that has ended. If it was not reported while it ran, it is
// reported now, without a stack.
func (r *Ref) late(msg any, n int, start, end int64) {
	if r.reported.Swap(start) != start {
		r.tellSlow(r.slow(typeName(msg), n, time.Duration(end-start)), "handler ran for long")
	}
}

func (r *Ref) slow(message string, n int, running time.Duration) stats.Slow {
	return stats.Slow{
		Time: r.sup.opt.Clock.Now(), Name: r.spec.Name, Path: r.path, Incarnation: n, Message: message,
		Running: running,
	}
}

// tellSlow counts and logs a report, and passes it to the options of all supervisors above.
func (r *Ref) tellSlow(slow stats.Slow, text string) {
	if !slow.Abandoned {
		r.stats.Slow.Add(1)
	}
	r.mu.Lock()
	r.face.slow = &slow
	r.mu.Unlock()
	r.sup.log.Log(context.Background(), slog.LevelWarn, text, "actor", r.path, "type", slow.Message, "for",
		slow.Running, "stack", slow.Stack)
	for s := r.sup; s != nil; s = s.parent {
		if s.opt.OnSlow != nil {
			s.opt.OnSlow(slow)
		}
	}
}

// onHung gives up a handler of one of this supervisor's children, if it still runs.
func (c *core) onHung(ctx Context, m *hung) {
	rec := c.records[m.found.ref]
	if rec == nil || rec.inc == nil || rec.inc.mailbox != m.found.mailbox || !rec.life.working() || !m.found.current() {
		return
	}
	rec.inc.hung, rec.inc.limit = &m.slow, m.found.limits.worker
	if m.found.verdict == tooIdle {
		rec.inc.limit = m.found.limits.component
	}
	rec.ref.tellSlow(m.slow, "handler ran for too long and is left behind")
	c.feed(ctx, rec, event{kind: evHung, n: rec.life.n})
}
