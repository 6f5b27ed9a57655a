package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"brine/modules"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a Job.
type (
	// jobDone is the outcome of the function.
	jobDone struct{ result modules.Result }
	// jobKilled ends a job whatever its function does.
	jobKilled struct{ sig syscall.Signal }
	// jobAnswered says that the return is on its way.
	jobAnswered struct{}
)

// errKilled is the cause of a job's context when it was sent a signal.
var errKilled = errors.New("killed by a signal")

// jobOptions are what a Job needs of the minion.
type jobOptions struct {
	env        *modules.Env
	proc       procDir
	dispatcher *supervisor.Ref
	sender     func(*link) *supervisor.Ref
	cache      func(jid string, ret *payload.Map) error  // keeps the return locally (cache_jobs); nil: not
	started    func(l *link, load *payload.Map)          // fires the start event a job asked for (3008)
	crashed    func(l *link, jid string, text string)    // reports an exception (_salt_error)
	extra      func(load *payload.Map, ret *payload.Map) // calls the returners the job names
	pubRet     bool
	log        *slog.Logger
}

// job is one actor per job. Its first incarnation runs the function. A later one, and one made for a job of a
// dead process (lost), never runs it again: it sends the return that tells what happened.
type job struct {
	opt   jobOptions
	load  *payload.Map
	link  *link
	lost  bool
	self  *supervisor.Ref
	stop  context.CancelCauseFunc
	ended bool
}

func (j *job) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		j.onStarted(ctx)
	case *jobDone:
		j.finish(ctx, m.result)
	case *jobKilled:
		j.onKilled(ctx, m.sig)
	case *jobAnswered:
		j.onAnswered(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (j *job) jid() string { return j.load.Str("jid") }

func (j *job) onStarted(ctx actor.Context) {
	j.self = supervisor.Self(ctx)
	supervisor.Note(ctx, j.jid())
	switch {
	case supervisor.Incarnation(ctx) > 1:
		j.tell(ctx, "The job died on the minion: "+lastDeath(ctx))
		return
	case j.lost:
		j.tell(ctx, "The minion's process ended while the job was running")
		return
	}
	load := modules.WithResourceFields(j.load)
	entry, err := j.opt.proc.write(load)
	if err != nil { // without the entry a later process could not answer for the job; it runs all the same
		j.opt.log.Error("the job has no proc entry", "jid", j.jid(), "err", err)
	}
	j.opt.log.Info(fmt.Sprintf("Starting a new job %s with PID %v", j.jid(), entry.Value("pid")))
	self := j.self
	supervisor.Send(ctx, j.opt.dispatcher, &JobBegun{JID: j.jid(), Load: entry, Kill: func(sig syscall.Signal) { self.Send(&jobKilled{sig}) }})
	if j.load.Bool("start_event") {
		j.opt.started(j.link, j.load)
	}
	j.run(ctx, load)
}

// run calls the function in a goroutine of this incarnation.
func (j *job) run(ctx actor.Context, load *payload.Map) {
	run, stop := context.WithCancelCause(supervisor.Context(ctx))
	j.stop = stop
	self, env, connected := j.self, j.opt.env, j.link != nil && j.link.connected.Load()
	supervisor.Go(ctx, "function", func(context.Context) error {
		defer stop(nil)
		self.Send(&jobDone{result: modules.Execute(run, env, modules.Job{Load: load, Connected: connected})})
		return nil
	})
}

// onKilled answers at once. The function's context has ended; a function that does not honour it is left behind.
func (j *job) onKilled(ctx actor.Context, sig syscall.Signal) {
	if j.ended {
		return
	}
	if j.stop != nil {
		j.stop(fmt.Errorf("%w: %v", errKilled, sig))
	}
	j.tell(ctx, fmt.Sprintf("The job was ended by signal %d (%v)", int(sig), sig))
}

// tell answers for a job whose function has no result.
func (j *job) tell(ctx actor.Context, what string) {
	j.finish(ctx, modules.Result{Job: j.load, Return: what, Retcode: int64(1), Success: false, Out: "nested"})
}

// finish hands over the return. The job ends when it is on disk.
func (j *job) finish(ctx actor.Context, r modules.Result) {
	if j.ended {
		return // the function came to its end after it was killed
	}
	j.ended = true
	if r.NoReturn {
		j.onAnswered(ctx)
		return
	}
	ret := r.Map()
	j.opt.log.Info("Returning information for job: " + j.jid())
	if j.opt.cache != nil {
		if err := j.opt.cache(j.jid(), ret); err != nil {
			j.opt.log.Error("the return is not kept locally", "jid", j.jid(), "err", err)
		}
	}
	if r.Crashed {
		text, _ := r.Return.(string)
		j.opt.crashed(j.link, j.jid(), text)
	}
	if j.opt.extra != nil {
		j.opt.extra(j.load, ret)
	}
	if !j.opt.pubRet || j.link == nil {
		j.onAnswered(ctx)
		return
	}
	self := j.self
	supervisor.Send(ctx, j.opt.sender(j.link), &SendReturn{JID: j.jid(), Load: returnLoad(j.link, ret), Kept: func() { self.Send(&jobAnswered{}) }})
}

// returnLoad is the load of a _return request, in Salt's order.
func returnLoad(l *link, ret *payload.Map) *payload.Map {
	load := payload.M("cmd", payload.CmdReturn, "id", l.cfg.ID)
	load.Update(ret)
	return load
}

func (j *job) onAnswered(ctx actor.Context) {
	if err := j.opt.proc.remove(j.jid()); err != nil {
		j.opt.log.Error("the proc entry stays", "jid", j.jid(), "err", err)
	}
	supervisor.Send(ctx, j.opt.dispatcher, &JobEnded{JID: j.jid()})
	supervisor.Of(ctx).Done(j.self.Name())
}

// lastDeath tells what the incarnation before this one died of.
func lastDeath(ctx actor.Context) string {
	path := supervisor.Self(ctx).Path()
	why := "its actor ended"
	for _, d := range supervisor.Of(ctx).History() {
		if d.Path == path {
			why = d.Reason
		}
	}
	return why
}
