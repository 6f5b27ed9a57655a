package workers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/complaints"
	"brine/actors/master/eventbus"
	"brine/actors/master/meter"
	"brine/actors/master/record"
	"brine/actors/master/reqserver"
	"brine/actors/master/signin"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// WorkerOptions are what the workers need of the master; they share it.
type WorkerOptions struct {
	Auth       *auth.Master
	SignIns    *signin.Side
	Handlers   *Handlers
	Pools      *reqserver.Pools
	Rules      *atomic.Pointer[access.Rules]
	Complaints *complaints.Log
	Meter      *meter.Meter
	Events     *eventbus.Bus
	Stats      bool          // master_stats,
	StatsEvery time.Duration // and master_stats_event_iter
	Log        *slog.Logger
}

// NewWorker is the actor of that name in a pool, which server deals requests to.
func NewWorker(opt *WorkerOptions, name string, pool int, server *supervisor.Ref) supervisor.Actor {
	return &mworker{name: name, pool: pool, server: server, opt: opt}
}

// mworker answers requests, one at a time. What it can be asked stands in commands.go.
type mworker struct {
	name   string
	pool   int
	server *supervisor.Ref
	opt    *WorkerOptions
	stats  workerStats
}

// call is one request as its handler sees it.
type call struct {
	ctx  context.Context
	load *payload.Map
	id   string // of the minion; "" with clear requests
	req  *reqserver.Request
	from record.Origin
	// rules are those of the whole request, whatever is reloaded meanwhile.
	rules *access.Rules

	log     *slog.Logger
	replied func() // told when the answer has left; nil: nobody is
	// beside runs f in a goroutine of the worker, for what takes longer than the worker has time for. If f panics the
	// request is answered, and the worker dies of it.
	beside func(name string, f func(ctx context.Context))
}

// vouched tells whether a token vouches for the minion that sent the request.
func (r *call) vouched() bool { return r.req.Opened.Load().TokenOK }

// finish answers with what a handler has come to.
func (r *call) finish(v any) { r.req.Finish(v, r.log) }

// errLater is returned by a handler that answers by call.finish, later and from another actor.
var errLater = errors.New("the answer comes later")

func (w *mworker) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		w.stats = workerStats{since: time.Now()}
		w.ready(ctx, nil)
	case *reqserver.Work:
		w.onWork(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

// ready asks for the next request; after a death of the worker it is how the ReqServer learns of the new one.
func (w *mworker) ready(ctx supervisor.Context, done *reqserver.Work) {
	supervisor.Send(ctx, w.server, &reqserver.WorkerReady{Pool: w.pool, Ref: supervisor.Self(ctx),
		Life: supervisor.Incarnation(ctx), Done: done})
}

// onWork handles one request, then asks for another. One that panics does not: its successor does when it starts.
func (w *mworker) onWork(ctx supervisor.Context, m *reqserver.Work) {
	m.Begin(supervisor.Incarnation(ctx))
	w.handle(ctx, m.Req)
	w.ready(ctx, m)
}

func (w *mworker) handle(ctx supervisor.Context, r *reqserver.Request) {
	if r.Answered.Load() { // its peer was told that it failed: it must not happen now
		return
	}
	start := time.Now()
	pool := w.opt.Pools.Name(w.pool)
	w.opt.Meter.Taken(pool, r.At, start)
	cmd := payload.CmdAuth
	if r.Opened.Load() == nil && auth.IsSignIn(r.Env) {
		w.signIn(ctx, r)
	} else if o := w.open(ctx, r); o == nil {
		return
	} else {
		cmd = o.Cmd
		w.serve(ctx, r, o, start)
	}
	if w.opt.Meter != nil {
		w.opt.Meter.Request(cmd, pool, start, time.Now())
	}
	if w.opt.Stats {
		w.report(cmd, start, time.Now())
	}
}

func (w *mworker) signIn(ctx supervisor.Context, r *reqserver.Request) {
	reply, outcome := w.opt.Auth.Handle(r.Env, time.Now())
	if outcome.ID == "" {
		outcome.ID = signin.ClaimedID(r.Env)
	}
	if outcome.Act == "" {
		supervisor.Failed(ctx)
	}
	w.opt.SignIns.Done(outcome)
	r.Answer(reply)
}

// open checks a request once. It returns nil when there is nothing more to do here: the request was refused,
// or its command belongs to another pool.
func (w *mworker) open(ctx supervisor.Context, r *reqserver.Request) *auth.Opened {
	opened := r.Opened.Load()
	if opened == nil {
		var refuse []byte
		if opened, refuse = w.opt.Auth.OpenRequest(r.Env, time.Now()); opened == nil {
			supervisor.Failed(ctx)
			w.opt.Meter.Fail(meter.FailedRefused)
			r.Answer(refuse)
			return nil
		}
		w.opt.SignIns.Met(opened)
		if !opened.Clear && r.Sealed != nil {
			r.Sealed()
		}
		if opened.TokenOK && r.Known != nil {
			r.Known()
		}
		r.Opened.Store(opened)
		r.Env = nil
	}
	if r.Rules == nil {
		r.Rules = w.opt.Rules.Load()
	}
	if r.Login == nil && opened.Clear && w.opt.Pools.Login >= 0 && access.LogsIn(opened.Load) {
		id, err := r.Rules.Eauth.Check(access.LoginFields(opened.Load), r.From)
		r.Login = &access.Login{ID: id, Err: err}
	}
	if pool := w.opt.Pools.Of(opened.Cmd); pool != w.pool {
		r.Pool = pool
		supervisor.Send(ctx, w.server, &reqserver.RouteRequest{Req: r})
		return nil
	}
	return opened
}

// serve runs the command's handler and answers in the form of the request.
func (w *mworker) serve(ctx supervisor.Context, r *reqserver.Request, o *auth.Opened, began time.Time) {
	table := aesCommands
	if o.Clear {
		table = clearCommands
	} else if o.Cmd == "" {
		supervisor.Failed(ctx)
		w.opt.Meter.Fail(meter.FailedRefused)
		r.Answer(reqserver.TextFailed)
		return
	}
	handler, known := table[o.Cmd]
	if !known || (!o.Clear && !w.opt.SignIns.Trusted(o)) {
		w.opt.Log.Debug("command does not exist", "cmd", payload.Show(o.Cmd), "minion", payload.Show(o.ID))
		r.Finish(payload.NewMap(0), w.opt.Log)
		return
	}
	supervisor.Note(ctx, payload.Show(o.Load.Str(payload.FieldJID)))
	c := &call{ctx: supervisor.Lifetime(ctx), load: o.Load, id: o.ID, req: r, rules: r.Rules, log: w.opt.Log,
		beside: beside(ctx, r),
		from:   record.Origin{At: r.At, Began: began, Lane: w.opt.Pools.Name(w.pool), Worker: w.name, NoFiles: r.NoFiles}}
	v, err := handler(w.opt.Handlers, c)
	switch {
	case errors.Is(err, errLater):
	case err != nil:
		supervisor.Failed(ctx)
		w.opt.Meter.Fail(meter.FailedHandler)
		w.opt.Complaints.Warn("request failed", r.From, "cmd", payload.Show(o.Cmd), "minion", payload.Show(o.ID), "err",
			err)
		r.Fail()
	default:
		c.finish(v)
		if c.replied != nil {
			c.replied()
		}
	}
}

// beside is the one of a call that answers r.
func beside(ctx supervisor.Context, r *reqserver.Request) func(string, func(context.Context)) {
	return func(name string, f func(context.Context)) {
		supervisor.Go(ctx, name, func(ctx context.Context) error {
			whole := false
			defer func() {
				if !whole {
					r.Fail()
				}
			}()
			f(ctx)
			whole = true
			return nil
		})
	}
}
