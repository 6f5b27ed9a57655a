package pillar

import (
	"errors"

	"brine/modules/fileserver/gitfs"
	"brine/wire/payload"
	"brine/wire/python"
)

// GitTrees are the repositories of git external pillars, as they were fetched last.
type GitTrees interface {
	Trees(remotes []any, pillarenv, saltenv string) ([]gitfs.Tree, error)
}

// gitPillar compiles the pillars of repositories, each by its own top file, and merges them in their order
// (salt/pillar/git_pillar.py).
func gitPillar(e *extCall) (any, error) {
	if e.opt.Git == nil {
		return nil, errors.New("no git repositories are kept here")
	}
	pillarenv, saltenv := text(e.opts.Value("pillarenv")), text(e.opts.Value("saltenv"))
	trees, err := e.opt.Git.Trees(e.rest, pillarenv, saltenv)
	if err != nil {
		return nil, err
	}
	includes, set := e.opts.Get("git_pillar_includes")
	out := payload.NewMap(0)
	for _, t := range trees {
		env := t.Env
		if env == anyEnv {
			if env = firstOf(pillarenv, saltenv, text(e.opts.Value("git_pillar_base"))); env == "" {
				env = "master"
			}
		}
		if pillarenv != "" && env != pillarenv || t.Mounted {
			continue
		}
		dirs := []any{t.Dir}
		if !set || python.Truth(includes) {
			for _, other := range trees {
				if other.Env == env && other.Dir != t.Dir {
					dirs = append(dirs, other.Dir)
				}
			}
		}
		one, err := e.compileTree(env, dirs)
		if err != nil {
			return nil, err
		}
		if out, err = e.merge(out, one); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// compileTree compiles the pillar of the minion from other directories, without external pillars and overrides.
func (r *run) compileTree(env string, dirs []any) (*payload.Map, error) {
	opt := r.opt
	opt.Opts = r.opts.Clone().Set("pillar_roots", payload.M(env, dirs))
	return New(opt).Compile(r.ctx, Question{ID: r.q.ID, Grains: r.q.Grains, Saltenv: env, NoExt: true})
}
