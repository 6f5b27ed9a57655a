package git

import (
	"slices"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/wire/payload"
)

// move brings the checkout to the wanted revision; stays is why it was left where it is.
func (f *found) move() (stays string, err error) {
	if err := f.setRemote(); err != nil {
		return "", err
	}
	track, text := f.tracking(f.tracks, f.branches)
	if track != nil && f.branch == "" {
		return "", tellError("Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. " +
			"This may " +
			"have been caused by cloning a remote repository for which the default branch was renamed or deleted. " +
			"If you " +
			"are unable to fix the remote repository, you can work around this by setting the 'branch' argument " +
			"(which " +
			"will ensure that the named branch is created if it does not already exist).")
	}
	if err := f.syncTags(); err != nil {
		return "", err
	}
	if !f.has {
		if stays, err := f.fetch(); stays != "" || err != nil {
			return stays, err
		}
	}
	if err := f.changeBranch(); err != nil {
		return "", err
	}
	if err := f.discard(); err != nil {
		return "", err
	}
	if track != nil {
		if _, err := f.work.Out(track...); err != nil {
			return "", err
		}
		f.said("%s", text)
	}
	if f.forward == isForward && !f.matches(f.base) {
		if err := f.goForward(); err != nil {
			return "", err
		}
	}
	if f.Submodules {
		return "", f.updateSubmodules()
	}
	return "", nil
}

// setRemote gives the remote its URL.
func (f *found) setRemote() error {
	if f.sameURL() {
		return nil
	}
	if err := f.work.RemoteSet(f.wanted, f.Remote, nil, nil); err != nil {
		return err
	}
	if f.fetchURL == "" {
		f.said("Remote '%s' set to %s", f.Remote, f.shownURL())
		f.changes.Set("new", f.shown+" => "+f.Remote)
		return nil
	}
	f.said("Remote '%s' changed from %s to %s", f.Remote, git.Redacted(f.fetchURL), f.shownURL())
	return nil
}

// syncTags removes tags that the remote no longer has, and has new ones fetched.
func (f *found) syncTags() error {
	refs, err := f.far.Quiet().RemoteTags(f.Remote)
	if err != nil {
		return err
	}
	var remote []string
	for name := range refs.All() {
		if tag := name.(string); !strings.Contains(tag, "^{}") {
			remote = append(remote, strings.ReplaceAll(tag, "refs/tags/", ""))
		}
	}
	fresh, gone := lacking(remote, f.tags), lacking(f.tags, remote)
	if len(fresh)+len(gone) == 0 {
		return nil
	}
	f.has = false
	if len(fresh) > 0 {
		f.changes.Set("new_tags", payload.AnyList(fresh))
	}
	if !f.SyncTags || len(gone) == 0 {
		return nil
	}
	var deleted []string
	for _, tag := range gone {
		if _, err := f.work.Merged("tag", "-d", "--", tag); err != nil {
			f.warnings = append(f.warnings, "Failed to remove local tag '"+tag+"':\n\n"+loader.Message(err)+"\n\n")
			continue
		}
		deleted = append(deleted, tag)
	}
	if len(deleted) > 0 {
		f.changes.Set("deleted_tags", payload.AnyList(deleted))
		f.said("The following tags were removed from the local checkout: %s", strings.Join(deleted, ", "))
	}
	return nil
}

// lacking are the names of one list that another lacks, in order.
func lacking(list, in []string) (out []string) {
	for _, name := range list {
		if !slices.Contains(in, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// fetch gets the wanted revision; stays is why HEAD is left where it is all the same.
func (f *found) fetch() (stays string, err error) {
	news, err := f.far.Fetch(f.Remote, f.ForceFetch, f.refspecs())
	if err != nil {
		return "", fetchFailed(err)
	}
	if news.Len() > 0 {
		f.said("%s was fetched, resulting in updated refs", f.shown)
	}
	if _, err := f.work.Quiet().Out("rev-parse", f.remoteRev+"^{commit}"); err != nil {
		return "", tellError(alone+"Fetch did not successfully retrieve rev '%s' from %s: %s", f.checkout.rev, f.shown,
			loader.Message(err))
	}
	if !f.match && !f.UpdateHead && !f.otherBranch() {
		return f.notUpdated(), nil
	}
	if err := f.lookForward(f.work); err != nil {
		return "", err
	}
	if f.ForceReset == any(false) && (f.forward == noForward || f.dirty) {
		return "", toldError(alone + f.notForward())
	}
	return "", nil
}

// changeBranch checks out the wanted branch.
func (f *found) changeBranch() error {
	if !f.otherBranch() {
		return nil
	}
	if f.dirty && !f.ForceCheckout {
		return tellError(alone+"Local branch '%s' has uncommitted changes. Set 'force_checkout' to True to discard "+
			"them and "+
			"proceed.", f.branch)
	}
	line := []string{"checkout"}
	if f.ForceCheckout {
		line = append(line, "--force")
	}
	fresh := !slices.Contains(f.branches, f.branchText())
	if fresh {
		line = append(line, "-b", f.branchText(), f.startOf())
	} else {
		line = append(line, f.branchText())
	}
	if _, err := f.work.Merged(line...); err != nil {
		return err
	}
	if fresh {
		f.said("New branch '%s' was checked out, with %s as a starting point", f.branchText(), f.loc)
	} else {
		f.said("'%s' was checked out", f.branchText())
	}
	return nil
}

// discard throws away what is in the way.
func (f *found) discard() error {
	switch {
	case f.forward == noForward:
		if _, err := f.lfs.Out("reset", "--hard", f.remoteRev); err != nil {
			return err
		}
		f.changes.Set("forced update", true)
		if f.dirty {
			f.said("Uncommitted changes were discarded")
		}
		f.said("Repository was hard-reset to %s", f.loc)
	case f.forward == isForward && f.dirty && f.ForceReset != any(false):
		if _, err := f.work.Merged("checkout", "--", "."); err != nil {
			return err
		}
		f.said("Uncommitted changes were discarded")
	}
	return nil
}

// goForward moves HEAD on.
func (f *found) goForward() error {
	if f.upstream == "" && f.checkout.rev != "HEAD" {
		if _, err := f.lfs.Out("reset", "--hard", f.checkout.rev); err != nil {
			return err
		}
		f.said("Repository was reset to %s (fast-forward)", f.checkout.rev)
		return nil
	}
	on, err := f.work.Quiet().Out("symbolic-ref", "--quiet", "HEAD")
	switch {
	case err != nil:
		return err
	case on == "":
		return tellError("Unable to fast-forward, HEAD is detached")
	}
	if _, err := f.lfs.Out("merge", "--ff-only", f.remoteRev); err != nil {
		return err
	}
	f.said("Repository was fast-forwarded to %s", f.loc)
	return nil
}
