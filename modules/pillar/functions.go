package pillar

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// FunctionsOf are the functions of an environment for templates: they see the minion, its grains and its pillar in
// place of the environment's own, and of the process what functions outside of pillars see, but for the source of
// pillars: a pillar does not wait for itself. One that panics is an error of the template.
func FunctionsOf(on *loader.Env) func(Surroundings) Functions {
	return func(s Surroundings) Functions {
		vars := new(environ.Vars) // what one template sets another one of the same pillar sees
		host := on.Host
		host.Secrets = nil
		env := &loader.Env{Registry: on.Registry, ID: s.ID, Opts: func() *payload.Map { return s.Opts },
			Grains: func() *payload.Map { return s.Grains }, Pillar: s.Pillar, Host: host}
		return Functions{
			Has: func(name string) bool {
				if !strings.Contains(name, ".") {
					return on.Registry.HasModule(name)
				}
				_, ok := on.Registry.Lookup(name)
				return ok
			},
			Call: func(ctx context.Context, fun string, args []any, kw *payload.Map) (v any, err error) {
				defer func() {
					if p := recover(); p != nil { // it wants something of a minion that a master does not have
						v, err = nil, loader.ExecErr("%s does not work in a pillar: %s", fun, fmt.Sprint(p))
					}
				}()
				return loader.NewCall(environ.In(ctx, vars), env, "", nil).Call(fun, args, kw)
			},
		}
	}
}

// Top is what the top files say together, by environment and target, and what is wrong with them: the data of
// salt-run pillar.show_top. An error is one of Compile.
func (c *Compiler) Top(ctx context.Context, q Question) (top *payload.Map, wrong []any, err error) {
	r := c.newRun(ctx, q)
	t, err := r.top()
	if err != nil {
		return nil, nil, err
	}
	out := payload.NewMap(len(t.envs))
	for _, env := range t.envs {
		out.Set(env, t.of[env].targets)
	}
	return out, r.errors, nil
}

// Env is the environment that a question means: "" is the master's own, whichever that is.
func (c *Compiler) Env(q Question) string {
	env := text(q.Pillarenv)
	if q.Pillarenv == nil && python.Truth(c.opt.Opts.Value("pillarenv_from_saltenv")) {
		env = text(q.Saltenv)
	}
	if env == text(c.opt.Opts.Value("pillarenv")) {
		return ""
	}
	return env
}

// Over is a pillar with an override over it, by the strategy of the master. The pillar itself may be changed.
func (c *Compiler) Over(data, override *payload.Map) (*payload.Map, error) {
	if override.Len() == 0 {
		return data, nil
	}
	r := &run{Compiler: c, opts: c.opt.Opts}
	r.merging = r.mergingOf()
	return r.merge(data, override)
}

// Knows tells whether an environment has directories of its own, or below those of __env__ some that exist.
func (c *Compiler) Knows(env string) bool {
	if env == anyEnv {
		return false
	}
	if _, ok := c.roots.dirs[env]; ok {
		return true
	}
	return slices.ContainsFunc(c.roots.of(env, "").dirs[env], isDir)
}
