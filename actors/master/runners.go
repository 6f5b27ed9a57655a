package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// RunRunner starts one runner function as an actor of its own. Unlike Salt: it stays under the supervisor,
// which lists and ends it.
type RunRunner struct {
	JID, Fun string
	Args     []any
	KW       *payload.Map
	User     string
	Done     func(v any, err error) // may be nil; called once
}

// runnerOutcome is what a runner function came to.
type runnerOutcome struct {
	value any
	err   error
}

// runnerOptions are what a Runner needs of the master.
type runnerOptions struct {
	call  func(ctx context.Context, m *RunRunner) (any, error)
	fire  func(tag string, data *payload.Map)
	store func(*SaveLoad, *StoreReturn)
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
		a.onOutcome(ctx, &runnerOutcome{err: errors.New("the runner died")})
		return
	}
	a.opt.fire("salt/run/"+a.req.JID+"/new", a.record())
	self, call, req := supervisor.Self(ctx), a.opt.call, a.req
	supervisor.Go(ctx, a.req.Fun, func(ctx context.Context) error {
		v, err := call(ctx, req)
		self.Send(&runnerOutcome{value: v, err: err})
		return nil
	})
}

// record is the data that both events of a runner have.
func (a *runnerActor) record() *payload.Map {
	args := a.req.Args
	if a.req.KW.Len() > 0 {
		args = append(append([]any{}, args...), a.req.KW)
	}
	if args == nil {
		args = []any{}
	}
	return payload.M("fun", "runner."+a.req.Fun, "jid", a.req.JID, "user", a.req.User, "fun_args", args)
}

func (a *runnerActor) onOutcome(ctx actor.Context, m *runnerOutcome) {
	data := a.record()
	ret, success := m.value, m.err == nil
	if m.err != nil {
		supervisor.Failed(ctx)
		ret = m.err.Error()
	}
	data.Set("return", ret).Set("success", success)
	a.opt.store(
		&SaveLoad{JID: a.req.JID, Minions: []string{a.opt.id}, Load: payload.M("fun", data.Value("fun"), "arg", data.Value("fun_args"),
			"tgt", a.opt.id, "tgt_type", "glob", "ret", "", "jid", a.req.JID, "user", a.req.User)},
		&StoreReturn{JID: a.req.JID, ID: a.opt.id, Stored: func(error) {}, Load: payload.M("jid", a.req.JID, "id", a.opt.id,
			"fun", data.Value("fun"), "return", data, "success", success)})
	a.opt.fire("salt/run/"+a.req.JID+"/ret", data)
	a.opt.log.Info("Runner completed: " + a.req.JID)
	if a.req.Done != nil {
		a.req.Done(ret, m.err)
	}
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}

// startRunner adds a Runner under the master's supervisor.
func (c *core) startRunner(m *RunRunner) error {
	_, err := c.opt.Runners.Add(supervisor.Spec{
		Name:        "Runner-" + m.JID,
		StopTimeout: time.Second,
		New: func() actor.Actor {
			return &runnerActor{req: m, opt: runnerOptions{call: c.opt.RunRunner, fire: c.fire, id: c.cfg.ID, log: c.log,
				store: func(l *SaveLoad, r *StoreReturn) { c.jobs.Send(l); c.jobs.Send(r) }}}
		},
	})
	if err != nil {
		return fmt.Errorf("start runner %s: %w", m.Fun, err)
	}
	return nil
}
