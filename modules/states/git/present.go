package git

import (
	"os"
	"path/filepath"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type presentArgs struct {
	Name     string `arg:"name"`
	Force    bool   `arg:"force=False"`
	Bare     bool   `arg:"bare=True"`
	Template any    `arg:"template=None"`
	Separate any    `arg:"separate_git_dir=None"`
	Shared   any    `arg:"shared=None"`
	who
	Encoding any `arg:"output_encoding=None"`
}

func present(c *states.Call, a presentArgs) (states.Plan, error) {
	kind, changes := "", payload.M("new", a.Name)
	if a.Bare {
		kind = "bare "
	}
	text := "New " + kind + "repository would be created"
	forced := false
	if isDir(a.Name) {
		switch {
		case a.isRepository(c):
			return states.Correct(""), nil
		case a.Force:
			forced = true
			changes.Set("forced init", true)
			text = "Target directory " + a.Name + " exists. Since force=True, the contents of " + a.Name +
				" would be deleted, and a " + kind + "repository would be initialized in its place."
		case entries(a.Name) > 0:
			return states.Wrong("Target '" + a.Name + "' exists, is non-empty, and is not a git repository. Set the " +
				"'force' " +
				"option to True to remove this directory's contents and proceed with initializing a repository"), nil
		}
	}
	return states.Would(text, changes, func() (states.Done, error) {
		made := payload.NewMap(0)
		if forced {
			made.Set("forced init", true)
			if err := os.RemoveAll(a.Name); err != nil {
				return states.Failed("Unable to remove "+a.Name+": "+err.Error(), nil)
			}
		}
		_, err := c.Salt("git.init", payload.M("cwd", a.Name, "bare", a.Bare, "template", a.Template,
			"separate_git_dir",
			a.Separate, "shared", a.Shared, "user", a.User, "password", a.Password, "output_encoding", a.Encoding))
		if err != nil {
			return states.Done{}, err
		}
		said := []string{"Initialized " + kind + "repository in " + a.Name}
		if python.Truth(a.Template) {
			said = append(said, "Template directory set to "+python.Str(a.Template))
		}
		if python.Truth(a.Separate) {
			said = append(said, "Gitdir set to "+python.Str(a.Separate))
		}
		return states.Changed(sentences(said), made.Set("new", a.Name))
	}), nil
}

// isRepository tells whether there is a repository of the wanted kind.
func (a presentArgs) isRepository(c *states.Call) bool {
	if a.Bare {
		return isFile(filepath.Join(a.Name, "HEAD"))
	}
	return isDir(filepath.Join(a.Name, ".git")) || a.work(c, a.Name, a.Encoding).IsWorktree()
}
