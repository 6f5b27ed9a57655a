package master

import (
	"context"
	"log/slog"
	"os"
	"time"

	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/schedule"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// scheduledOutcome is what a run of the schedule came to.
type scheduledOutcome struct{ ret *payload.Map }

// scheduledRun runs one job of the schedule and tells what came of it. Its first incarnation runs the function; a later
// one only tells that the run has died: no job is run twice.
type scheduledRun struct {
	*schedules
	run   schedule.Run
	ended func()
	told  bool // what its predecessor had found out may come after that
}

func (a *scheduledRun) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		a.onStarted(ctx)
	case *scheduledOutcome:
		a.onOutcome(ctx, m.ret)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (a *scheduledRun) onStarted(ctx supervisor.Context) {
	self, run := supervisor.Self(ctx), a.run
	ret := a.begin(run)
	if supervisor.Incarnation(ctx) > 1 {
		supervisor.Failed(ctx)
		a.onOutcome(ctx, crashed(ret, unhandled(run.Fun, "the run died")))
		return
	}
	supervisor.Go(ctx, run.Fun, func(ctx context.Context) error {
		ret := a.call(ctx, run, ret)
		if ctx.Err() == nil { // who is stopped has not failed
			a.hand(ctx, run, ret)
		}
		self.Send(&scheduledOutcome{ret})
		return nil
	})
}

// onOutcome puts the return on the bus, unless the job does not want that (return_job). A return that has gone to no
// returner has no job id there, as in Salt; nothing stores it.
func (a *scheduledRun) onOutcome(ctx supervisor.Context, ret *payload.Map) {
	if a.told {
		return
	}
	a.told = true
	say, has := a.run.Job.Get("return_job")
	if !has || python.Truth(say) {
		if len(a.run.Returners(a.opt.returners)) == 0 {
			jid := "req"
			if say == "nocache" {
				jid = "nocache"
			}
			ret = ret.Clone().Set("jid", jid)
		}
		load := payload.M("cmd", payload.CmdReturn, "id", a.opt.id)
		load.Update(ret)
		a.events.fire(event.TagScheduleReturn, load)
	}
	a.ended()
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}

// begin is the return of a run as far as it is known before.
func (s *schedules) begin(run schedule.Run) *payload.Map {
	_, _, given := run.Args()
	ret := payload.M("id", s.opt.id, "fun", run.Fun, "fun_args", given, "schedule", run.Name, "jid", run.JID)
	if meta, ok := run.Metadata(time.Now()); !ok {
		s.note(slog.LevelWarn, run, schedule.NoMetadata)
	} else if meta != nil {
		ret.Set("metadata", meta)
	}
	return ret.Set("pid", int64(os.Getpid()))
}

// call runs the function and completes the return.
//
// Unlike Salt: the return of a function that failed says why; there it is "Unhandled exception running" and the
// function's name.
func (s *schedules) call(ctx context.Context, run schedule.Run, ret *payload.Map) *payload.Map {
	env := s.functions.envs[runners.KindRunner]
	f, ok := env.Registry.Lookup(run.Fun)
	if !ok {
		return crashed(ret, env.Registry.MissingText(run.Fun))
	}
	list, kw, _ := run.Args()
	if f.KWArgs {
		kw = kw.Clone()
		for k, v := range ret.All() {
			kw.Set("__pub_"+python.Str(k), v)
		}
	}
	c := loader.NewCall(ctx, env, run.Fun, payload.M("jid", run.JID, "user", s.opt.user))
	value, err := runners.Call(c, f, list, kw)
	if err != nil && ctx.Err() != nil {
		s.note(slog.LevelInfo, run, "the run ends with the master")
		return crashed(ret, unhandled(run.Fun, "the master was stopped"))
	}
	if err != nil {
		text := unhandled(run.Fun, loader.Traceback(run.Fun, err))
		s.note(slog.LevelError, run, "Unhandled exception running "+run.Fun, "err", err)
		return crashed(ret, text)
	}
	return ret.Clone().Set("return", value).Set("retcode", int64(c.Retcode())).Set("success", true)
}

// unhandled is the return of a run that is no outcome of its function.
func unhandled(fun, why string) string { return "Unhandled exception running " + fun + ": " + why }

// crashed makes of a return one that tells of a failure.
func crashed(ret *payload.Map, text string) *payload.Map {
	return ret.Clone().Set("return", text).Set("success", false).Set("retcode", int64(254))
}
