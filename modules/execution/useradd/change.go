package useradd

import (
	"os"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// changes are the functions that change users, but for the parts of their comments.
func changes() []loader.Func {
	return []loader.Func{
		loader.Fn("add", add, "Add a user.", "user.add name <uid> <gid> <groups> <home> <shell>"),
		loader.Fn("delete", remove, "Remove a user, with remove=True his home and mail as well.",
			"user.delete name remove=True force=True"),
		loader.Fn("rename", rename, "Give a user another name.", "user.rename name new_name"),
		loader.Fn("chuid", changeUID, "Change the number of a user.", "user.chuid foo 4376"),
		loader.Fn("chgid", changeGID, "Change the first group of a user.", "user.chgid foo 4376"),
		loader.Fn("chshell", changeShell, "Change the shell of a user.", "user.chshell foo /bin/zsh"),
		loader.Fn("chhome", changeHome, "Change the home of a user, with persist=True with all that is in it.",
			"user.chhome foo /home/users/foo True"),
		loader.Fn("chgroups", changeGroups, "Change the groups that a user is in beside his first one.",
			"user.chgroups foo wheel,root append=True"),
		loader.Fn("chloginclass", changeLoginClass, "Change nothing: a user of Linux has no login class.",
			"user.chloginclass foo staff"),
	}
}

// rooted is the option of a program for another root directory. It goes before the name of a user.
func (a under) rooted(argv []string) []string {
	if a.Root == nil {
		return argv
	}
	return append(argv, "-R", loader.Text(a.Root))
}

type added struct {
	Name string `arg:"name"`
	account
	person
	CreateHome any `arg:"createhome=True"`
	LoginClass any `arg:"loginclass=None"`
	NoLogInit  any `arg:"nologinit=False"`
	under
	UserGroup any  `arg:"usergroup=None"`
	Local     bool `arg:"local=False"`
}

type account struct {
	UID    any  `arg:"uid=None"`
	GID    any  `arg:"gid=None"`
	Groups any  `arg:"groups=None"`
	Home   any  `arg:"home=None"`
	Shell  any  `arg:"shell=None"`
	Unique bool `arg:"unique=True"`
	System bool `arg:"system=False"`
}

type person struct {
	FullName   any `arg:"fullname=''"`
	RoomNumber any `arg:"roomnumber=''"`
	WorkPhone  any `arg:"workphone=''"`
	HomePhone  any `arg:"homephone=''"`
	Other      any `arg:"other=''"`
}

// add runs useradd, and gives the user groups and a comment then, whose failure it does not tell, as in Salt.
func add(c *loader.Call, a added) (bool, error) {
	argv, err := a.command(c)
	if err != nil {
		return false, err
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil || out.Code != 0 {
		return false, err
	}
	if python.Truth(a.Groups) {
		if _, err := changeGroups(c, inGroups{Name: a.Name, Groups: a.Groups, under: a.under}); err != nil {
			return false, err
		}
	}
	for i, v := range []any{a.FullName, a.RoomNumber, a.WorkPhone, a.HomePhone, a.Other} {
		if !python.Truth(v) {
			continue
		}
		if _, err := changeComment(c, a.Name, i, v, a.under); err != nil {
			return false, err
		}
	}
	return true, nil
}

// command is the command line of useradd, or of luseradd for a user of the local files.
func (a added) command(c *loader.Call) ([]string, error) {
	if err := cmdmod.Operand(a.Name); err != nil { // unlike Salt, where it is an option
		return nil, err
	}
	name := "useradd"
	if a.Local {
		name = "luseradd"
	}
	path, err := cmdmod.Found(c, name)
	if err != nil {
		return nil, err
	}
	argv := []string{path}
	if python.Truth(a.Shell) {
		argv = append(argv, "-s", loader.Text(a.Shell))
	}
	if a.UID != nil && a.UID != "" {
		argv = append(argv, "-u", loader.Text(a.UID))
	}
	if argv, err = a.group(c, argv); err != nil {
		return nil, err
	}
	switch {
	case !python.Truth(a.CreateHome):
		argv = append(argv, "-M")
	case !a.Local:
		argv = append(argv, "-m")
	}
	if python.Truth(a.NoLogInit) {
		argv = append(argv, "-l")
	}
	if a.Home != nil {
		argv = append(argv, "-d", loader.Text(a.Home))
	}
	if !a.Unique {
		argv = append(argv, "-o")
	}
	if a.System {
		argv = append(argv, "-r")
	}
	if !a.Local {
		argv = a.rooted(argv)
	}
	return append(argv, a.Name), nil
}

// group adds the options that say what the first group of the user is.
func (a added) group(c *loader.Call, argv []string) ([]string, error) {
	switch {
	case a.GID != nil && a.GID != "":
		argv = append(argv, "-g", loader.Text(a.GID))
	case python.Truth(a.UserGroup):
		if !a.Local {
			argv = append(argv, "-U")
		}
	case slices.Contains(groupNames(a.Groups), a.Name) && groupsOfUsers():
		gid, err := c.Call("file.group_to_gid", []any{a.Name}, nil)
		if err != nil {
			return nil, err
		}
		argv = append(argv, "-g", loader.Text(gid))
	}
	if a.UserGroup == false {
		argv = append(argv, map[bool]string{true: "-n", false: "-N"}[a.Local])
	}
	return argv, nil
}

// groupsOfUsers tells whether useradd makes a group for each user on this host.
func groupsOfUsers() bool {
	text, _ := os.ReadFile("/etc/login.defs") // a host without the file has no such rule
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line[:min(len(line), len("USERGROUPS_ENAB"))], "USERGROUPS_ENAB") {
			return strings.Contains(line, "yes")
		}
	}
	return false
}

// groupNames are names in a list, or in a text with commas.
func groupNames(v any) []string {
	if text, ok := v.(string); ok {
		return strings.Split(text, ",")
	}
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = loader.Text(item)
	}
	return out
}

type removed struct {
	Name   string `arg:"name"`
	Remove bool   `arg:"remove=False"`
	Force  bool   `arg:"force=False"`
	under
	Local bool `arg:"local=False"`
}

// noMail is the exit code of userdel for a user whose home or mail it cannot remove.
const noMail = 12

func remove(c *loader.Call, a removed) (bool, error) {
	if err := cmdmod.Operand(a.Name); err != nil {
		return false, err
	}
	name := "userdel"
	if a.Local {
		name = "luserdel"
	}
	path, err := cmdmod.Found(c, name)
	if err != nil {
		return false, err
	}
	argv := []string{path}
	if a.Remove {
		argv = append(argv, "-r")
	}
	if a.Force && !a.Local {
		argv = append(argv, "-f")
	}
	if !a.Local {
		argv = a.rooted(argv)
	}
	out, err := cmdmod.RunAll(c, append(argv, a.Name), nil)
	if err != nil || out.Code == 0 {
		return err == nil, err
	}
	family, _ := c.Grain("os_family")
	return out.Code == noMail && family == "Debian" && (strings.Contains(out.Stderr, "var/mail") ||
		strings.Contains(out.Stderr, "var/spool/mail")), nil
}

// change sets one attribute of a user by usermod, and tells whether it has the value then.
func change(c *loader.Call, root under, name, key string, v any, more ...string) (bool, error) {
	before, err := look(c, name, root)
	if err != nil {
		return false, err
	}
	if before.Len() == 0 {
		return false, loader.ExecErr("User '%s' does not exist", name)
	}
	if payload.Equal(before.Value(key), v) {
		return true, nil
	}
	argv, err := usermod(c, name, root)
	if err != nil {
		return false, err
	}
	if _, err := cmdmod.Run(c, append(append(argv, more...), loader.Text(v), name), nil); err != nil {
		return false, err
	}
	after, err := look(c, name, root)
	return err == nil && payload.Equal(after.Value(key), v), err
}

// usermod is the beginning of its command line, for a user that it does not take for an option.
func usermod(c *loader.Call, name string, root under) ([]string, error) {
	if err := cmdmod.Operand(name); err != nil {
		return nil, err
	}
	path, err := cmdmod.Found(c, "usermod")
	if err != nil {
		return nil, err
	}
	return root.rooted([]string{path}), nil
}

func look(c *loader.Call, name string, root under) (*payload.Map, error) {
	return info(c, namedUnder{named{name}, root})
}

type (
	newUID struct {
		Name string `arg:"name"`
		UID  any    `arg:"uid"`
		under
	}
	newGID struct {
		Name string `arg:"name"`
		GID  any    `arg:"gid"`
		under
	}
	newShell struct {
		Name  string `arg:"name"`
		Shell any    `arg:"shell"`
		under
	}
	newHome struct {
		Name    string `arg:"name"`
		Home    any    `arg:"home"`
		Persist bool   `arg:"persist=False"`
		under
	}
	newName struct {
		Name    string `arg:"name"`
		NewName string `arg:"new_name"`
		under
	}
)

func changeUID(c *loader.Call, a newUID) (bool, error) {
	return change(c, a.under, a.Name, "uid", a.UID, "-u")
}

func changeGID(c *loader.Call, a newGID) (bool, error) {
	return change(c, a.under, a.Name, "gid", a.GID, "-g")
}

func changeShell(c *loader.Call, a newShell) (bool, error) {
	return change(c, a.under, a.Name, "shell", a.Shell, "-s")
}

func changeHome(c *loader.Call, a newHome) (bool, error) {
	if a.Persist {
		return change(c, a.under, a.Name, "home", a.Home, "-m", "-d")
	}
	return change(c, a.under, a.Name, "home", a.Home, "-d")
}

func rename(c *loader.Call, a newName) (bool, error) {
	taken, err := look(c, a.NewName, a.under)
	if err != nil {
		return false, err
	}
	if taken.Len() > 0 {
		return false, loader.ExecErr("User '%s' already exists", a.NewName)
	}
	return change(c, a.under, a.Name, "name", a.NewName, "-l")
}

type inGroups struct {
	Name   string `arg:"name"`
	Groups any    `arg:"groups"`
	Append bool   `arg:"append=False"`
	under
}

// changeGroups runs usermod, or gpasswd for each group that usermod does not find in the local files.
func changeGroups(c *loader.Call, a inGroups) (bool, error) {
	groups := groupNames(a.Groups)
	now, err := accounts.GroupsOf(c.Ctx, a.Name)
	if err != nil {
		return false, err
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(groups)))
	if slices.Equal(now, wanted) {
		return true, nil
	}
	argv, err := usermod(c, a.Name, a.under)
	if err != nil {
		return false, err
	}
	if a.Append {
		argv = append(argv, "-a")
	}
	out, err := cmdmod.RunAll(c, append(argv, "-G", strings.Join(groups, ","), a.Name), nil)
	if err != nil || out.Code == 0 || !strings.Contains(out.Stderr, "not found in") {
		return err == nil && out.Code == 0, err
	}
	all := true
	for _, group := range groups {
		if err := cmdmod.Operand(group); err != nil {
			return false, err
		}
		done, err := cmdmod.Succeeds(c, "gpasswd", "-a", a.Name, group)
		if err != nil {
			return false, err
		}
		all = all && done
	}
	return all, nil
}

type (
	ofClass struct {
		Name any `arg:"name"`
	}
	newClass struct {
		Name       any `arg:"name"`
		LoginClass any `arg:"loginclass"`
		under
	}
)

func noLoginClass(*loader.Call, ofClass) (bool, error)      { return false, nil }
func changeLoginClass(*loader.Call, newClass) (bool, error) { return false, nil }
