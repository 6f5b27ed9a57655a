// Package mine is the runner module mine: it shows what minions have put into their mines. Answers to
// salt/runners/mine.py.
package mine

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module mine.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "mine", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get", m.get, "Show mine data of minions.", "salt-run mine.get '*' network.interfaces"),
			loader.Fn("update", m.update, "Make minions send their mine data.", "salt-run mine.update '*'"),
		}
	}}
}

type master struct{ runners.Options }

type wanted struct {
	Tgt  any    `arg:"tgt"`
	Fun  any    `arg:"fun"`
	Type string `arg:"tgt_type=glob"`
}

func (m *master) get(c *loader.Call, a wanted) (any, error) {
	if m.Mine == nil {
		return nil, runners.Unavailable("mine")
	}
	return m.Mine.MineGet(c.Ctx, a.Tgt, a.Fun, a.Type)
}

type updated struct {
	Tgt       any    `arg:"tgt"`
	Type      string `arg:"tgt_type=glob"`
	Clear     any    `arg:"clear=False"`
	Functions any    `arg:"mine_functions=None"`
}

func (m *master) update(c *loader.Call, a updated) (*payload.Map, error) {
	return m.Execute(c, runners.Job{Tgt: a.Tgt, TgtType: a.Type, Fun: "mine.update",
		KW: payload.M("clear", a.Clear, "mine_functions", a.Functions)})
}
