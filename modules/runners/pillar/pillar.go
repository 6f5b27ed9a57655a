// Package pillar is the runner module pillar: it compiles pillars of minions, and shows and forgets those that are
// kept. Answers to salt/runners/pillar.py.
package pillar

import (
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module pillar.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "pillar", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("show_top", m.showTop,
				"Show what the top files of pillars say together, as the grains of a minion render them.",
				"salt-run pillar.show_top"),
			loader.Fn("show_pillar", m.showPillar, "Compile the pillar of a minion, or of nobody in particular. "+
				"Keywords are grains, but for saltenv and pillarenv.",
				"salt-run pillar.show_pillar www.example.com pillarenv=dev"),
			loader.Fn("show_pillar_cache", m.showPillarCache, "Show the pillars that are kept of minions.",
				"salt-run pillar.show_pillar_cache 'web*'"),
			loader.Fn("clear_pillar_cache", m.clearPillarCache, "Forget the pillars that are kept of minions.",
				"salt-run pillar.clear_pillar_cache 'web*'"),
		}
	}}
}

type master struct{ runners.Options }

// grainsOf are the grains that are kept of a minion, in a map of the caller's own.
func (m *master) grainsOf(id string) (*payload.Map, error) {
	if m.Minions == nil || id == "" || id == "*" {
		return payload.NewMap(0), nil
	}
	grains, err := m.Minions.Data(runners.BankGrains, id)
	return grains.Clone(), err
}

type topArgs struct {
	ID      string `arg:"minion=None"`
	Saltenv string `arg:"saltenv=base"`
}

// showTop is for the first minion that grains are kept of where none is named, as in Salt.
func (m *master) showTop(c *loader.Call, a topArgs) (any, error) {
	if m.Pillar == nil {
		return nil, runners.Unavailable("pillar")
	}
	from := a.ID
	if from == "" && m.Minions != nil {
		ids, err := m.Minions.Cached(runners.BankGrains)
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			from = ids[0]
		}
	}
	grains, err := m.grainsOf(from)
	if err != nil {
		return nil, err
	}
	top, wrong, err := m.Pillar.Top(c.Ctx, pillar.Question{ID: a.ID, Grains: grains, Saltenv: a.Saltenv})
	if err == nil && len(wrong) > 0 {
		return wrong, nil
	}
	return top, err
}

// named are minions, and further arguments by name.
type named struct {
	Minion any          `arg:"minion=*"`
	KW     *payload.Map `arg:"**kwargs"`
}

func (m *master) showPillar(c *loader.Call, a named) (*payload.Map, error) {
	if m.Pillar == nil {
		return nil, runners.Unavailable("pillar")
	}
	q := pillar.Question{ID: loader.Text(a.Minion), Saltenv: "base"}
	var err error
	if q.Grains, err = m.grainsOf(q.ID); err != nil {
		return nil, err
	}
	for key, value := range loader.CleanKWArgs(a.KW).All() {
		switch key {
		case "saltenv":
			q.Saltenv = value
		case "pillarenv":
			q.Pillarenv = value
		default:
			q.Grains.Set(key, value)
		}
	}
	return m.Pillar.Compile(c.Ctx, q)
}

// cachedPillars calls do with each minion that a target means, and the environment of which a pillar is wanted; "": the
// default.
func (m *master) cachedPillars(c *loader.Call, a named, do func(id, env string) error) error {
	if m.Minions == nil || m.Banks == nil {
		return runners.Unavailable("data cache")
	}
	ids, err := m.Targeted(c.Ctx, a.Minion, "glob")
	if err != nil {
		return err
	}
	env := loader.CleanKWArgs(a.KW).Str("pillarenv")
	for _, id := range ids {
		if err := do(id, env); err != nil {
			return err
		}
	}
	return nil
}

// keepsPillars tells whether the master keeps pillars at all.
func keepsPillars(c *loader.Call) bool {
	return python.Truth(c.Opts().Value("pillar_cache")) || python.Truth(c.Opts().Value("minion_data_cache"))
}

func (m *master) showPillarCache(c *loader.Call, a named) (any, error) {
	if !keepsPillars(c) {
		return false, nil
	}
	out := payload.NewMap(0)
	err := m.cachedPillars(c, a, func(id, env string) error {
		kept, err := m.cachedPillar(id, env)
		if kept.Len() > 0 {
			out.Set(id, kept)
		}
		return err
	})
	return out, err
}

// cachedPillar is the pillar that is kept of a minion in an environment.
func (m *master) cachedPillar(id, env string) (*payload.Map, error) {
	if env == "" {
		return m.Minions.Data(runners.BankPillar, id)
	}
	v, err := m.Banks.Fetch(runners.BankPillar, id+":"+env)
	kept, _ := v.(*payload.Map)
	return kept, err
}

func (m *master) clearPillarCache(c *loader.Call, a named) (any, error) {
	if !keepsPillars(c) {
		return false, nil
	}
	err := m.cachedPillars(c, a, func(id, env string) error {
		if env == "" {
			return m.Minions.Forget(id, runners.BankPillar)
		}
		_, err := m.Banks.Flush(runners.BankPillar, id+":"+env)
		return err
	})
	return err == nil, err
}
