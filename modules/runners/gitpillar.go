package runners

import (
	"log/slog"

	"brine/modules/fileserver/gitfs"
	"brine/modules/loader"
	"brine/wire/payload"
)

func (r *runner) gitPillarFuncs() []loader.Func {
	return []loader.Func{{Name: "git_pillar.update", Params: []loader.Param{loader.Opt("branch", nil), loader.Opt("repo", nil)}, Run: r.gitPillarUpdate,
		Source: "salt/runners/git_pillar.py",
		Doc:    "Fetch the repositories of git external pillars, those of a branch and of a URL or name.\n\nCLI Example:\n\n    salt-run git_pillar.update branch=master repo=https://example.com/pillar.git"}}
}

// gitPillarUpdate gives, by repository, true for news, nil for none and false for an error.
func (r *runner) gitPillarUpdate(c *loader.Call, a loader.Args) (any, error) {
	git, err := gitfs.NewPillars(c.Opts(), c.Log)
	if err != nil {
		return nil, &loader.ClientError{Message: err.Error()}
	}
	out := payload.NewMap(1)
	if git != nil {
		for _, f := range git.UpdateSome(c.Ctx, a.Str("branch"), a.Str("repo")) {
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
	case a.Str("branch") != "" || a.Str("repo") != "":
		return nil, loader.Raise("salt.exceptions.SaltRunnerError", "Specified git branch/repo not found in ext_pillar config")
	}
	return nil, loader.Raise("salt.exceptions.SaltRunnerError", "No git_pillar remotes are configured")
}
