package git

import (
	"path/filepath"
	"strings"

	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type detachedArgs struct {
	Name   string `arg:"name"`
	Rev    any    `arg:"rev"`
	Target any    `arg:"target"`
	Remote string `arg:"remote=origin"`
	who
	ForceClone    bool         `arg:"force_clone=False"`
	ForceCheckout bool         `arg:"force_checkout=False"`
	FetchRemote   any          `arg:"fetch_remote=True"`
	HardReset     bool         `arg:"hard_reset=False"`
	Submodules    bool         `arg:"submodules=False"`
	Identity      any          `arg:"identity=None"`
	HTTPSUser     any          `arg:"https_user=None"`
	HTTPSPass     any          `arg:"https_pass=None"`
	Encoding      any          `arg:"output_encoding=None"`
	KW            *payload.Map `arg:"**kwargs"`
}

// wrong is what the arguments alone show.
func (a detachedArgs) wrong() string {
	rev, target := python.Str(a.Rev), python.Str(a.Target)
	why := unknown(a.KW)
	switch {
	case why != "":
		return why
	case !python.Truth(a.Rev):
		return "'" + rev + "' is not a valid value for the 'rev' argument"
	case !python.Truth(a.Target):
		return "'" + target + "' is not a valid value for the 'target' argument"
	case !filepath.IsAbs(target):
		return "Target '" + target + "' is not an absolute path"
	}
	for name, v := range map[string]string{"name": a.Name, "rev": rev, "remote": a.Remote} {
		if strings.HasPrefix(v, "-") { // unlike Salt, where git takes it for an option
			return "'" + v + "' is not a valid value for the '" + name + "' argument: it would be taken for an option"
		}
	}
	return ""
}

// detachment is how a checkout gets to one revision, stage after stage.
type detachment struct {
	detachedArgs
	work, far *git.Work
	target    string
	rev       string
	isHash    bool
	known     bool   // the hash is in the repository
	wanted    string // the URL without passwords
	shown     string

	local    string // the commit that is checked out; "": none
	commit   string // the one that is wanted
	comments []string
	changes  *payload.Map
}

// stage is a step that something is to be done in.
type stage struct {
	would   string       // what test mode says
	changes *payload.Map // what it shows
	do      func() error
}

func detached(c *states.Call, a detachedArgs) (states.Plan, error) {
	if why := a.wrong(); why != "" {
		return states.Wrong(why), nil
	}
	keys, why, err := identity(c, a.Identity, "Identity", "base")
	if err != nil {
		return states.Plan{}, err
	}
	d := &detachment{detachedArgs: a, target: python.Str(a.Target), rev: python.Str(a.Rev), changes: payload.NewMap(0),
		shown: git.Redacted(a.Name)}
	switch {
	case why != "":
		return states.Wrong(strings.ToUpper(why[:1]) + why[1:]), nil
	case isFile(d.target):
		return states.Wrong("Target '" + d.target + "' exists and is a regular file, cannot proceed"), nil
	}
	plain, login, err := git.LoginOf(a.Name, a.HTTPSUser, a.HTTPSPass)
	if err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	d.wanted, d.work = plain, a.work(c, d.target, a.Encoding)
	far := *d.work
	far.Identity, far.Saltenv, far.Login = keys, c.Saltenv, login
	d.far = &far
	if hexDigits(d.rev) {
		d.rev, d.isHash = strings.ToLower(d.rev), true
	}
	return d.plan()
}

// plan stops at the first stage in which something is to be done.
func (d *detachment) plan() (states.Plan, error) {
	stages := []func() (*stage, error){d.repository, d.fetch, d.resolve, d.reset, d.checkout, d.submodules}
	for i, look := range stages {
		s, err := look()
		if told, ok := err.(toldError); ok {
			return states.Wrong(string(told)), nil
		}
		if err != nil {
			return states.Plan{}, err
		}
		if s != nil {
			return states.Would(s.would, s.changes, func() (states.Done, error) {
				return d.carryOut(s,
					stages[i+1:])
			}), nil
		}
	}
	return states.Correct(d.comment()), nil
}

// carryOut does what a stage says, and what the later ones find.
func (d *detachment) carryOut(s *stage, later []func() (*stage, error)) (states.Done, error) {
	for {
		err := s.do()
		for s = nil; err == nil && s == nil && len(later) > 0; later = later[1:] {
			s, err = later[0]()
		}
		if told, ok := err.(toldError); ok {
			return states.Failed(withMade(strings.TrimPrefix(string(told), alone), d.commentsFor(told)), d.changes)
		}
		if err != nil {
			return states.Done{}, err
		}
		if s == nil {
			return states.Changed(d.comment(), d.changes)
		}
	}
}

// commentsFor are the comments that a failure shows.
func (d *detachment) commentsFor(told toldError) []string {
	if strings.HasPrefix(string(told), alone) {
		return nil
	}
	return d.comments
}

func (d *detachment) said(format string, a ...any) {
	d.comments = append(d.comments, sprintf(format, a...))
}

// comment is what was done.
func (d *detachment) comment() string {
	if !d.changes.Has("HEAD") {
		d.said("Already checked out at correct revision")
	}
	return sentences(d.comments)
}

// repository has a repository with the right remote.
func (d *detachment) repository() (*stage, error) {
	if isDir(filepath.Join(d.target, ".git")) || isDir(d.target) && d.work.IsWorktree() {
		return d.remoteStage()
	}
	clone := &stage{would: "Repository " + d.shown + " would be cloned to " + d.target, do: d.clone}
	if isDir(d.target) {
		switch {
		case d.ForceClone:
			clone.would = "Target directory " + d.target + " exists. Since force_clone=True, the contents of " +
				d.target +
				" would be deleted, and " + d.shown + " would be cloned into this directory."
		case entries(d.target) > 0:
			return nil, tellError(notEmpty, d.target)
		}
	}
	return clone, nil
}

// remoteStage has the remote of a repository that is there.
func (d *detachment) remoteStage() (*stage, error) {
	d.local, _ = headOf(d.work)
	if d.isHash {
		_, err := d.work.Quiet().Out("describe", "--always", d.rev)
		d.known = err == nil
		return nil, nil
	}
	remotes, err := d.work.Remotes(false)
	if err != nil {
		return nil, err
	}
	current := remotes.Map(d.Remote).Value("fetch")
	if strings.Contains(loader.Text(current), d.Name) || current == any(d.wanted) {
		return nil, nil
	}
	return &stage{would: "Remote " + d.Remote + " would be set to " + d.shown, do: func() error {
		d.said("Remote %s updated from '%s' to '%s'", d.Remote, git.Redacted(python.Str(current)), d.shown)
		return d.work.RemoteSet(d.wanted, d.Remote, nil, nil)
	}}, nil
}

func (d *detachment) clone() error {
	if isDir(d.target) && d.ForceClone {
		if why := clear(d.target); why != "" {
			return tellError("Unable to remove%s", why)
		}
		d.changes.Set("forced clone", true)
	}
	line := []string{"clone", "--no-checkout"}
	if d.Remote != "origin" {
		line = append(line, "--origin", d.Remote)
	}
	if err := d.far.Clone(nil, d.wanted, nil, nil, line); err != nil {
		return tellError("%s", reason(err))
	}
	d.said("%s cloned to %s", d.shown, d.target)
	return nil
}

func (d *detachment) fetch() (*stage, error) {
	if d.known || d.FetchRemote == any(false) {
		return nil, nil
	}
	return &stage{would: "Repository remote " + d.Remote + " would be fetched", do: func() error {
		news, err := d.far.Fetch(d.Remote, true, []string{"refs/heads/*:refs/remotes/" + d.Remote + "/*",
			"+refs/tags/*:refs/tags/*"})
		if err != nil {
			return tellError(alone+"Fetch failed:\n\n%s", loader.Message(err))
		}
		if news.Len() > 0 {
			d.said("Remote %s was fetched, resulting in updated refs", d.Remote)
		}
		return nil
	}}, nil
}

// resolve finds the commit that is wanted.
func (d *detachment) resolve() (*stage, error) {
	none := tellError(alone+"Revision '%s' does not exist", d.rev)
	if d.isHash {
		text, err := d.work.Out("describe", "--always", d.rev)
		if err == nil && text == "" {
			err = none
		}
		d.commit = d.rev
		return nil, err
	}
	refs, err := d.work.In("").RemoteRefs(d.target, nil, nil)
	if err != nil {
		return nil, tellError(alone+"Failed to list refs for %s: %s", d.Remote, reason(err))
	}
	d.commit = refs.Str("refs/remotes/" + d.Remote + "/" + d.rev)
	if d.commit == "" {
		d.commit = refs.Str("refs/tags/" + d.rev)
	}
	if d.commit == "" {
		return nil, none
	}
	return nil, nil
}

func (d *detachment) reset() (*stage, error) {
	if !d.HardReset {
		return nil, nil
	}
	return &stage{would: "Hard reset to HEAD would be performed on " + d.target, do: func() error {
		_, err := d.work.Out("reset", "--hard", "HEAD")
		d.said("Repository was reset to HEAD before checking out revision")
		return err
	}}, nil
}

func (d *detachment) checkout() (*stage, error) {
	if d.commit == d.local {
		return nil, nil
	}
	changes := payload.M("HEAD", payload.M("old", orNone(d.local), "new", d.commit))
	return &stage{"Commit ID " + d.commit + " would be checked out at " + d.target, changes, func() error {
		line := []string{"checkout"}
		if d.ForceCheckout {
			line = append(line, "--force")
		}
		if _, err := d.work.Merged(append(line, d.commit)...); err != nil {
			return err
		}
		d.said("Commit ID %s was checked out at %s", d.commit, d.target)
		if rev, _ := headOf(d.work); rev != "" {
			d.changes.Set("HEAD", payload.M("old", orNone(d.local), "new", rev))
		}
		return nil
	}}, nil
}

// submodules has the submodules at their revisions. Unlike Salt, which does so in test mode, too.
func (d *detachment) submodules() (*stage, error) {
	if !d.Submodules {
		return nil, nil
	}
	return &stage{would: "Submodules would be updated", do: func() error {
		_, err := d.far.Out("submodule", "update", "--init", "--recursive")
		d.said("Submodules were updated")
		return err
	}}, nil
}
