package git

import (
	"fmt"
	"path/filepath"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type latestArgs struct {
	Name   string `arg:"name"`
	Target string `arg:"target"`
	Rev    any    `arg:"rev=HEAD"`
	Branch any    `arg:"branch=None"`
	who
	UpdateHead    bool         `arg:"update_head=True"`
	ForceCheckout bool         `arg:"force_checkout=False"`
	ForceClone    bool         `arg:"force_clone=False"`
	ForceFetch    bool         `arg:"force_fetch=False"`
	ForceReset    any          `arg:"force_reset=False"`
	Submodules    bool         `arg:"submodules=False"`
	Bare          bool         `arg:"bare=False"`
	Mirror        bool         `arg:"mirror=False"`
	Remote        string       `arg:"remote=origin"`
	FetchTags     bool         `arg:"fetch_tags=True"`
	SyncTags      bool         `arg:"sync_tags=True"`
	Depth         any          `arg:"depth=None"`
	Identity      any          `arg:"identity=None"`
	HTTPSUser     any          `arg:"https_user=None"`
	HTTPSPass     any          `arg:"https_pass=None"`
	RefspecBranch string       `arg:"refspec_branch=*"`
	RefspecTag    string       `arg:"refspec_tag=*"`
	Encoding      any          `arg:"output_encoding=None"`
	KW            *payload.Map `arg:"**kwargs"`
}

// wrong is what the arguments alone show; "" is nothing.
func (a latestArgs) wrong() string {
	why := unknown(a.KW)
	_, isBool := a.ForceReset.(bool)
	switch {
	case why != "":
		return why
	case a.Remote == "":
		return "'remote' argument is required"
	case a.Target == "":
		return "'target' argument is required"
	case !python.Truth(a.Rev):
		return "'" + python.Str(a.Rev) + "' is not a valid value for the 'rev' argument"
	case !isBool && a.ForceReset != any("remote-changes"):
		return "'force_reset' must be one of True, False, or 'remote-changes'"
	case !filepath.IsAbs(a.Target):
		return "target '" + a.Target + "' is not an absolute path"
	}
	for name, v := range map[string]string{"name": a.Name, "rev": python.Str(a.Rev), "branch": loader.Text(a.Branch),
		"remote": a.Remote, "refspec_branch": a.RefspecBranch, "refspec_tag": a.RefspecTag} {
		if strings.HasPrefix(v, "-") { // unlike Salt, where git takes it for an option
			return "'" + v + "' is not a valid value for the '" + name + "' argument: it would be taken for an option"
		}
	}
	return ""
}

// checkout is a checkout, or what is to become one, and the remote repository that it follows.
type checkout struct {
	latestArgs
	c      *states.Call
	work   *git.Work // in the target
	far    *git.Work // the same with what other hosts ask for
	lfs    *git.Work // for what may fetch large files
	shown  string    // the name without passwords
	wanted string    // the URL of the remote, without passwords
	login  bool

	refs          *payload.Map // of the remote
	rev           string
	remoteRev     string // "": none
	revType       string // sha1, branch, tag; "": none
	defaultBranch string
	upstream      string // what the branch is to track; "": nothing
	untracked     bool   // the branch is to track nothing
	loc           string // the revision in words

	comments []string
	changes  *payload.Map
	warnings []any
}

func latest(c *states.Call, a latestArgs) (states.Plan, error) {
	if why := a.wrong(); why != "" {
		return states.Wrong(why), nil
	}
	keys, why, err := identity(c, a.Identity, "Identity", c.Saltenv)
	switch {
	case err != nil:
		return states.Plan{}, err
	case why != "":
		return states.Wrong(strings.ToLower(why[:1]) + why[1:]), nil
	case isFile(a.Target):
		return states.Wrong("Target '" + a.Target + "' exists and is a regular file, cannot proceed"), nil
	}
	plain, login, err := git.LoginOf(a.Name, a.HTTPSUser, a.HTTPSPass)
	if err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	k := &checkout{latestArgs: a, c: c, work: a.work(c, a.Target, a.Encoding), shown: git.Redacted(a.Name),
		wanted: plain,
		login:  login != nil, rev: python.Str(a.Rev), changes: payload.NewMap(0)}
	k.Bare = a.Bare || a.Mirror
	far := *k.work
	far.Identity, far.Saltenv, far.Login = keys, c.Saltenv, login
	k.far, k.lfs = &far, k.work
	if k.rev != "HEAD" && k.Bare {
		return states.Wrong("'rev' is not compatible with the 'mirror' and 'bare' arguments"), nil
	}
	if keys != nil {
		own := &git.Work{Call: c.Call, Ignore: true}
		if filters, err := own.ConfigMatching([]string{"--global"}, `filter\.lfs\.`, nil); err == nil &&
			filters.Len() > 0 {
			k.lfs = k.far
		}
	}
	if why := k.ask(); why != "" {
		return states.Wrong(why), nil
	}
	gitdir := ".git"
	if k.Bare {
		gitdir = "refs"
	}
	if isDir(filepath.Join(a.Target, gitdir)) || isDir(a.Target) && k.work.IsWorktree() {
		return k.update()
	}
	return k.clone()
}

// ask finds what the remote repository has.
func (k *checkout) ask() (why string) {
	refs, err := k.far.In("").RemoteRefs(k.wanted, nil, nil)
	if err != nil {
		return "Failed to check remote refs: " + reason(err)
	}
	k.refs = refs
	head := refs.Str("HEAD")
	for name, hash := range refs.All() {
		if branch, ok := strings.CutPrefix(name.(string), "refs/heads/"); ok && head != "" && hash == any(head) {
			k.defaultBranch = branch
			break
		}
	}
	k.untracked = true
	if !k.Bare {
		k.resolve(head)
	}
	switch {
	case k.Depth != nil && k.revType != "branch" && k.revType != "tag":
		return "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository"
	case k.remoteRev == "" && !k.Bare && k.rev != "HEAD":
		return "No revision matching '" + k.rev + "' exists in the remote repository"
	}
	return ""
}

// resolve finds the commit that is wanted.
func (k *checkout) resolve(head string) {
	branch, tag := k.refs.Str("refs/heads/"+k.rev), k.refs.Str("refs/tags/"+k.rev)
	switch commit := k.refs.Str("refs/tags/" + k.rev + "^{}"); {
	case k.rev == "HEAD":
		if head != "" {
			k.remoteRev, k.revType, k.untracked = head, "sha1", false
			k.loc = "remote HEAD (" + short(head) + ")"
		}
		return
	case branch != "":
		k.remoteRev, k.revType, k.untracked = branch, "branch", false
		k.upstream = k.Remote + "/" + k.rev
		k.loc = k.upstream + " (" + short(branch) + ")"
	case commit != "":
		k.remoteRev, k.revType = commit, "tag"
	case tag != "":
		k.remoteRev, k.revType = tag, "tag"
	case hexDigits(k.rev):
		k.rev = strings.ToLower(k.rev)
		k.remoteRev, k.revType, k.loc = k.rev, "sha1", short(k.rev)
	}
	if k.revType == "tag" {
		k.loc = k.rev + " (" + short(k.remoteRev) + ")"
	}
}

// refspecs are what is fetched beside what the remote is configured for.
func (k *checkout) refspecs() []string {
	if !k.FetchTags {
		return []string{}
	}
	return []string{fmt.Sprintf("refs/heads/%[1]s:refs/remotes/%[2]s/%[1]s", k.RefspecBranch, k.Remote),
		fmt.Sprintf("+refs/tags/%[1]s:refs/tags/%[1]s", k.RefspecTag)}
}

// short is a hash as people read it.
func short(hash string) string { return hash[:min(7, len(hash))] }

// capitalized is str.capitalize of Python.
func capitalized(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}

// matches tells whether a local revision is the wanted one.
func (k *checkout) matches(local string) bool {
	if k.revType == "sha1" && local != "" && k.remoteRev != "" {
		return strings.HasPrefix(local, k.remoteRev)
	}
	return local == k.remoteRev
}

// head is the commit of a checkout and its branch; "" is none.
func (k *checkout) head() (rev, branch string) { return headOf(k.work) }

func headOf(w *git.Work) (rev, branch string) {
	rev, err := w.Quiet().Out("rev-parse", "HEAD")
	if err != nil {
		rev = ""
	}
	branch, err = w.Quiet().Branch()
	if err != nil {
		branch = ""
	}
	return rev, branch
}

// commit tells which commit a revision is; ok is false where it is not known.
func (k *checkout) commit(rev string) (hash string, ok bool) {
	hash, err := k.work.Quiet().Out("rev-parse", rev)
	return hash, err == nil
}

// tracked is what a branch tracks, "" where it tracks nothing.
func (k *checkout) tracked(branch string) string {
	text, err := k.work.Quiet().Out("rev-parse", "--abbrev-ref", branch+"@{upstream}")
	if err != nil {
		return ""
	}
	return text
}

// said adds a comment.
func (k *checkout) said(format string, a ...any) {
	k.comments = append(k.comments, fmt.Sprintf(format, a...))
}

// branchText is the wanted branch, "" where none is wanted.
func (k *checkout) branchText() string { return loader.Text(k.Branch) }

// done is what a run came to.
func (k *checkout) done(text string) (states.Done, error) {
	d := states.Done{Result: true, Comment: text, Changes: k.changes}
	if len(k.warnings) > 0 {
		d = d.With("warnings", k.warnings)
	}
	return d, nil
}

// failed is a run that ended early. An error of git is told without its command.
func (k *checkout) failed(err error) (states.Done, error) {
	text := withMade(reason(err), k.comments)
	if t, ok := err.(toldError); ok {
		text = string(t)
		if !strings.HasPrefix(text, alone) {
			text = withMade(text, k.comments)
		}
		text = strings.TrimPrefix(text, alone)
	}
	return states.Failed(text, k.changes)
}

// toldError is a failure with its whole text. One that begins with alone is told without what was done before.
type toldError string

func (e toldError) Error() string { return string(e) }

const alone = "\x00"

func tellError(format string, a ...any) error { return toldError(fmt.Sprintf(format, a...)) }

// upToDate says that a checkout has what is wanted.
func (k *checkout) upToDate(comments []string, localChanges, test bool) string {
	text := "Repository " + k.Target + " is up-to-date"
	if localChanges {
		text += ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
	}
	if len(comments) == 0 {
		return text
	}
	would := ""
	if test {
		would = "that would be "
	}
	return text + "\n\nChanges " + would + "made: " + sentences(comments)
}
