package file

import (
	"fmt"
	"os"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type symlinkArgs struct {
	Name           any          `arg:"name"`
	Target         any          `arg:"target"`
	Force          bool         `arg:"force=False"`
	BackupName     any          `arg:"backupname=None"`
	MakeDirs       bool         `arg:"makedirs=False"`
	User           any          `arg:"user=None"`
	Group          any          `arg:"group=None"`
	Mode           any          `arg:"mode=None"`
	WinOwner       any          `arg:"win_owner=None"`
	WinPerms       any          `arg:"win_perms=None"`
	WinDeny        any          `arg:"win_deny_perms=None"`
	WinInheritance any          `arg:"win_inheritance=None"`
	Atomic         bool         `arg:"atomic=False"`
	RenameOnly     bool         `arg:"disallow_copy_and_unlink=False"`
	Inherit        bool         `arg:"inherit_user_and_group=False"`
	Follow         bool         `arg:"follow_symlinks=True"`
	KW             *payload.Map `arg:"**kwargs"`
}

// symlink makes a symbolic link, which leads to a target and has an owner.
func symlink(c *states.Call, a symlinkArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name)
	p.Name = name
	given := [][2]any{{"win_owner", a.WinOwner}, {"win_perms", a.WinPerms}, {"win_deny_perms", a.WinDeny},
		{"win_inheritance", a.WinInheritance}}
	return withWarnings(p, useless(append(given, unknown(a.KW, "owner")...))), err
}

func (a symlinkArgs) plan(c *states.Call, name string) (states.Plan, error) {
	target, ok := a.Target.(string)
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.symlink"), nil
	case !ok:
		return states.Plan{}, &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			python.Type(a.Target)}
	}
	a.User = ownerOf(a.User, a.KW)
	l := &newLink{a: a, name: name, target: target, mode: file.NormalMode(a.Mode), isLink: isLink(name)}
	if err := l.owner(c); err != nil {
		return states.Plan{}, err
	}
	if wrong, err := preflight(c, l.user, l.group, name, ""); err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	return l.plan(c)
}

// preflight tells what makes a link impossible: owners that are not there, paths that are not absolute.
func preflight(c *states.Call, user, group any, name, target string) (string, error) {
	var wrong []string
	known, err := file.KnownUser(c.Call, user)
	if err != nil {
		return "", err
	}
	if !known {
		wrong = append(wrong, fmt.Sprintf("User %s does not exist", python.Str(user)))
	}
	if known, err = file.KnownGroup(c.Call, group); err != nil {
		return "", err
	}
	if !known {
		wrong = append(wrong, fmt.Sprintf("Group %s does not exist", python.Str(group)))
	}
	if !strings.HasPrefix(name, "/") {
		wrong = append(wrong, "Specified file "+name+" is not an absolute path")
	}
	if target != "" && !strings.HasPrefix(target, "/") {
		wrong = append(wrong, "Specified target "+target+" is not an absolute path")
	}
	text := strings.Join(wrong, ". ")
	if len(wrong) > 1 {
		text += "."
	}
	return text, nil
}

// newLink is a link that should be there.
type newLink struct {
	a            symlinkArgs
	name, target string
	mode         any
	isLink       bool
	user, group  any
}

// owner finds whose the link should be: the one that is named, that of the link that is there, the minion's.
func (l *newLink) owner(c *states.Call) error {
	l.user, l.group = l.a.User, l.a.Group
	if l.a.Inherit && l.isLink {
		user, group, err := file.OwnersOf(l.name)
		if err != nil {
			return err
		}
		if l.user == nil {
			l.user = user
		}
		if l.group == nil {
			l.group = group
		}
	}
	var err error
	l.user, l.group, err = ownGroup(c, l.user, l.group)
	return err
}

// ownGroup completes an owner: the user of the minion, and the first group of the user.
func ownGroup(c *states.Call, user, group any) (any, any, error) {
	if user == nil {
		user = c.Opts().Value("user")
	}
	if group != nil {
		return user, group, nil
	}
	group, err := file.FirstGroup(c.Call, user)
	return user, group, err
}

// owned tells whether the link has its owner, by name or number.
func (l *newLink) owned(c *states.Call) (bool, error) {
	fix, err := l.perms().FixOf(c.Call, l.name)
	return fix == nil, err
}

func (l *newLink) perms() file.Perms { return file.Perms{User: l.user, Group: l.group} }

// stands tells whether something is there that is no link; one that leads nowhere is nothing, unless links count.
func (l *newLink) stands() bool {
	if l.a.Follow {
		return exists(l.name)
	}
	return there(l.name)
}

// plan is what follows from what stands there.
func (l *newLink) plan(c *states.Call) (states.Plan, error) {
	p, err := l.look(c)
	if err != nil {
		return p, err
	}
	dir := pypath.Dir(l.name)
	above := isDir(dir)
	switch comment := loader.Text(p.Comment); {
	case above:
	case l.a.MakeDirs:
		p.Comment = comment + "\n" + dir + " will be created"
	default:
		p.Comment = comment + "\nDirectory " + dir + " for symlink is not present"
	}
	if above && p.Result == true {
		if !c.Test {
			p.Comment = fmt.Sprintf("Symlink %s is present and owned by %s:%s", l.name, python.Str(l.user),
				python.Str(l.group))
		}
		return p, nil
	}
	p.Apply = func() (states.Done, error) { return l.apply(c) }
	return p, nil
}

// look is what test mode tells.
func (l *newLink) look(c *states.Call) (states.Plan, error) {
	changes := payload.NewMap(0)
	if !l.isLink && !l.stands() {
		return states.Plan{Comment: fmt.Sprintf("Symlink %s to %s is set for creation", l.name, l.target),
			Changes: changes.Set("new", l.name)}, nil
	}
	if !l.isLink {
		if l.a.Force {
			return states.Plan{Comment: fmt.Sprintf("The file or directory %s is set for removal to make way for a new "+
				"symlink targeting %s", l.name, l.target)}, nil
		}
		return states.Plan{Result: false, Comment: fmt.Sprintf("File or directory exists where the symlink %s should be. "+
			"Did you mean to use force?", l.name)}, nil
	}
	now, err := os.Readlink(l.name)
	if err != nil {
		return states.Plan{}, err
	}
	if now != l.target {
		return states.Plan{Comment: fmt.Sprintf("Link %s target is set to be changed to %s", l.name, l.target),
			Changes: changes.Set("change", l.name)}, nil
	}
	comment := "The symlink " + l.name + " is present"
	owned, err := l.owned(c)
	if err != nil || owned {
		return states.Correct(comment), err
	}
	user, group, err := file.OwnersOf(l.name)
	if err != nil {
		return states.Plan{}, err
	}
	return states.Plan{Comment: fmt.Sprintf("%s, but the ownership of the symlink would be changed from %s:%s to %s:%s",
		comment, python.Str(user), python.Str(group), python.Str(l.user), python.Str(l.group)),
		Changes: changes.Set("ownership", python.Str(user)+":"+python.Str(group))}, nil
}

// apply makes the link what it should be.
func (l *newLink) apply(c *states.Call) (states.Done, error) {
	if dir := pypath.Dir(l.name); !isDir(dir) {
		if !l.a.MakeDirs {
			return states.Failed("Directory "+dir+" for symlink is not present", nil)
		}
		if err := file.MakeDirs(c.Call, l.name, l.user, l.group, l.mode); err != nil {
			return states.Done{}, err
		}
	}
	force := l.a.Force
	switch now, err := os.Readlink(l.name); {
	case err == nil && pypath.Norm(now) == pypath.Norm(l.target):
		return l.setOwner(c)
	case err == nil:
		force = true
	case l.stands():
		if wrong, err := l.makeWay(c); err != nil || wrong != "" {
			return states.Done{Result: false, Comment: wrong}, err
		}
	}
	if err := file.Symlink(l.target, l.name, force, l.a.Atomic, l.a.Follow); err != nil {
		return states.Failed(fmt.Sprintf("Unable to create new symlink %s -> %s: %s", l.name, l.target,
			loader.Message(err)), nil)
	}
	changes := payload.M("new", l.name)
	comment := fmt.Sprintf("Created new symlink %s -> %s", l.name, l.target)
	if !l.give(c) {
		return states.Failed(fmt.Sprintf("%s, but was unable to set ownership to %s:%s", comment, python.Str(l.user),
			python.Str(l.group)), changes)
	}
	return states.Changed(comment, changes)
}

// give gives the link to its owner, and tells whether it is his.
func (l *newLink) give(c *states.Call) bool {
	ret := file.NewRet()
	return l.perms().Enforce(c.Call, l.name, ret) == nil && ret.Result == true
}

// setOwner is for a link that leads where it should.
func (l *newLink) setOwner(c *states.Call) (states.Done, error) {
	whose := python.Str(l.user) + ":" + python.Str(l.group)
	switch owned, err := l.owned(c); {
	case err != nil:
		return states.Done{}, err
	case owned:
		return states.Changed("Symlink "+l.name+" is present and owned by "+whose, nil)
	case l.give(c):
		return states.Changed("Set ownership of symlink "+l.name+" to "+whose, payload.M("ownership", whose))
	}
	return states.Failed("Failed to set ownership of symlink "+l.name+" to "+whose, nil)
}

// makeWay moves what is in the way to a backup, or tells why that cannot be.
func (l *newLink) makeWay(c *states.Call) (wrong string, err error) {
	if l.a.BackupName == nil {
		if l.a.Force || l.a.Atomic {
			return "", nil
		}
		kind := "File system entry"
		if isFile(l.name) {
			kind = "File"
		} else if isDir(l.name) {
			kind = "Directory"
		}
		return kind + " exists where the symlink " + l.name + " should be", nil
	}
	backup := loader.Text(l.a.BackupName)
	if !strings.HasPrefix(backup, "/") {
		if strings.Contains(backup, "/") {
			return "Backupname must be an absolute path or a file name: " + backup, nil
		}
		backup = pypath.Join(pypath.Dir(pypath.Norm(l.name)), backup)
	}
	if there(backup) {
		if !l.a.Force {
			return fmt.Sprintf("Symlink & backup dest exists and Force not set. %s -> %s - backup: %s", l.name, l.target,
				backup), nil
		}
		if err := safefile.Remove(backup); err != nil {
			return "", err
		}
	}
	move := file.Move
	if l.a.RenameOnly {
		move = func(_ *loader.Call, from, to string) error { return safefile.Rename(from, to) }
	}
	if err := move(c.Call, l.name, backup); err != nil {
		return fmt.Sprintf("Unable to rename %s to backup %s -> : %s", l.name, backup, loader.Message(err)), nil
	}
	return "", nil
}

type hardlinkArgs struct {
	Name     any          `arg:"name"`
	Target   any          `arg:"target"`
	Force    bool         `arg:"force=False"`
	MakeDirs bool         `arg:"makedirs=False"`
	User     any          `arg:"user=None"`
	Group    any          `arg:"group=None"`
	DirMode  any          `arg:"dir_mode=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

// hardlink makes a file another name of a target.
func hardlink(c *states.Call, a hardlinkArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	target, ok := a.Target.(string)
	if !ok {
		return states.Plan{}, &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			python.Type(a.Target)}
	}
	p, err := a.plan(c, name, target)
	p.Name = name
	return withWarnings(p, useless(unknown(a.KW, "owner"))), err
}

func (a hardlinkArgs) plan(c *states.Call, name, target string) (states.Plan, error) {
	if name == "" {
		return states.Wrong("Must provide name to file.hardlink"), nil
	}
	user, group, err := ownGroup(c, ownerOf(a.User, a.KW), a.Group)
	if err != nil {
		return states.Plan{}, err
	}
	if wrong, err := preflight(c, user, group, name, target); err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	p := a.look(name, target)
	if p.Result == true {
		p.Comment = cond(c.Test, loader.Text(p.Comment), "Target of hard link "+name+" is already pointing to "+target)
		return p, nil
	}
	p.Apply = func() (states.Done, error) { return a.apply(c, name, target, user, group) }
	return p, nil
}

// look is what test mode tells.
func (a hardlinkArgs) look(name, target string) states.Plan {
	switch {
	case !exists(target):
		return states.Wrong("Target " + target + " for hard link does not exist")
	case isDir(target):
		return states.Wrong("Unable to hard link from directory " + target)
	case isDir(name):
		return states.Wrong("Unable to hard link to directory " + name)
	case !exists(name):
		return states.Plan{Comment: "Hard link " + name + " to " + target + " is set for creation",
			Changes: payload.M("new", name)}
	case sameInode(name, target):
		return states.Correct("The hard link " + name + " is presently targetting " + target)
	case hasNames(name):
		return states.Plan{Comment: "Link " + name + " target is set to be changed to " + target,
			Changes: payload.M("change", name)}
	case a.Force:
		return states.Plan{Comment: "The file or directory " + name + " is set for removal to make way for a new hard " +
			"link targeting " + target}
	}
	return states.Wrong("File or directory exists where the hard link " + name + " should be. Did you mean to use force?")
}

func (a hardlinkArgs) apply(c *states.Call, name, target string, user, group any) (states.Done, error) {
	switch {
	case isDir(name):
		return states.Failed("Unable to hard link to directory "+name, nil)
	case isDir(target):
		return states.Failed("Unable to hard link from directory "+target, nil)
	case !exists(target):
		return states.Failed("Target "+target+" for hard link does not exist", nil)
	}
	if dir := pypath.Dir(name); !isDir(dir) {
		if !a.MakeDirs {
			return states.Failed("Directory "+dir+" for hard link is not present", nil)
		}
		if err := file.MakeDirs(c.Call, name, user, group, file.NormalMode(a.DirMode)); err != nil {
			return states.Done{}, err
		}
	}
	changes := payload.NewMap(0)
	linked := hasNames(name)
	if isFile(name) && !linked {
		if !a.Force {
			return states.Failed("File exists where the hard link "+name+" should be", nil)
		}
		changes.Set("forced", "File for hard link was forcibly replaced")
	}
	what, did := "Unable to create new hard link %s -> %s: %s", "Created new hard link %s -> %s"
	if linked {
		what, did = "Unable to set target of hard link %s -> %s: %s", "Set target of hard link %s -> %s"
	}
	if err := file.Link(target, name, there(name)); err != nil {
		return states.Failed(fmt.Sprintf(what, name, target, loader.Message(err)), changes)
	}
	return states.Changed(fmt.Sprintf(did, name, target), changes.Set("new", name))
}

// hasNames tells whether a file has more names than one.
func hasNames(name string) bool {
	st, ok := lstat(name)
	return ok && st.Nlink > 1
}

func sameInode(a, b string) bool {
	x, ok1 := lstat(a)
	y, ok2 := lstat(b)
	return ok1 && ok2 && x.Ino == y.Ino && x.Dev == y.Dev
}
