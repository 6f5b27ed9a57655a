package runners

import (
	"brine/modules"
	"brine/modules/fleet/keys"
	"brine/modules/matchers"
	"brine/wire/payload"
)

func (r *runner) configFuncs() []modules.Func {
	return []modules.Func{
		{Name: "config.get", Source: "salt/runners/config.py", Run: r.configGet,
			Params: []modules.Param{modules.Req("key"), modules.Opt("default", ""), modules.Opt("delimiter", ":")},
			Doc:    "Show an option of the master, nested ones by a path.\n\nCLI Example:\n\n    salt-run config.get file_roots:base"},
		{Name: "mine.get", Source: "salt/runners/mine.py", Run: r.mineGet,
			Params: []modules.Param{modules.Req("tgt"), modules.Req("fun"), modules.Opt("tgt_type", "glob")},
			Doc:    "Show mine data of minions.\n\nCLI Example:\n\n    salt-run mine.get '*' network.interfaces"},
		{Name: "mine.update", Source: "salt/runners/mine.py", Run: r.mineUpdate,
			Params: []modules.Param{modules.Req("tgt"), modules.Opt("tgt_type", "glob"), modules.Opt("clear", false),
				modules.Opt("mine_functions", nil)},
			Doc: "Make minions send their mine data.\n\nCLI Example:\n\n    salt-run mine.update '*'"},
		{Name: "match.compound_matches", Source: "salt/runners/match.py", Run: r.matchCompound,
			Params: []modules.Param{modules.Req("expr"), modules.Req("minion_id")},
			Doc:    "Tell whether a compound target means a minion; pillar values compare exactly.\n\nCLI Example:\n\n    salt-run match.compound_matches 'I@foo:bar and G@os:Deb*' web1"},
	}
}

func (r *runner) configGet(c *modules.Call, a modules.Args) (any, error) {
	if v, ok := matchers.Traverse(c.Opts(), a.Str("key"), a.Str("delimiter")); ok {
		return v, nil
	}
	return a.Get("default"), nil
}

func (r *runner) mineGet(c *modules.Call, a modules.Args) (any, error) {
	if r.Mine == nil {
		return nil, unavailable("mine")
	}
	return r.Mine.MineGet(c.Ctx, a.Get("tgt"), a.Get("fun"), a.Str("tgt_type"))
}

func (r *runner) mineUpdate(c *modules.Call, a modules.Args) (any, error) {
	return r.execute(c, Job{Tgt: a.Get("tgt"), TgtType: a.Str("tgt_type"), Fun: "mine.update",
		KW: payload.M("clear", a.Get("clear"), "mine_functions", a.Get("mine_functions"))})
}

func (r *runner) matchCompound(c *modules.Call, a modules.Args) (any, error) {
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

func (r *runner) docFuncs() []modules.Func {
	docs := func(reg *modules.Registry) func(*modules.Call, modules.Args) (any, error) {
		return func(*modules.Call, modules.Args) (any, error) {
			if reg == nil {
				return payload.NewMap(0), nil
			}
			return reg.Docs(), nil
		}
	}
	const source = "salt/runners/doc.py"
	return []modules.Func{
		{Name: "doc.runner", Source: source, Run: docs(r.Runners),
			Doc: "Show the help of all runner functions.\n\nCLI Example:\n\n    salt-run doc.runner"},
		{Name: "doc.wheel", Source: source, Run: docs(r.Wheel),
			Doc: "Show the help of all wheel functions.\n\nCLI Example:\n\n    salt-run doc.wheel"},
		{Name: "doc.execution", Source: source, Run: r.docExecution,
			Doc: "Collect the help of all execution functions of all minions.\n\nCLI Example:\n\n    salt-run doc.execution"},
	}
}

func (r *runner) docExecution(c *modules.Call, _ modules.Args) (any, error) {
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

func (r *runner) saltFuncs() []modules.Func {
	return []modules.Func{
		{Name: "salt.cmd", Source: "salt/runners/salt.py", Run: r.saltCmd, VarArgs: true, KWArgs: true,
			Params: []modules.Param{modules.Req("fun")},
			Doc:    "Run an execution function on the master.\n\nCLI Example:\n\n    salt-run salt.cmd test.ping"},
		{Name: "salt.execute", Source: "salt/runners/salt.py", Run: r.saltExecute, KWArgs: true,
			Params: []modules.Param{modules.Req("tgt"), modules.Req("fun"), modules.Opt("arg", []any{}),
				modules.Opt("timeout", nil), modules.Opt("tgt_type", "glob"), modules.Opt("ret", ""),
				modules.Opt("jid", ""), modules.Opt("kwarg", nil)},
			Doc: "Run an execution function on minions and wait for the returns.\n\nCLI Example:\n\n    salt-run salt.execute '*' test.ping"},
	}
}

func (r *runner) saltCmd(c *modules.Call, a modules.Args) (any, error) {
	if r.Execution == nil {
		return nil, unavailable("execution functions")
	}
	if _, ok := r.Execution.Registry.Lookup(a.Str("fun")); !ok {
		return r.Execution.Registry.MissingText(a.Str("fun")), nil
	}
	kw := a.UserKW()
	kw.Delete("with_pillar")
	load := payload.M("fun", a.Str("fun"), "jid", c.JID)
	return modules.NewCall(c.Ctx, r.Execution, c.Fun, load).Call(a.Str("fun"), a.Rest, kw)
}

func (r *runner) saltExecute(c *modules.Call, a modules.Args) (any, error) {
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
func (r *runner) execute(c *modules.Call, job Job) (any, error) {
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
