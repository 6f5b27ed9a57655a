package saltutil

import (
	"context"
	"errors"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func masterFunctions() []loader.Func {
	cmdParams := []loader.Param{loader.Req("tgt"), loader.Req("fun"), loader.Opt("arg", []any{}), loader.Opt("timeout", nil),
		loader.Opt("tgt_type", "glob"), loader.Opt("ret", ""), loader.Opt("kwarg", nil), loader.Opt("ssh", false)}
	return []loader.Func{
		{Name: "saltutil.revoke_auth", Params: []loader.Param{loader.Opt("preserve_minion_cache", false)}, Run: revokeAuth,
			Doc: `Ask the master to delete this minion's key. The master must allow it (allow_minion_key_revoke).

CLI Example:

    salt '*' saltutil.revoke_auth`},
		{Name: "saltutil.cmd", Params: cmdParams, KWArgs: true, Run: cmd, Doc: `Run a function on minions, from a minion on the master's host.

CLI Example:

    salt '*' saltutil.cmd '*' test.ping`},
		{Name: "saltutil.cmd_iter", Params: cmdParams, KWArgs: true, Run: cmdIter, Doc: `The same as saltutil.cmd.

CLI Example:

    salt '*' saltutil.cmd_iter '*' test.ping`},
		{Name: "saltutil.runner", Params: []loader.Param{loader.Req("name"), loader.Opt("arg", nil), loader.Opt("kwarg", nil),
			loader.Opt("full_return", false), loader.Opt("saltenv", "base"), loader.Opt("jid", nil)}, KWArgs: true, Run: runner,
			Doc: `Run a runner function, from a minion on the master's host.

CLI Example:

    salt '*' saltutil.runner jobs.list_jobs`},
		{Name: "saltutil.wheel", Params: []loader.Param{loader.Req("name")}, VarArgs: true, KWArgs: true, Run: wheel,
			Doc: `Run a wheel function, from a minion on the master's host.

CLI Example:

    salt '*' saltutil.wheel key.accept 'web*'`},
		{Name: "saltutil.mmodule", Params: []loader.Param{loader.Req("saltenv"), loader.Req("fun")}, VarArgs: true, KWArgs: true, Run: mmodule,
			Doc: `Run an execution function with the modules of an environment.

CLI Example:

    salt '*' saltutil.mmodule base test.ping`},
	}
}

// onlyOnMaster is what a minion answers that is not on a master's host.
const onlyOnMaster = "This command can only be executed on a minion that is located on the master."

func revokeAuth(c *loader.Call, a loader.Args) (any, error) {
	master := c.Host().Master
	if master == nil {
		return nil, loader.Raise("KeyError", "'master_uri'")
	}
	_, err := master.Request(c.Ctx, payload.M("cmd", payload.CmdRevokeAuth, "id", c.ID, "preserve_minion_cache", a.Get("preserve_minion_cache")))
	if errors.Is(err, loader.ErrRequestTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

func cmd(c *loader.Call, a loader.Args) (any, error) {
	client := c.Host().Local
	if client == nil {
		return nil, &loader.ClientError{Message: "The salt master could not be contacted. Is master running?"}
	}
	args, _ := a.Get("arg").([]any)
	kw := a.UserKW()
	if m, ok := a.Get("kwarg").(*payload.Map); ok {
		kw.Set("kwarg", m)
	}
	job := loader.LocalCmd{Tgt: a.Get("tgt"), Fun: a.Get("fun"), Args: args, KW: kw, TgtType: a.Str("tgt_type"), Ret: a.Str("ret")}
	if v := a.Get("timeout"); v != nil {
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
func cmdIter(c *loader.Call, a loader.Args) (any, error) {
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

func runner(c *loader.Call, a loader.Args) (any, error) {
	list, ok := a.Get("arg").([]any)
	if v := a.Get("arg"); v != nil && !ok {
		return nil, loader.InvocErr("arg must be formatted as a list/tuple")
	}
	kw, ok := a.Get("kwarg").(*payload.Map)
	if v := a.Get("kwarg"); v != nil && !ok {
		return nil, loader.InvocErr("kwarg must be formatted as a dictionary")
	}
	kw = kw.Clone()
	kw.Update(a.UserKW())
	client := c.Host().Runner
	if client == nil {
		return nil, loader.ExecErr(onlyOnMaster)
	}
	user := a.KW.Str("__pub_user")
	if user == "" {
		user = "UNKNOWN"
	}
	run := loader.MasterRun{Fun: a.Str("name"), Args: list, KW: kw, Saltenv: environment(a, a.Get("saltenv")), Pub: payload.M("user", user)}
	return client.Run(c.Ctx, run, a.Bool("full_return"))
}

// environment is the one that a state run names, or another.
func environment(a loader.Args, other any) any {
	if env, ok := a.KW.Get("__env__"); ok {
		return env
	}
	return other
}

func wheel(c *loader.Call, a loader.Args) (any, error) {
	client := c.Host().Wheel
	if client == nil {
		return nil, loader.ExecErr(onlyOnMaster)
	}
	rec, err := client.Wheel(c.Ctx, loader.MasterRun{Fun: a.Str("name"), Args: a.Rest, KW: a.UserKW(), Saltenv: environment(a, "base")})
	var wrong *loader.InvocationError
	if errors.As(err, &wrong) { // Salt takes wrong arguments for the want of a master
		return nil, loader.ExecErr(onlyOnMaster)
	}
	return rec, err
}

func mmodule(c *loader.Call, a loader.Args) (any, error) {
	return c.Call(pytext.Str(a.Get("fun")), a.Rest, a.UserKW())
}
