package git

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/states"
	"brine/wire/payload"
)

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, a...) }

// forward tells whether the wanted revision has the present one in its history.
type forward int

const (
	unsure forward = iota
	isForward
	noForward
)

// found is what an update finds out before it changes anything.
type found struct {
	*checkout
	branches []string
	tags     []string
	rev      string // of HEAD; "": none
	branch   string
	base     string // the commit that is moved on; "": none
	baseOn   string // the branch that it is on
	match    bool   // HEAD is the wanted revision
	dirty    bool   // there are changes that nobody committed
	has      bool   // the wanted revision is in the repository
	forward  forward
	tracks   string // what the branch tracks; "": nothing
	fetchURL string // of the remote; "": there is none
}

// update plans how a checkout gets to the wanted revision.
func (k *checkout) update() (states.Plan, error) {
	f := &found{checkout: k}
	if p, err := f.look(); p != nil || err != nil {
		if err != nil {
			return states.Wrong(withMade(reason(err), nil)), nil
		}
		return *p, nil
	}
	p := f.told()
	p.Apply = f.apply
	return p, nil
}

// look finds out what there is; a plan is one that needs no more.
func (f *found) look() (*states.Plan, error) {
	var err error
	if f.branches, err = f.work.Refs("refs/heads/"); err != nil {
		return nil, err
	}
	if f.tags, err = f.work.Refs("refs/tags/"); err != nil {
		return nil, err
	}
	f.rev, f.branch = f.head()
	if !f.Bare && f.remoteRev == "" && f.rev != "" {
		return wrong("Remote repository is empty, cannot update from a non-empty to an empty repository")
	}
	f.base, f.baseOn = f.rev, f.branch
	if f.otherBranch() {
		if !slices.Contains(f.branches, f.branchText()) {
			f.base = f.remoteRev
		} else {
			f.baseOn = f.branchText()
			if f.base, err = f.work.Quiet().Out("rev-parse", f.baseOn+"^{commit}"); err != nil {
				return wrong("Unable to get position of local branch '%s': %s", f.baseOn, reason(err))
			}
		}
	}
	remotes, err := f.work.Remotes(false)
	if err != nil {
		return nil, err
	}
	f.fetchURL = remotes.Map(f.Remote).Str("fetch")
	f.match = f.matches(f.rev)
	if !f.Bare {
		diff, err := f.work.Merged("diff", "HEAD")
		f.dirty = err == nil && diff != ""
	}
	if f.dirty && f.match && f.ForceReset != any(true) {
		p := states.Correct(f.upToDate(nil, true, f.c.Test))
		return &p, nil
	}
	return f.lookFurther()
}

// lookFurther finds out how far the checkout is behind.
func (f *found) lookFurther() (*states.Plan, error) {
	why, err := f.lookForRevision()
	if err != nil || why != "" {
		return &states.Plan{Result: false, Comment: why}, err
	}
	if f.dirty && f.ForceReset != any("remote-changes") {
		f.forward = noForward
	}
	if f.has {
		if !f.match && !f.UpdateHead && !f.otherBranch() {
			p := states.Correct(f.notUpdated())
			return &p, nil
		}
		if f.forward == unsure {
			if err := f.lookForward(f.work.Quiet()); err != nil {
				return nil, err
			}
		}
	}
	if f.forward == noForward && f.ForceReset == any(false) {
		p := states.Wrong(f.notForward())
		return &p, nil
	}
	if f.baseOn != "" {
		f.tracks = f.tracked(f.baseOn)
	}
	return nil, nil
}

func wrong(format string, a ...any) (*states.Plan, error) {
	p := states.Wrong(sprintf(format, a...))
	return &p, nil
}

// otherBranch tells whether another branch than the current one is wanted.
func (k *found) otherBranch() bool { return k.Branch != nil && k.branchText() != k.branch }

// lookForRevision tells whether the wanted revision is in the repository already.
func (f *found) lookForRevision() (why string, err error) {
	if f.revType == "sha1" && f.base != "" && strings.HasPrefix(f.base, f.remoteRev) {
		f.has = true
		return "", nil
	}
	if f.remoteRev == "" {
		return "", nil
	}
	if _, known := f.commit(f.remoteRev + "^{commit}"); !known {
		return "", nil
	}
	switch f.revType {
	case "branch":
		copied, known := f.commit(f.upstream)
		f.has = f.fetchURL != "" && known && copied == f.remoteRev
	case "tag":
		if !slices.Contains(f.tags, f.checkout.rev) {
			return "", nil
		}
		local, _ := f.commit(f.checkout.rev + "^{commit}")
		f.has = local == f.remoteRev
		if !f.has && f.ForceReset == any(false) {
			return sprintf("'%s' is a tag, but the remote SHA1 for this tag (%s) doesn't match the local SHA1 (%s). "+
				"Set "+
				"'force_reset' to True to force this update.", f.checkout.rev, short(f.remoteRev), short(local)), nil
		}
	case "sha1":
		f.has = true
	}
	return "", nil
}

// lookForward finds out whether the update is a step forward.
func (f *found) lookForward(w *git.Work) error {
	f.forward = isForward
	if f.base == "" {
		return nil
	}
	ok, err := w.IsAncestor(f.base, f.remoteRev)
	if !ok {
		f.forward = noForward
	}
	return err
}

// notUpdated says that HEAD stays where it is.
func (f *found) notUpdated() string {
	loc := f.loc
	if f.checkout.rev == "HEAD" {
		loc = capitalized(loc)
	}
	return loc + " is already present and local HEAD (" + short(f.rev) + ") does not match, but update_head=False. " +
		"HEAD has not been updated locally."
}

// notForward says why a checkout is not moved.
func (f *found) notForward() string {
	advice := ""
	switch rev := f.checkout.rev; {
	case f.Branch != nil:
	case rev != "HEAD" && f.branch != rev:
		advice = sprintf(" The desired rev (%[1]s) differs from the name of the local branch (%[2]s), if the "+
			"desired rev "+
			"is a branch name then a forced update could possibly be avoided by setting the 'branch' argument to "+
			"'%[1]s' instead.", rev, f.branch)
	case rev == "HEAD" && f.defaultBranch != "" && f.branch != f.defaultBranch:
		advice = sprintf(" The default remote branch (%[1]s) differs from the local branch (%[2]s). This could be "+
			"caused "+
			"by changing the default remote branch, or if the local branch was manually changed. Rather than "+
			"forcing an "+
			"update, it may be advisable to set the 'branch' argument to '%[1]s' instead. To ensure that this state "+
			"follows the '%[1]s' branch instead of the remote HEAD, set the 'rev' argument to '%[1]s'.",
			f.defaultBranch, f.branch)
	}
	pre, post := short(f.base), short(f.remoteRev)
	way, after, why, also, discard := "to "+post, "", "this is not a fast-forward merge", "", ""
	if f.dirty {
		why, also, discard = "there are uncommitted changes", " (or 'remote-changes')", " and discard these changes"
		if pre != post {
			way = "from " + pre + " to " + post
		}
	}
	if f.otherBranch() {
		after = " (after checking out local branch '" + f.branchText() + "')"
	}
	return withMade(sprintf("Repository would be updated %s%s, but %s. Set 'force_reset' to True%s to force this "+
		"update%s.%s", way, after, why, also, discard, advice), f.comments)
}

// action is the way in which the revision would be reached.
func (f *found) action() string {
	switch f.forward {
	case noForward:
		return "hard-reset"
	case isForward:
		return "fast-forwarded"
	}
	return "updated"
}

// told is what test mode shows.
func (f *found) told() states.Plan {
	if f.dirty && f.match {
		return states.Plan{Comment: f.Target + " is up-to-date, but with uncommitted changes. Since 'force_reset' " +
			"is set to " +
			"True, these local changes would be reset. To only reset when there are changes in the remote " +
			"repository, " +
			"set 'force_reset' to 'remote-changes'.", Changes: payload.M("forced update", true)}
	}
	var actions []string
	changes := payload.NewMap(0)
	switch {
	case f.remoteRev != "" && !f.sameURL():
		actions = f.wouldSetRemote(changes)
	case f.remoteRev != "":
		actions = f.wouldMove(changes)
	case f.Bare:
		actions = []string{"Bare repository at " + f.Target + " would be fetched"}
	}
	switch {
	case changes.Len() > 0:
		return states.Plan{Comment: sentences(actions), Changes: changes}
	case f.remoteRev != "" && !f.match && !f.UpdateHead && len(actions) > 0:
		return states.Plan{Result: true, Comment: sentences(actions)}
	}
	return states.Plan{Result: true, Comment: f.upToDate(actions, false, true)}
}

// sameURL tells whether the remote is what is wanted. Passwords do not count: unlike Salt's, a URL here has none.
func (f *found) sameURL() bool {
	plain, _, err := git.LoginOf(f.fetchURL, nil, nil)
	return err == nil && plain == f.wanted
}

// shownURL is the wanted URL, with a mark where Salt has a user and a password.
func (f *found) shownURL() string {
	if f.login {
		return strings.Replace(f.wanted, "://", "://<redacted>@", 1)
	}
	return f.wanted
}

func (f *found) wouldSetRemote(changes *payload.Map) []string {
	old := "None"
	if f.fetchURL != "" {
		old = git.Redacted(f.fetchURL)
	}
	actions := []string{sprintf("Remote '%s' would be changed from %s to %s", f.Remote, old, f.shownURL())}
	if !f.has {
		actions = append(actions, "Remote would be fetched")
	}
	if !f.match && f.UpdateHead {
		changes.Set("revision", payload.M("old", orNone(f.rev), "new", f.remoteRev))
		if f.forward == noForward {
			changes.Set("forced update", true)
		}
		actions = append(actions, sprintf("Repository would be %s to %s", f.action(), short(f.remoteRev)))
	}
	return actions
}

func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (f *found) wouldMove(changes *payload.Map) (actions []string) {
	say := func(format string, a ...any) { actions = append(actions, sprintf(format, a...)) }
	if !f.has {
		say("Remote '%s' would be fetched", f.Remote)
	}
	if !f.match && (f.UpdateHead || f.otherBranch()) {
		changes.Set("revision", payload.M("old", orNone(f.rev), "new", f.remoteRev))
	}
	switch {
	case f.otherBranch() && !slices.Contains(f.branches, f.branchText()):
		say("New branch '%s' would be checked out, with %s as a starting point", f.branchText(), f.loc)
		if f.upstream != "" {
			say("Tracking branch would be set to %s", f.upstream)
		}
	case f.otherBranch():
		say("Branch '%s' would be checked out and %s to %s", f.branchText(), f.action(), short(f.remoteRev))
	case f.match:
	case !f.UpdateHead:
		say("Local HEAD (%s) does not match %s but update_head=False, HEAD would not be updated locally",
			short(f.rev), f.loc)
	default:
		how := "updated"
		switch {
		case f.forward == isForward:
			how = "fast-forwarded"
		case f.ForceReset != any(false) && f.has:
			how = "hard-reset"
		}
		say("Repository would be %s from %s to %s", how, shortOrNone(f.rev), short(f.remoteRev))
	}
	switch {
	case f.tracks == "" && f.upstream != "":
		say("Tracking branch would be set to %s", f.upstream)
	case f.tracks != "" && f.untracked:
		say("Tracking branch would be unset")
	case f.upstream != "" && f.tracks != f.upstream:
		say("Tracking branch would be updated to %s", f.upstream)
	}
	return actions
}

func shortOrNone(hash string) string {
	if hash == "" {
		return "None"
	}
	return short(hash)
}

// apply brings the checkout to the wanted revision.
func (f *found) apply() (states.Done, error) {
	if f.remoteRev != "" {
		switch stays, err := f.move(); {
		case err != nil:
			return f.failed(err)
		case stays != "":
			return f.done(stays)
		}
	} else if f.Bare {
		news, err := f.far.Fetch(f.Remote, f.ForceFetch, f.refspecs())
		if err != nil {
			return f.failed(fetchFailed(err))
		}
		refs := ""
		if news.Len() > 0 {
			refs = ", resulting in updated refs"
		}
		f.said("Bare repository at %s was fetched%s", f.Target, refs)
	}
	rev, _ := f.head()
	switch {
	case !f.Bare && !f.matches(rev):
		return f.failed(tellError("Failed to update repository"))
	case rev == f.rev:
		return f.done(f.upToDate(f.comments, false, false))
	}
	f.changes.Set("revision", payload.M("old", orNone(f.rev), "new", orNone(rev)))
	return f.done(sentences(f.comments))
}

// fetchFailed tells of a fetch that failed.
func fetchFailed(err error) error {
	return tellError("Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not "+
		"being able "+
		"to fast-forward. Output of the fetch command follows:\n\n%s", reason(err))
}
