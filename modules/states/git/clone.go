package git

import (
	"slices"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// notEmpty is what keeps a clone from a target.
const notEmpty = "Target '%s' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True " +
	"to remove this directory's contents and proceed with cloning the remote repository"

// clone plans a new checkout.
func (k *checkout) clone() (states.Plan, error) {
	change := k.shown + " => " + k.Target
	there := isDir(k.Target)
	switch {
	case there && k.ForceClone:
		text := "Target directory " + k.Target + " exists. Since force_clone=True, the contents of " + k.Target +
			" would be deleted, and " + k.shown + " would be cloned into this directory."
		return states.Would(text, payload.M("forced clone", true, "new", change), k.cloned), nil
	case there && entries(k.Target) > 0:
		return states.Wrong(sprintf(notEmpty, k.Target)), nil
	}
	return states.Would("Repository "+k.shown+" would be cloned to "+k.Target, payload.M("new", change), k.cloned), nil
}

// cloned makes the checkout.
func (k *checkout) cloned() (states.Done, error) {
	if isDir(k.Target) && k.ForceClone {
		if why := clear(k.Target); why != "" {
			return states.Failed("Unable to remove"+why, k.changes)
		}
		k.changes.Set("forced clone", true)
	}
	if err := k.cloneIt(); err != nil {
		return k.failed(err)
	}
	if rev, _ := k.head(); rev != "" {
		k.changes.Set("revision", payload.M("old", nil, "new", rev))
	}
	return k.done(sentences(k.comments))
}

func (k *checkout) cloneIt() error {
	line, kind := []string{"clone"}, ""
	switch {
	case k.Mirror:
		line, kind = append(line, "--mirror"), " as mirror"
	case k.Bare:
		line, kind = append(line, "--bare"), " as bare repository"
	}
	if k.Remote != "origin" {
		line = append(line, "--origin", k.Remote)
	}
	if k.Depth != nil {
		line = append(line, "--depth="+python.Str(k.Depth), "--branch", k.rev)
	}
	if err := k.far.Clone(nil, k.wanted, nil, nil, line); err != nil {
		return tellError("Clone failed: %s", reason(err))
	}
	k.changes.Set("new", k.shown+" => "+k.Target)
	k.said("%s cloned to %s%s", k.shown, k.Target, kind)
	if k.Bare || k.remoteRev == "" {
		return nil
	}
	if err := k.atRevision(); err != nil {
		return err
	}
	if k.Submodules {
		return k.updateSubmodules()
	}
	return nil
}

// atRevision has a new clone at the wanted revision, on the wanted branch.
func (k *checkout) atRevision() error {
	if k.revType == "tag" {
		tags, err := k.work.Refs("refs/tags/")
		switch {
		case err != nil:
			return err
		case !slices.Contains(tags, k.rev):
			return tellError("Revision '%s' does not exist in clone", k.rev)
		}
	}
	if err := k.newBranch(); err != nil {
		return err
	}
	rev, branch := k.head()
	if branch == "" && !k.refs.Has("HEAD") {
		return tellError("Remote HEAD refers to a ref that does not exist. This can happen when the default branch " +
			"on " +
			"the remote repository is renamed or deleted. If you are unable to fix the remote repository, you can " +
			"work " +
			"around this by setting the 'branch' argument (which will ensure that the named branch is created if it " +
			"does not already exist).")
	}
	if !k.matches(rev) {
		if _, err := k.work.Out("reset", "--hard", k.remoteRev); err != nil {
			return err
		}
		k.said("Repository was reset to %s", k.loc)
	}
	upstream := ""
	if branch != "" {
		upstream = k.tracked(branch)
	}
	branches, err := k.work.Refs("refs/heads/")
	if err != nil {
		return err
	}
	line, text := k.tracking(upstream, branches)
	if line == nil {
		return nil
	}
	_, err = k.work.Out(line...)
	if err == nil {
		k.said("%s", text)
	}
	return err
}

// newBranch checks out the wanted branch, where the clone has none of that name.
func (k *checkout) newBranch() error {
	if k.Branch == nil {
		return nil
	}
	branches, err := k.work.Refs("refs/heads/")
	if err != nil || slices.Contains(branches, k.branchText()) {
		return err
	}
	if _, err := k.work.Merged("checkout", "-b", k.branchText(), k.startOf()); err != nil {
		return err
	}
	k.said("Branch '%s' checked out, with %s as a starting point", k.branchText(), k.loc)
	return nil
}

// startOf is where a new branch starts.
func (k *checkout) startOf() string {
	switch {
	case k.rev == "HEAD":
		return k.remoteRev
	case k.upstream != "":
		return k.upstream
	}
	return k.rev
}

// tracking is how a branch gets what it is to track, beside what is said of it; nil: it has that.
func (k *checkout) tracking(upstream string, branches []string) (line []string, text string) {
	set := []string{"branch", "--set-upstream-to", k.upstream}
	if k.Branch != nil && !slices.Contains(branches, k.branchText()) {
		set = nil
	}
	switch {
	case upstream == "" && k.upstream != "":
		return set, "Tracking branch was set to " + k.upstream
	case upstream != "" && k.untracked:
		return []string{"branch", "--unset-upstream"}, "Tracking branch was unset"
	case k.upstream != "" && upstream != k.upstream:
		return set, "Tracking branch was updated to " + k.upstream
	}
	return nil, ""
}

// updateSubmodules has the submodules at their revisions.
func (k *checkout) updateSubmodules() error {
	if _, err := k.far.Out("submodule", "update", "--init", "--recursive"); err != nil {
		return tellError("Failed to update submodules: %s", reason(err))
	}
	return nil
}
