package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// statusKilled is the exit status in the log for an abandoned child, as for a process killed by SIGKILL.
const statusKilled = -9

// do carries out one effect. Some effects are answered by an event at once.
func (c *core) do(ctx Context, rec *record, f effect) (answer event, ok bool) {
	switch f.kind {
	case doSpawn:
		c.spawn(ctx, rec, f.n)
	case doDrain:
		return c.drain(rec)
	case doCancel:
		rec.inc.cancel()
	case doStop:
		if !c.stopsLast(rec) {
			ctx.Stop(rec.pid)
		}
	case doBury:
		c.bury(rec, f)
	case doRelease:
		return c.release(rec)
	case doDelay:
		rec.delay = c.after(f.delay, &post{ref: rec.ref, ev: event{kind: evTimer, n: f.n}})
	case doUndelay:
		stopTimer(&rec.delay)
	case doPatience:
		if rec.patience == nil && c.halt == nil { // in a halt the halt's deadline counts
			rec.patience = c.after(rec.ref.spec.StopTimeout, &post{ref: rec.ref, ev: event{kind: evGiveUp, n: f.n}})
		}
	case doAbandon:
		c.abandon(rec)
	case doReplace:
		c.replace(rec)
	case doForget:
		c.forget(rec)
	case doStray:
		c.stray(rec.ref.path + "#" + strconv.Itoa(f.n))
	}
	return event{}, false
}

// stopsLast makes a store end after its waiting messages, if the whole tree ends for good: these messages are the last
// work of other actors that have already ended.
func (c *core) stopsLast(rec *record) bool {
	if !rec.ref.spec.Store || c.halt == nil || !c.halt.final || rec.ref.inbox.cur.Load() != rec.inc.mailbox {
		return false
	}
	return rec.ref.inbox.push(&actor.PoisonPill{}) == nil
}

// spawn starts incarnation n. The actor's own goroutine makes the actor's value (see guard).
func (c *core) spawn(ctx Context, rec *record, n int) {
	prefix := ctx.Self().Id + "/"
	for {
		id := freeID(c.sup.system, prefix, rec.ref.spec.Name+"#"+strconv.Itoa(n))
		inc := newIncarnation(c.sup, rec.ref, n, id)
		if rec.ref.group == nil {
			rec.ref.tree.Store(nil)
		}
		rec.ref.spawned(n, id)
		pid, err := ctx.SpawnNamed(inc.props(), id)
		if err != nil { // the id was taken after freeID
			inc.cancel()
			continue
		}
		rec.inc, rec.pid, rec.drained = inc, pid, false
		rec.ref.living.Store(inc)
		break
	}
	c.byID[rec.pid.Id] = rec
	if n > 1 {
		c.publish(&ChildRestarted{PID: rec.pid, Path: rec.ref.path, Incarnation: n})
	}
	c.debugf(rec, "Started '%s' with pid %s", rec.ref.spec.Name, rec.inc.id)
}

func (inc *incarnation) props() *actor.Props {
	return actor.PropsFromProducer(
		func() Actor { return &guard{inc: inc} },
		actor.WithMailbox(func() actor.Mailbox { return inc.mailbox }),
	)
}

// drain stops the subtree of the incarnation, if it has one.
func (c *core) drain(rec *record) (event, bool) {
	drained := event{kind: evDrained, n: rec.inc.n}
	tree := rec.inc.subtree()
	if tree == nil {
		return drained, true
	}
	rec.drained = true
	tree.halt(finally(rec), c.budget(rec), func(r Report) {
		c.sup.tell(&subtreeDown{post: post{ref: rec.ref, ev: drained}, report: r})
	})
	return event{}, false
}

// release waits until no goroutine and no subtree of the incarnation is left.
func (c *core) release(rec *record) (event, bool) {
	inc, released := rec.inc, event{kind: evReleased, n: rec.inc.n}
	delete(c.byID, rec.pid.Id)
	c.takeMail(rec)
	tree := inc.subtree()
	if tree == nil && len(inc.tasks()) == 0 {
		return released, true
	}
	known := rec.drained // the report has already been used
	answer := func(r Report) {
		if known {
			r = Report{}
		}
		inc.whenIdle(func() { c.sup.tell(&subtreeDown{post: post{ref: rec.ref, ev: released}, report: r}) })
	}
	if tree == nil {
		answer(Report{})
	} else {
		tree.halt(finally(rec), c.budget(rec), answer)
	}
	return event{}, false
}

// finally tells whether a subtree ends for good: a subtree made by AddTree outlives incarnations of its group.
func finally(rec *record) bool { return rec.ref.group == nil || rec.life.next == remove }

// budget is the time for a subtree: less than its owner has.
func (c *core) budget(rec *record) time.Duration {
	left := rec.ref.spec.StopTimeout
	if c.halt != nil {
		left = max(c.halt.until.Sub(c.sup.opt.Clock.Now()), 0)
	}
	return left * 3 / 4
}

// takeMail takes the incarnation's waiting messages back.
func (c *core) takeMail(rec *record) {
	if msg, hung := rec.ref.inbox.detach(rec.inc.mailbox); hung {
		rec.ref.killedBy(msg, ErrAbandoned.Error())
		rec.ref.lose(msg, ErrAbandoned)
	}
	if !rec.ref.spec.DropQueued {
		return
	}
	for _, it := range rec.ref.inbox.drain(false) {
		rec.ref.lose(it.msg, ErrDropped)
	}
}

// abandon leaves the incarnation behind, with its goroutines.
func (c *core) abandon(rec *record) {
	name := rec.ref.path
	if tasks := rec.inc.tasks(); len(tasks) > 0 {
		name = fmt.Sprintf("%s %v", name, tasks)
	}
	c.leave(rec)
	rec.inc.strand()
	if c.halt != nil {
		c.halt.abandoned(rec, name)
		return
	}
	c.sup.log.Warn("abandoned", "actor", name, "pid", rec.inc.id, "goroutines", strings.Join(stacksOf(dump(), rec.inc),
		"\n\n"))
}

// replace leaves a handler behind. Everything else of the incarnation has been told to end.
func (c *core) replace(rec *record) {
	c.leave(rec)
	if c.halt != nil {
		c.halt.abandoned(rec, rec.ref.path)
	}
}

// leave takes the mailbox away from an incarnation, and counts its goroutine as stuck until it ends.
func (c *core) leave(rec *record) {
	delete(c.byID, rec.pid.Id)
	c.takeMail(rec)
	if rec.inc.isAbandoned() {
		return
	}
	rec.ref.stats.Leave(c.sup.nanos())
	rec.inc.mailbox.strand()
	close(rec.inc.abandoned)
	rec.ref.leftBehind()
}

func (c *core) forget(rec *record) {
	delete(c.records, rec.ref)
	stopTimer(&rec.delay)
	if tree := rec.ref.group; tree != nil {
		tree.close()
	}
	c.sup.forget(rec.ref)
	if rec.heir {
		c.sup.keepCarryover(rec.ref)
	}
}

// bury records and logs the end of an incarnation. An end that was requested is a death only for those who wait for the
// next incarnation.
func (c *core) bury(rec *record, f effect) {
	d := c.death(rec, f)
	asked := rec.life.next == remove || rec.life.next == rest
	level, tail := slog.LevelDebug, ""
	if d.Status > 0 {
		level = slog.LevelInfo
	}
	restarting := !asked && c.env().restarting
	if restarting {
		tail = ", restarting..."
	}
	if !asked || d.Status != 0 { // before the log line: its reader may then request the death
		rec.ref.died(d)
		c.publishDeath(rec, d, restarting)
		c.sup.bury(d)
	}
	c.logf(rec, level, "Process %s (%s) died with exit status %d%s", d.Name, rec.inc.id, d.Status, tail)
}

func (c *core) death(rec *record, f effect) stats.Death {
	now := c.sup.opt.Clock.Now()
	d := stats.Death{
		Time: now, Reason: "exit", Name: rec.ref.spec.Name, Path: rec.ref.path,
		Incarnation: f.n, Lived: now.Sub(rec.life.born), Delay: f.delay,
	}
	if rec.life.next == again {
		d.Reason = "restart"
	}
	if cause := rec.inc.mailbox.cause.Load(); cause != nil {
		d.Reason, d.Message, d.Stack, d.Status = cause.reason, cause.message, cause.stack, 1
	} else if slow := rec.inc.hung; slow != nil {
		d.Reason, d.Message, d.Stack = fmt.Sprintf("a handler ran longer than %s", rec.inc.limit), slow.Message,
			slow.Stack
		d.Status = statusKilled
	} else if rec.inc.isAbandoned() {
		d.Reason, d.Status = fmt.Sprintf("did not stop within %s", rec.ref.spec.StopTimeout), statusKilled
	}
	return d
}

func (c *core) debugf(rec *record, format string, args ...any) {
	c.logf(rec, slog.LevelDebug, format, args...)
}

func (c *core) logf(rec *record, level slog.Level, format string, args ...any) {
	if c.sup.log.Enabled(context.Background(), level) {
		c.sup.log.Log(context.Background(), level, fmt.Sprintf(format, args...), "actor", rec.ref.path)
	}
}
