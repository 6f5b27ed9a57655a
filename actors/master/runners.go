package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// RunRunner starts one runner function as an actor of its own. Unlike Salt: it stays under the supervisor,
// which lists and ends it.
type RunRunner struct {
	Req runners.Request
	// Done is for whoever has asked: it is called once, by the Runner's actor, or by whoever finds that the message is lost,
	// and must not block. It packs the answer, which may be large: no other actor is to be held up by that. nil: nobody waits.
	Done func(v any, err error)
	// Limit ends it; 0: nothing does.
	Limit time.Duration
}

// Lost answers whoever waits for the runner.
func (m *RunRunner) Lost(why error) { m.done(nil, why) }

func (m *RunRunner) done(v any, err error) {
	if m.Done != nil {
		m.Done(v, err)
	}
}

// runnerOutcome is what a runner function came to.
type runnerOutcome struct{ result *runners.Result }

// runFunc runs a runner or wheel function and fires its events.
type runFunc func(ctx context.Context, req runners.Request, fire func(tag string, data *payload.Map)) *runners.Result

// runnerOptions are what a Runner needs of the master.
type runnerOptions struct {
	run   runFunc
	fire  func(tag string, data *payload.Map)
	store func(*SaveLoad, *StoreReturn)
	ended func()
	id    string // of the master, under which runner jobs are stored
	log   *slog.Logger
}

// runnerActor runs one runner function and tells what came of it. Its first incarnation runs the function; a
// later one only tells that the runner has died.
type runnerActor struct {
	opt runnerOptions
	req *RunRunner
}

func (a *runnerActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.onStarted(ctx)
	case *runnerOutcome:
		a.onOutcome(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (a *runnerActor) onStarted(ctx actor.Context) {
	if supervisor.Incarnation(ctx) > 1 {
		a.onDied(ctx)
		return
	}
	self, opt, req, limit := supervisor.Self(ctx), a.opt, a.req.Req, a.req.Limit
	supervisor.Go(ctx, req.Fun, func(ctx context.Context) error {
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		self.Send(&runnerOutcome{result: opt.run(ctx, req, opt.fire)})
		return nil
	})
}

// onDied ends a run whose actor died: the event that everybody waits for says so.
func (a *runnerActor) onDied(ctx actor.Context) {
	supervisor.Failed(ctx)
	req := a.req.Req
	text := fmt.Sprintf("Exception occurred in %s %s: the runner died", req.Kind, req.Fun)
	data := payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User, "fun_args", req.Args, "return", text, "success", false)
	a.opt.fire(runners.Tag(req.Kind, req.JID)+"/ret", data)
	a.opt.ended()
	a.req.done(nil, errors.New(text))
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}

func (a *runnerActor) onOutcome(ctx actor.Context, m *runnerOutcome) {
	data, req := m.result.Data, a.req.Req
	told := payload.NewReturn(data)
	a.opt.store(
		&SaveLoad{JID: req.JID, Minions: []string{a.opt.id}, Load: payload.M("fun", told.Fun(), "arg", told.Field(payload.FieldFunArgs),
			"tgt", a.opt.id, "tgt_type", "glob", "ret", "", "jid", req.JID, "user", req.User)},
		&StoreReturn{JID: req.JID, ID: a.opt.id, Keep: true, Load: payload.M("jid", req.JID, "id", a.opt.id,
			"fun", told.Fun(), "return", data, "success", m.result.Success)})
	a.opt.log.Info("Runner completed: " + req.JID)
	a.opt.ended()
	a.req.done(m.result.Return, nil)
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}

// start adds a Runner under the master's supervisor.
func (f *ownFunctions) start(m *RunRunner) error {
	name := "Runner-" + m.Req.JID
	f.busy.Store(name, m.Req)
	ended := func() { f.busy.Delete(name) }
	_, err := f.tree.Load().Add(supervisor.Spec{
		Name:        name,
		StopTimeout: time.Second,
		New: func() actor.Actor {
			return &runnerActor{req: m, opt: runnerOptions{run: f.run, fire: f.events.fire, id: f.opt.id, log: f.log, ended: ended,
				store: func(l *SaveLoad, r *StoreReturn) { f.jobs.writer.Send(l); f.jobs.writer.Send(r) }}}
		},
	})
	if err != nil {
		ended()
		return fmt.Errorf("start runner %s: %w", m.Req.Fun, err)
	}
	return nil
}
