package runners

import (
	"context"
	"time"

	"brine/modules/loader"
	"brine/modules/text/args"
	"brine/wire/event"
	"brine/wire/payload"
)

// Client runs functions of the master for the execution functions on its machine (loader.Host): for saltutil.runner,
// saltutil.wheel and saltutil.cmd. Source: salt/client/mixins.py, cmd; salt/modules/saltutil.py.
type Client struct {
	Env func(Kind) *loader.Env // the functions of a kind
	// Do runs one, under a job id of its own, and gives the record of the run, which is the caller's.
	Do        func(ctx context.Context, req Request) (*payload.Map, error)
	Publisher Publisher
}

// Run runs a runner function and gives what it returned; with full, the record of the run.
func (c Client) Run(ctx context.Context, run loader.MasterRun, full bool) (any, error) {
	rec, err := c.record(ctx, KindRunner, run)
	switch {
	case err != nil:
		return nil, err
	case full:
		return rec, nil
	}
	return rec.Value("return"), nil
}

// Wheel runs a wheel function and gives the record of the run.
func (c Client) Wheel(ctx context.Context, run loader.MasterRun) (any, error) {
	return c.record(ctx, KindWheel, run)
}

// record runs a function.
func (c Client) record(ctx context.Context, kind Kind, run loader.MasterRun) (*payload.Map, error) {
	env := c.Env(kind)
	f, ok := env.Registry.Lookup(run.Fun)
	if !ok {
		return nil, loader.Raise("KeyError", "'%s'", run.Fun)
	}
	req, err := asked(f, kind, run, loader.StringList(env.Opts().Value("no_parse")))
	if err != nil {
		return nil, err
	}
	rec, err := c.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	return rec.Set("_stamp", event.Stamp(time.Now())), nil
}

// asked is the request of a run: texts among its positional arguments are read as words of a command line.
func asked(f *loader.Func, kind Kind, run loader.MasterRun, noParse []string) (Request, error) {
	given := run.KW.Clone()
	if f.Takes("saltenv") {
		given.Set("saltenv", run.Saltenv)
	}
	pos, kw := args.Split(run.Args, noParse)
	kw.Update(given)
	list := args.Condition(pos, kw)
	pos, kw, err := loader.LoadArgs(f, list, run.Pub)
	return Request{Kind: kind, Fun: f.Name, Args: pos, KW: kw, User: run.Pub.Str("user")}, err
}

// Cmd publishes a job and gathers the returns of the minions that answer: id to {ret, out, retcode, jid}.
func (c Client) Cmd(ctx context.Context, cmd loader.LocalCmd) (*payload.Map, error) {
	job := Job{Tgt: cmd.Tgt, TgtType: cmd.TgtType, Fun: cmd.Fun, Args: cmd.Args, KW: cmd.KW.Map("kwarg"), Ret: cmd.Ret}
	if cmd.Timeout != nil {
		job.Timeout = time.Duration(*cmd.Timeout) * time.Second
	}
	got, err := c.Publisher.Collect(ctx, job)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(got.Returns.Len())
	for id, v := range got.Returns.All() {
		data, _ := v.(*payload.Map)
		ret := payload.NewReturn(data)
		m := payload.M("ret", ret.Value())
		ret.Pass(m, payload.FieldOut, payload.FieldRetcode, payload.FieldJID)
		out.Set(id, m)
	}
	return out, nil
}
