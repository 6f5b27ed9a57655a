// Package git_pillar is the runner module git_pillar: it fetches the repositories of git external pillars. Answers to
// salt/runners/git_pillar.py.
package git_pillar

import (
	"log/slog"

	"brine/modules/fileserver/gitfs"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module git_pillar.
func Module() loader.Module {
	return loader.Module{File: "git_pillar", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("update", update,
				"Fetch the repositories of git external pillars, those of a branch and of a URL or name.",
				"salt-run git_pillar.update branch=master repo=https://example.com/pillar.git"),
		}
	}}
}

type repositories struct {
	Branch string `arg:"branch=None"`
	Repo   string `arg:"repo=None"`
}

// update gives, by repository, true for news, nil for none and false for an error.
func update(c *loader.Call, a repositories) (*payload.Map, error) {
	git, err := gitfs.NewPillars(c.Opts(), c.Log)
	if err != nil {
		return nil, &loader.ClientError{Message: err.Error()}
	}
	out := payload.NewMap(1)
	if git != nil {
		for _, f := range git.UpdateSome(c.Ctx, a.Branch, a.Repo) {
			switch {
			case f.Err != nil:
				c.Log(slog.LevelError, f.Err.Error())
				out.Set(f.ID, false)
			case f.Changed:
				out.Set(f.ID, true)
			default:
				out.Set(f.ID, nil)
			}
		}
	}
	switch {
	case out.Len() > 0:
		return out, nil
	case a.Branch != "" || a.Repo != "":
		return nil, loader.Raise("salt.exceptions.SaltRunnerError",
			"Specified git branch/repo not found in ext_pillar config")
	}
	return nil, loader.Raise("salt.exceptions.SaltRunnerError", "No git_pillar remotes are configured")
}
