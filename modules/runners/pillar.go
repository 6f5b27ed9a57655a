package runners

import (
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/wire/payload"
)

func (r *runner) pillarFuncs() []loader.Func {
	minion := []loader.Param{loader.Opt("minion", "*")}
	funcs := []loader.Func{
		{Name: "pillar.show_top", Params: []loader.Param{loader.Opt("minion", nil), loader.Opt("saltenv", "base")}, Run: r.showTop,
			Doc: "Show what the top files of pillars say together, as the grains of a minion render them.\n\nCLI Example:\n\n    salt-run pillar.show_top"},
		{Name: "pillar.show_pillar", Params: minion, KWArgs: true, Run: r.showPillar,
			Doc: "Compile the pillar of a minion, or of nobody in particular. Keywords are grains, but for saltenv and pillarenv.\n\nCLI Example:\n\n    salt-run pillar.show_pillar www.example.com pillarenv=dev"},
		{Name: "pillar.show_pillar_cache", Params: minion, KWArgs: true, Run: r.showPillarCache,
			Doc: "Show the pillars that are kept of minions.\n\nCLI Example:\n\n    salt-run pillar.show_pillar_cache 'web*'"},
		{Name: "pillar.clear_pillar_cache", Params: minion, KWArgs: true, Run: r.clearPillarCache,
			Doc: "Forget the pillars that are kept of minions.\n\nCLI Example:\n\n    salt-run pillar.clear_pillar_cache 'web*'"},
	}
	for i := range funcs {
		funcs[i].Source = "salt/runners/pillar.py"
	}
	return funcs
}

// grainsOf are the grains that are kept of a minion, in a map of the caller's own.
func (r *runner) grainsOf(id string) (*payload.Map, error) {
	if r.Minions == nil || id == "" || id == "*" {
		return payload.NewMap(0), nil
	}
	grains, err := r.Minions.Data(bankGrains, id)
	return grains.Clone(), err
}

// showTop is for the first minion that grains are kept of where none is named, as in Salt.
func (r *runner) showTop(c *loader.Call, a loader.Args) (any, error) {
	if r.Pillar == nil {
		return nil, unavailable("pillar")
	}
	id := a.Str("minion")
	from := id
	if from == "" && r.Minions != nil {
		ids, err := r.Minions.Cached(bankGrains)
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			from = ids[0]
		}
	}
	grains, err := r.grainsOf(from)
	if err != nil {
		return nil, err
	}
	top, wrong, err := r.Pillar.Top(c.Ctx, pillar.Question{ID: id, Grains: grains, Saltenv: a.Str("saltenv")})
	if err == nil && len(wrong) > 0 {
		return wrong, nil
	}
	return top, err
}

func (r *runner) showPillar(c *loader.Call, a loader.Args) (any, error) {
	if r.Pillar == nil {
		return nil, unavailable("pillar")
	}
	q := pillar.Question{ID: a.Str("minion"), Saltenv: "base"}
	var err error
	if q.Grains, err = r.grainsOf(q.ID); err != nil {
		return nil, err
	}
	for key, value := range a.UserKW().All() {
		switch key {
		case "saltenv":
			q.Saltenv = value
		case "pillarenv":
			q.Pillarenv = value
		default:
			q.Grains.Set(key, value)
		}
	}
	return r.Pillar.Compile(c.Ctx, q)
}

// cachedPillars calls do with each minion that a target means, and the environment of which a pillar is wanted; "": the default.
func (r *runner) cachedPillars(c *loader.Call, a loader.Args, do func(id, env string) error) error {
	if r.Minions == nil || r.Banks == nil {
		return unavailable("data cache")
	}
	ids, err := r.targeted(c.Ctx, a.Get("minion"), "glob")
	if err != nil {
		return err
	}
	env := a.UserKW().Str("pillarenv")
	for _, id := range ids {
		if err := do(id, env); err != nil {
			return err
		}
	}
	return nil
}

// keepsPillars tells whether the master keeps pillars at all.
func keepsPillars(c *loader.Call) bool {
	return loader.Truthy(c.Opts().Value("pillar_cache")) || loader.Truthy(c.Opts().Value("minion_data_cache"))
}

func (r *runner) showPillarCache(c *loader.Call, a loader.Args) (any, error) {
	if !keepsPillars(c) {
		return false, nil
	}
	out := payload.NewMap(0)
	err := r.cachedPillars(c, a, func(id, env string) error {
		m, err := r.cachedPillar(id, env)
		if m.Len() > 0 {
			out.Set(id, m)
		}
		return err
	})
	return out, err
}

// cachedPillar is the pillar that is kept of a minion in an environment.
func (r *runner) cachedPillar(id, env string) (*payload.Map, error) {
	if env == "" {
		return r.Minions.Data(bankPillar, id)
	}
	v, err := r.Banks.Fetch(bankPillar, id+":"+env)
	m, _ := v.(*payload.Map)
	return m, err
}

func (r *runner) clearPillarCache(c *loader.Call, a loader.Args) (any, error) {
	if !keepsPillars(c) {
		return false, nil
	}
	err := r.cachedPillars(c, a, func(id, env string) error {
		if env == "" {
			return r.Minions.Forget(id, bankPillar)
		}
		_, err := r.Banks.Flush(bankPillar, id+":"+env)
		return err
	})
	return err == nil, err
}
