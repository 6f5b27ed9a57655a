package saltutil

import (
	"context"
	"errors"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func masterFunctions() []loader.Func {
	return []loader.Func{
		loader.Fn("revoke_auth", revokeAuth,
			"Ask the master to delete this minion's key. The master must allow it (allow_minion_key_revoke).",
			"saltutil.revoke_auth"),
		loader.Fn("cmd", cmd, "Run a function on minions, from a minion on the master's host.",
			"saltutil.cmd '*' test.ping"),
		loader.Fn("cmd_iter", cmdIter, "The same as saltutil.cmd.", "saltutil.cmd_iter '*' test.ping"),
		loader.Fn("runner", runner, "Run a runner function, from a minion on the master's host.",
			"saltutil.runner jobs.list_jobs"),
		loader.Fn("wheel", wheel, "Run a wheel function, from a minion on the master's host.",
			"saltutil.wheel key.accept 'web*'"),
		loader.Fn("mmodule", mmodule, "Run an execution function with the modules of an environment.",
			"saltutil.mmodule base test.ping"),
	}
}

// onlyOnMaster is what a minion answers that is not on a master's host.
const onlyOnMaster = "This command can only be executed on a minion that is located on the master."

// revoked is a key to delete.
type revoked struct {
	PreserveCache any `arg:"preserve_minion_cache=False"`
}

func revokeAuth(c *loader.Call, a revoked) (any, error) {
	master := c.Host().Master
	if master == nil {
		return nil, loader.Raise("KeyError", "'master_uri'")
	}
	_, err := master.Request(c.Ctx,
		payload.M("cmd", payload.CmdRevokeAuth, "id", c.ID, "preserve_minion_cache", a.PreserveCache))
	if errors.Is(err, loader.ErrRequestTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// command is a job for minions.
type command struct {
	Target     any          `arg:"tgt"`
	Fun        any          `arg:"fun"`
	Args       []any        `arg:"arg=[]"`
	Timeout    any          `arg:"timeout=None"`
	TargetType string       `arg:"tgt_type=glob"`
	Returner   string       `arg:"ret=''"`
	Kwarg      *payload.Map `arg:"kwarg=None"`
	SSH        any          `arg:"ssh=False"`
	KW         *payload.Map `arg:"**kwargs"`
}

func cmd(c *loader.Call, a command) (any, error) {
	client := c.Host().Local
	if client == nil {
		return nil, &loader.ClientError{Message: "The salt master could not be contacted. Is master running?"}
	}
	kw := loader.CleanKWArgs(a.KW)
	if a.Kwarg != nil {
		kw.Set("kwarg", a.Kwarg)
	}
	job := loader.LocalCmd{Tgt: a.Target, Fun: a.Fun, Args: a.Args, KW: kw, TgtType: a.TargetType, Ret: a.Returner}
	if v := a.Timeout; v != nil {
		n, err := loader.ToInt(v)
		if err != nil {
			return nil, err
		}
		job.Timeout = &n
	}
	out, err := client.Cmd(c.Ctx, job)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// cmdIter is a generator in Salt: a function that calls it gets one map for each minion, a job gets them in one.
func cmdIter(c *loader.Call, a command) (any, error) {
	v, err := cmd(c, a)
	all, ok := v.(*payload.Map)
	if err != nil || !ok || !c.Nested() {
		return v, err
	}
	if all.Len() == 0 { // what comes of a target that nobody matches
		return []any{all}, nil
	}
	each := make([]any, 0, all.Len())
	for id, ret := range all.All() {
		each = append(each, payload.M(id, ret))
	}
	return each, nil
}

// asked is a function of a runner with its arguments.
type asked struct {
	Name       string       `arg:"name"`
	Args       any          `arg:"arg=None"`
	Kwarg      any          `arg:"kwarg=None"`
	FullReturn bool         `arg:"full_return=False"`
	Saltenv    any          `arg:"saltenv=base"`
	JID        any          `arg:"jid=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

func runner(c *loader.Call, a asked) (any, error) {
	list, ok := a.Args.([]any)
	if v := a.Args; v != nil && !ok {
		return nil, loader.InvocErr("arg must be formatted as a list/tuple")
	}
	kw, ok := a.Kwarg.(*payload.Map)
	if v := a.Kwarg; v != nil && !ok {
		return nil, loader.InvocErr("kwarg must be formatted as a dictionary")
	}
	kw = kw.Clone()
	kw.Update(loader.CleanKWArgs(a.KW))
	client := c.Host().Runner
	if client == nil {
		return nil, loader.ExecErr(onlyOnMaster)
	}
	user := a.KW.Str("__pub_user")
	if user == "" {
		user = "UNKNOWN"
	}
	run := loader.MasterRun{Fun: a.Name, Args: list, KW: kw, Saltenv: environment(a.KW, a.Saltenv),
		Pub: payload.M("user", user)}
	return client.Run(c.Ctx, run, a.FullReturn)
}

// environment is the one that a state run names, or another.
func environment(kw *payload.Map, other any) any {
	if env, ok := kw.Get("__env__"); ok {
		return env
	}
	return other
}

// turned is a function of the wheel with its arguments.
type turned struct {
	Name string       `arg:"name"`
	Args []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func wheel(c *loader.Call, a turned) (any, error) {
	client := c.Host().Wheel
	if client == nil {
		return nil, loader.ExecErr(onlyOnMaster)
	}
	rec, err := client.Wheel(c.Ctx, loader.MasterRun{Fun: a.Name, Args: a.Args, KW: loader.CleanKWArgs(a.KW),
		Saltenv: environment(a.KW, "base")})
	var wrong *loader.InvocationError
	if errors.As(err, &wrong) { // Salt takes wrong arguments for the want of a master
		return nil, loader.ExecErr(onlyOnMaster)
	}
	return rec, err
}

// called is an execution function with its arguments.
type called struct {
	Saltenv any          `arg:"saltenv"`
	Fun     any          `arg:"fun"`
	Args    []any        `arg:"*args"`
	KW      *payload.Map `arg:"**kwargs"`
}

func mmodule(c *loader.Call, a called) (any, error) {
	return c.Call(python.Str(a.Fun), a.Args, loader.CleanKWArgs(a.KW))
}
