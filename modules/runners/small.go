package runners

import (
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/wire/payload"
)

func (r *runner) configFuncs() []loader.Func {
	return []loader.Func{
		{Name: "config.get", Source: "salt/runners/config.py", Run: r.configGet,
			Params: []loader.Param{loader.Req("key"), loader.Opt("default", ""), loader.Opt("delimiter", ":")},
			Doc:    "Show an option of the master, nested ones by a path.\n\nCLI Example:\n\n    salt-run config.get file_roots:base"},
		{Name: "mine.get", Source: "salt/runners/mine.py", Run: r.mineGet,
			Params: []loader.Param{loader.Req("tgt"), loader.Req("fun"), loader.Opt("tgt_type", "glob")},
			Doc:    "Show mine data of minions.\n\nCLI Example:\n\n    salt-run mine.get '*' network.interfaces"},
		{Name: "mine.update", Source: "salt/runners/mine.py", Run: r.mineUpdate,
			Params: []loader.Param{loader.Req("tgt"), loader.Opt("tgt_type", "glob"), loader.Opt("clear", false),
				loader.Opt("mine_functions", nil)},
			Doc: "Make minions send their mine data.\n\nCLI Example:\n\n    salt-run mine.update '*'"},
		{Name: "match.compound_matches", Source: "salt/runners/match.py", Run: r.matchCompound,
			Params: []loader.Param{loader.Req("expr"), loader.Req("minion_id")},
			Doc:    "Tell whether a compound target means a minion; pillar values compare exactly.\n\nCLI Example:\n\n    salt-run match.compound_matches 'I@foo:bar and G@os:Deb*' web1"},
	}
}

func (r *runner) configGet(c *loader.Call, a loader.Args) (any, error) {
	if v, ok := matchers.Traverse(c.Opts(), a.Str("key"), a.Str("delimiter")); ok {
		return v, nil
	}
	return a.Get("default"), nil
}

func (r *runner) mineGet(c *loader.Call, a loader.Args) (any, error) {
	if r.Mine == nil {
		return nil, unavailable("mine")
	}
	return r.Mine.MineGet(c.Ctx, a.Get("tgt"), a.Get("fun"), a.Str("tgt_type"))
}

func (r *runner) mineUpdate(c *loader.Call, a loader.Args) (any, error) {
	return r.execute(c, Job{Tgt: a.Get("tgt"), TgtType: a.Str("tgt_type"), Fun: "mine.update",
		KW: payload.M("clear", a.Get("clear"), "mine_functions", a.Get("mine_functions"))})
}

func (r *runner) matchCompound(c *loader.Call, a loader.Args) (any, error) {
	id := a.Str("minion_id")
	if r.Targets == nil || !r.Targets.DataCache || !keys.ValidID(id) {
		return payload.M("res", false), nil
	}
	found, err := r.Targets.Expand(c.Ctx, a.Get("expr"), "compound_pillar_exact", "", false)
	if err != nil {
		return payload.M("res", false), nil
	}
	for _, m := range found.Minions {
		if m == id {
			return payload.M("res", id), nil
		}
	}
	return payload.M("res", false), nil
}

func (r *runner) docFuncs() []loader.Func {
	docs := func(reg *loader.Registry) func(*loader.Call, loader.Args) (any, error) {
		return func(*loader.Call, loader.Args) (any, error) {
			if reg == nil {
				return payload.NewMap(0), nil
			}
			return reg.Docs(), nil
		}
	}
	const source = "salt/runners/doc.py"
	return []loader.Func{
		{Name: "doc.runner", Source: source, Run: docs(r.Runners),
			Doc: "Show the help of all runner functions.\n\nCLI Example:\n\n    salt-run doc.runner"},
		{Name: "doc.wheel", Source: source, Run: docs(r.Wheel),
			Doc: "Show the help of all wheel functions.\n\nCLI Example:\n\n    salt-run doc.wheel"},
		{Name: "doc.execution", Source: source, Run: r.docExecution,
			Doc: "Collect the help of all execution functions of all minions.\n\nCLI Example:\n\n    salt-run doc.execution"},
	}
}

func (r *runner) docExecution(c *loader.Call, _ loader.Args) (any, error) {
	got, err := r.collect(c, Job{Tgt: "*", Fun: "sys.doc"})
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, v := range got.Returns.All() {
		if ret, ok := v.(*payload.Map); ok {
			out.Update(ret.Map("return"))
		}
	}
	return out, nil
}

func (r *runner) saltFuncs() []loader.Func {
	return []loader.Func{
		{Name: "salt.cmd", Source: "salt/runners/salt.py", Run: r.saltCmd, VarArgs: true, KWArgs: true,
			Params: []loader.Param{loader.Req("fun")},
			Doc:    "Run an execution function on the master.\n\nCLI Example:\n\n    salt-run salt.cmd test.ping"},
		{Name: "salt.execute", Source: "salt/runners/salt.py", Run: r.saltExecute, KWArgs: true,
			Params: []loader.Param{loader.Req("tgt"), loader.Req("fun"), loader.Opt("arg", []any{}),
				loader.Opt("timeout", nil), loader.Opt("tgt_type", "glob"), loader.Opt("ret", ""),
				loader.Opt("jid", ""), loader.Opt("kwarg", nil)},
			Doc: "Run an execution function on minions and wait for the returns.\n\nCLI Example:\n\n    salt-run salt.execute '*' test.ping"},
	}
}

func (r *runner) saltCmd(c *loader.Call, a loader.Args) (any, error) {
	if r.Execution == nil {
		return nil, unavailable("execution functions")
	}
	if _, ok := r.Execution.Registry.Lookup(a.Str("fun")); !ok {
		return r.Execution.Registry.MissingText(a.Str("fun")), nil
	}
	kw := a.UserKW()
	kw.Delete("with_pillar")
	load := payload.M("fun", a.Str("fun"), "jid", c.JID)
	return loader.NewCall(c.Ctx, r.Execution, c.Fun, load).Call(a.Str("fun"), a.Rest, kw)
}

func (r *runner) saltExecute(c *loader.Call, a loader.Args) (any, error) {
	kw, _ := a.Get("kwarg").(*payload.Map)
	merged := kw.Clone()
	merged.Update(a.UserKW())
	args, several := a.Get("arg").([]any)
	if one := a.Get("arg"); !several && one != nil { // Unlike Salt: a text is one argument, not its letters
		args = []any{one}
	}
	return r.execute(c, Job{Tgt: a.Get("tgt"), TgtType: a.Str("tgt_type"), Fun: a.Str("fun"), Args: args,
		KW: merged, Timeout: seconds(a.Get("timeout"))})
}

// execute publishes and returns what each minion returned; False for those that did not.
func (r *runner) execute(c *loader.Call, job Job) (any, error) {
	got, err := r.collect(c, job)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for id, v := range got.Returns.All() {
		ret, _ := v.(*payload.Map)
		out.Set(id, ret.Value("return"))
	}
	for _, id := range got.Minions {
		if !out.Has(id) {
			out.Set(id, false)
		}
	}
	return out, nil
}
