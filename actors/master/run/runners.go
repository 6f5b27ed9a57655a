package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/jobs"
	"brine/modules/fleet/door"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/payload"
)

// RunRunner starts one runner function as an actor of its own. Unlike Salt: it stays under the supervisor,
// which lists and ends it.
type RunRunner struct {
	Req runners.Request
	// Done is for whoever has asked: it gets the record of the run, with its return. It is called once, by the Runner's
	// actor, or by whoever finds that the message is lost, and must not block. It packs the answer, which may be large:
	// no other actor is to be held up by that. nil: nobody waits.
	Done func(rec *payload.Map, err error)
	// Limit ends it; 0: nothing does.
	Limit time.Duration
}

// Lost answers whoever waits for the runner.
func (m *RunRunner) Lost(why error) { m.done(nil, why) }

func (m *RunRunner) done(rec *payload.Map, err error) {
	if m.Done != nil {
		m.Done(rec, err)
	}
}

// runnerOutcome says that a runner function has ended.
type runnerOutcome struct{}

// Func runs a runner or wheel function and fires its events.
type Func func(ctx context.Context, req runners.Request, fire func(tag string, data *payload.Map)) *runners.Result

// runnerOptions are what a Runner needs of the master.
type runnerOptions struct {
	run   Func
	fire  func(tag string, data *payload.Map)
	store func(*jobs.SaveLoad, *jobs.StoreReturn)
	ended func()
	id    string // of the master, under which runner jobs are stored
	log   *slog.Logger
}

// runnerEnd is how a run ended. It is told once, by the function or for it, whichever comes first: the function may go
// on after its actor has died. All incarnations of a Runner share it.
type runnerEnd struct {
	told atomic.Pointer[runnerTold]
	over atomic.Bool // the end is answered
}

// runnerTold is what the event of the end says.
type runnerTold struct {
	data *payload.Map
	died error // the function has not told it itself
}

// runnerActor runs one runner function. Its first incarnation runs the function; a later one only tells that the runner
// has died, unless its end was told before.
type runnerActor struct {
	opt runnerOptions
	req *RunRunner
	end *runnerEnd
}

func (a *runnerActor) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		a.onStarted(ctx)
	case *runnerOutcome:
		a.finish(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (a *runnerActor) onStarted(ctx supervisor.Context) {
	if supervisor.Incarnation(ctx) > 1 {
		a.tellDeath()
		a.finish(ctx)
		return
	}
	self, req, limit := supervisor.Self(ctx), a.req.Req, a.req.Limit
	supervisor.Go(ctx, req.Fun, func(life context.Context) error {
		ctx := life
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		a.opt.run(ctx, req, func(tag string, data *payload.Map) { a.fire(life, tag, data) })
		self.Send(&runnerOutcome{})
		return nil
	})
}

// fire takes the events of the function. One that fails when the actor has no more time was ended by that.
func (a *runnerActor) fire(life context.Context, tag string, data *payload.Map) {
	switch {
	case tag != a.tag():
		a.opt.fire(tag, data)
	case life.Err() != nil && data.Value("success") != true:
		a.tellDeath()
	default:
		a.tell(&runnerTold{data: data})
	}
}

// tag is that of the event which everybody waits for.
func (a *runnerActor) tag() string { return runners.Tag(a.req.Req.Kind, a.req.Req.JID) + "/ret" }

// tellDeath ends a run that does not tell it itself.
func (a *runnerActor) tellDeath() {
	data := runners.Died(a.req.Req)
	a.tell(&runnerTold{data: data, died: errors.New(data.Str("return"))})
}

// tell stores the end of the run, then fires its event: who has heard of it finds it.
func (a *runnerActor) tell(t *runnerTold) {
	if !a.end.told.CompareAndSwap(nil, t) {
		return
	}
	ret, req := payload.NewReturn(t.data), a.req.Req
	a.opt.store(
		&jobs.SaveLoad{JID: req.JID, Minions: []string{a.opt.id}, Load: payload.M("fun", ret.Fun(), "arg",
			ret.Field(payload.FieldFunArgs), "tgt", a.opt.id, "tgt_type", "glob", "ret", "", "jid", req.JID, "user",
			req.User)},
		&jobs.StoreReturn{JID: req.JID, ID: a.opt.id, Keep: true, Load: payload.M("jid", req.JID, "id", a.opt.id,
			"fun", ret.Fun(), "return", t.data, "success", t.data.Value("success"))})
	a.opt.fire(a.tag(), t.data.Clone())
}

// finish answers who waits, once, and ends the actor.
func (a *runnerActor) finish(ctx supervisor.Context) {
	if a.end.over.CompareAndSwap(false, true) {
		a.answer(ctx, a.end.told.Load())
	}
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}

func (a *runnerActor) answer(ctx supervisor.Context, told *runnerTold) {
	a.opt.ended()
	if told.died != nil {
		supervisor.Failed(ctx)
		a.opt.log.Warn("Runner died: "+a.req.Req.JID, "fun", a.req.Req.Fun)
		a.req.done(nil, told.died)
		return
	}
	door.Known(a.opt.log).Info("Runner completed: " + a.req.Req.JID)
	a.req.done(told.data, nil)
}

// Start adds a Runner under the master's supervisor.
func (f *Functions) Start(m *RunRunner) error {
	name := "Runner-" + m.Req.JID
	f.busy.Store(name, m.Req)
	ended, end := func() { f.busy.Delete(name) }, &runnerEnd{}
	_, err := f.Inside.parts.Tree().Add(supervisor.Spec{
		Name:        name,
		StopTimeout: time.Second,
		New: func() supervisor.Actor {
			return &runnerActor{req: m, end: end, opt: runnerOptions{run: f.run, fire: f.Inside.parts.Events.Fire, id: f.opt.ID,
				log: f.log, ended: ended,
				store: func(l *jobs.SaveLoad, r *jobs.StoreReturn) { f.parts.Jobs.Send(l); f.parts.Jobs.Send(r) }}}
		},
	})
	if err != nil {
		ended()
		return fmt.Errorf("start runner %s: %w", m.Req.Fun, err)
	}
	return nil
}

// Await runs a function as start does and gives the record of the run, which is the caller's. When ctx ends the run
// goes on without anybody who waits for it, up to its limit (0: none).
func (f *Functions) Await(ctx context.Context, req runners.Request, limit time.Duration) (*payload.Map, error) {
	type outcome struct {
		rec *payload.Map
		err error
	}
	ended := make(chan outcome, 1)
	if err := f.Start(&RunRunner{Req: req, Limit: limit, Done: func(rec *payload.Map, err error) {
		ended <- outcome{rec.Clone(), err}
	}}); err != nil {
		return nil, err
	}
	select {
	case o := <-ended:
		return o.rec, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// client runs functions of this master for the execution functions on it: in pillars, in reactions, of engines. A run
// ends when the time of its caller does.
func (f *Functions) client() runners.Client {
	return runners.Client{Env: func(kind runners.Kind) *loader.Env { return f.envs[kind] }, Publisher: f.Inside,
		Do: func(ctx context.Context, req runners.Request) (*payload.Map, error) {
			var limit time.Duration
			if end, bounded := ctx.Deadline(); bounded {
				limit = max(time.Until(end), time.Millisecond)
			}
			req.JID = f.parts.Jobs.IDs.Next(time.Now())
			return f.Await(ctx, req, limit)
		}}
}
