package git

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type clonedArgs struct {
	Name   string `arg:"name"`
	Target any    `arg:"target"`
	Branch any    `arg:"branch=None"`
	who
	Identity  any `arg:"identity=None"`
	HTTPSUser any `arg:"https_user=None"`
	HTTPSPass any `arg:"https_pass=None"`
	Encoding  any `arg:"output_encoding=None"`
}

// wrong is what the arguments alone show.
func (a clonedArgs) wrong() string {
	switch target, branch := python.Str(a.Target), loader.Text(a.Branch); {
	case a.Target == nil:
		return "'target' argument is required"
	case !filepath.IsAbs(target):
		return "'target' path must be absolute"
	case a.Branch != nil && branch == "" || strings.HasPrefix(branch, "-"):
		return "Invalid 'branch' argument"
	}
	return ""
}

func cloned(c *states.Call, a clonedArgs) (states.Plan, error) {
	if why := a.wrong(); why != "" {
		return states.Wrong(why), nil
	}
	target := python.Str(a.Target)
	w := a.work(c, target, a.Encoding)
	with := ""
	if a.Branch != nil {
		with = " with branch '" + python.Str(a.Branch) + "'"
	}
	if _, err := os.Stat(target); err != nil {
		shown := git.Redacted(a.Name)
		changes := payload.M("new", shown+" => "+target)
		return states.Would(shown+" would be cloned to "+target+with, changes, func() (states.Done, error) {
			if err := a.clone(c, w); err != nil {
				return states.Failed("Clone failed: "+reason(err), nil)
			}
			return states.Changed(shown+" cloned to "+target+with, changes)
		}), nil
	}
	if _, err := w.Out("status", "-z", "--porcelain"); err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	there := "Repository already exists at " + target
	if a.Branch == nil {
		return states.Correct(there), nil
	}
	branch := python.Str(a.Branch)
	current, err := w.Branch()
	switch {
	case err != nil:
		return states.Plan{}, err
	case current == branch:
		return states.Correct(there + " and is checked out to branch '" + branch + "'"), nil
	}
	changes := payload.M("branch", payload.M("old", current, "new", branch))
	return states.Would("Branch would be changed to '"+branch+"'", changes, func() (states.Done, error) {
		line := []string{"checkout", branch}
		if _, err := w.Quiet().Out("rev-parse", branch); err != nil {
			line = []string{"checkout", "-b", branch, "origin/" + branch}
		}
		if _, err := w.Merged(line...); err != nil {
			return states.Failed("Failed to change branch to '"+branch+"': "+loader.Message(err), nil)
		}
		return states.Changed("Branch changed to '"+branch+"'", changes)
	}), nil
}

// clone makes the clone.
func (a clonedArgs) clone(c *states.Call, w *git.Work) error {
	line := []string{"clone"}
	if a.Branch != nil {
		line = append(line, "--branch", python.Str(a.Branch))
	}
	far := *w
	far.Saltenv = c.Saltenv
	switch x := a.Identity.(type) {
	case []any:
		far.Identity = x
	default:
		if python.Truth(x) {
			far.Identity = []any{x}
		}
	}
	return far.Clone(nil, a.Name, a.HTTPSUser, a.HTTPSPass, line)
}
