// Package salt is the runner module salt: it runs execution functions on the master and on minions. Answers to
// salt/runners/salt.py.
package salt

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module salt.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "salt", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("cmd", m.cmd, "Run an execution function on the master.", "salt-run salt.cmd test.ping"),
			loader.Fn("execute", m.execute, "Run an execution function on minions and wait for the returns.",
				"salt-run salt.execute '*' test.ping"),
		}
	}}
}

type master struct{ runners.Options }

type command struct {
	Fun  string       `arg:"fun"`
	Args []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func (m *master) cmd(c *loader.Call, a command) (any, error) {
	on := m.Execution
	if on == nil {
		return nil, runners.Unavailable("execution functions")
	}
	if _, ok := on.Registry.Lookup(a.Fun); !ok {
		return on.Registry.MissingText(a.Fun), nil
	}
	kw := loader.CleanKWArgs(a.KW)
	kw.Delete("with_pillar")
	return loader.NewCall(c.Ctx, on, c.Fun, payload.M("fun", a.Fun, "jid", c.JID)).Call(a.Fun, a.Args, kw)
}

type job struct {
	Tgt     any          `arg:"tgt"`
	Fun     string       `arg:"fun"`
	Arg     any          `arg:"arg=[]"`
	Timeout any          `arg:"timeout=None"`
	Type    string       `arg:"tgt_type=glob"`
	Ret     any          `arg:"ret=''"`
	JID     any          `arg:"jid=''"`
	KWArg   *payload.Map `arg:"kwarg=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

func (m *master) execute(c *loader.Call, a job) (*payload.Map, error) {
	kw := a.KWArg.Clone()
	kw.Update(loader.CleanKWArgs(a.KW))
	args, several := a.Arg.([]any)
	if !several && a.Arg != nil { // Unlike Salt: a text is one argument, not its letters
		args = []any{a.Arg}
	}
	return m.Execute(c, runners.Job{Tgt: a.Tgt, TgtType: a.Type, Fun: a.Fun, Args: args, KW: kw,
		Timeout: runners.Seconds(a.Timeout)})
}
