package git

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// worktreeFuncs are the functions about further checkouts of a repository.
func worktreeFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("list_worktrees", listWorktrees, "List the worktrees of a repository.",
			"git.list_worktrees /path/to/repo"),
		loader.Fn("worktree_add", worktreeAdd, "Add a worktree.", "git.worktree_add /path/to/repo ../hotfix ref=v2.0"),
		loader.Fn("worktree_prune", worktreePrune, "Forget worktrees that are gone.",
			"git.worktree_prune /path/to/repo"),
		loader.Fn("worktree_rm", worktreeRemove, "Remove a worktree.", "git.worktree_rm /path/to/worktree"),
	}
}

// needsWorktrees refuses a git that knows none.
func (w *Work) needsWorktrees() error {
	if w.atLeast(2, 5, 0) {
		return nil
	}
	return loader.ExecErr("Worktrees are only supported in git 2.5.0 and newer (detected git version: %s)", w.Version())
}

// listWorktrees asks git for its list. Unlike Salt: a git before 2.7 has none, and its files are not read.
func listWorktrees(c *loader.Call, a struct {
	Cwd   any  `arg:"cwd"`
	Stale bool `arg:"stale=False"`
	account
	Encoding any          `arg:"output_encoding=None"`
	KW       *payload.Map `arg:"**kwargs"`
}) (*payload.Map, error) {
	w := plain{a.Cwd, a.account, tail{false, a.Encoding}}.run(c)
	if err := w.needsWorktrees(); err != nil {
		return nil, err
	}
	kw := loader.CleanKWArgs(a.KW)
	all := python.Truth(take(kw, "all"))
	if err := noMore(kw); err != nil {
		return nil, err
	}
	if all && a.Stale {
		return nil, loader.ExecErr("'all' and 'stale' cannot both be set to True")
	}
	text, err := w.Out("worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		found := worktreeOf(part)
		if found["worktree"] == "" || found["HEAD"] == "" || found["branch"] == "" {
			w.Call.Log(slog.LevelError, "git.worktree: Incomplete worktree data:\n"+part)
			continue
		}
		info, err := os.Stat(found["worktree"])
		if stale := err != nil || !info.IsDir(); stale == a.Stale || all {
			row, err := w.worktree(found, stale)
			if err != nil {
				return nil, err
			}
			out.Set(found["worktree"], row)
		}
	}
	return out, nil
}

// worktreeOf reads what git says of one worktree.
func worktreeOf(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, v, ok := cutFields(line); ok && out[name] == "" {
			out[name] = v
		} else if line == "detached" {
			out["branch"] = line
		}
	}
	return out
}

// worktree is one worktree as the function tells of it.
func (w *Work) worktree(found map[string]string, stale bool) (*payload.Map, error) {
	detached := found["branch"] == "detached"
	row := payload.M("stale", stale, "HEAD", found["HEAD"], "detached", detached)
	if !detached {
		return row.Set("branch", strings.Replace(found["branch"], "refs/heads/", "", 1)), nil
	}
	row.Set("branch", nil)
	text, err := w.Out("tag", "--points-at", found["HEAD"])
	if tags := lines(text); len(tags) > 0 {
		row.Set("tags", payload.AnyList(tags))
	}
	return row, err
}

func worktreeAdd(c *loader.Call, a struct {
	Cwd    any    `arg:"cwd"`
	Path   string `arg:"worktree_path"`
	Ref    any    `arg:"ref=None"`
	Reset  bool   `arg:"reset_branch=None"`
	Force  bool   `arg:"force=None"`
	Detach bool   `arg:"detach=False"`
	local
	KW *payload.Map `arg:"**kwargs"`
}) (string, error) {
	w := a.work(c, a.Cwd)
	if err := w.needsWorktrees(); err != nil {
		return "", err
	}
	kw := loader.CleanKWArgs(a.KW)
	name := take(kw, "branch")
	if err := noMore(kw); err != nil {
		return "", err
	}
	if python.Truth(name) && a.Detach {
		return "", loader.InvocErr("Only one of 'branch' and 'detach' is allowed")
	}
	command := []string{"worktree", "add"}
	if a.Detach {
		command = append(command, "--detach")
		if a.Force {
			c.Log(slog.LevelWarn, "'force' argument to git.worktree_add is ignored when detach=True")
		}
	} else {
		branch := filepath.Base(a.Path)
		if python.Truth(name) {
			branch = python.Str(name)
		}
		how := "-b"
		if a.Reset {
			how = "-B"
		}
		command = append(command, how, branch)
		if a.Force {
			command = append(command, "--force")
		}
	}
	line, err := a.command(command...)
	if err != nil {
		return "", err
	}
	names := []string{a.Path}
	if python.Truth(a.Ref) {
		names = append(names, python.Str(a.Ref))
	}
	if line, err = operands(line, names...); err != nil {
		return "", err
	}
	return w.Merged(line...)
}

func worktreePrune(c *loader.Call, a struct {
	Cwd     any  `arg:"cwd"`
	Dry     bool `arg:"dry_run=False"`
	Verbose bool `arg:"verbose=True"`
	Expire  any  `arg:"expire=None"`
	local
}) (string, error) {
	w := a.work(c, a.Cwd)
	if err := w.needsWorktrees(); err != nil {
		return "", err
	}
	command := []string{"worktree", "prune"}
	if a.Dry {
		command = append(command, "--dry-run")
	}
	if a.Verbose {
		command = append(command, "--verbose")
	}
	if python.Truth(a.Expire) {
		command = append(command, "--expire", python.Str(a.Expire))
	}
	line, err := a.command(command...)
	if err != nil {
		return "", err
	}
	out, err := w.run(line, false, true)
	if w.atLeast(2, 35, 1) {
		return out.Stderr, err
	}
	return out.Stdout, err
}

func worktreeRemove(c *loader.Call, a struct {
	Cwd      any `arg:"cwd"`
	User     any `arg:"user=None"`
	Encoding any `arg:"output_encoding=None"`
}) (bool, error) {
	w := plain{a.Cwd, account{User: a.User}, tail{false, a.Encoding}}.run(c)
	cwd := python.Str(a.Cwd)
	if err := w.needsWorktrees(); err != nil {
		return false, err
	}
	switch {
	case !exists(cwd):
		return false, loader.ExecErr("%s does not exist", cwd)
	case !w.In(cwd).IsWorktree():
		return false, loader.ExecErr("%s is not a git worktree", cwd)
	}
	if err := os.RemoveAll(cwd); err != nil {
		return false, loader.ExecErr("Unable to remove %s: %v", cwd, err)
	}
	return true, nil
}
