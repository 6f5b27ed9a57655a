package user

import (
	"os"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// difference is what has to change for a user to be as wanted; nil: there is no such user. gid is the first group that
// is wanted, groups the others.
func difference(c *states.Call, a *wanted, gid any, groups []any) (*payload.Map, error) {
	line, err := look(c, "shadow.info", a.Name, false)
	if err != nil {
		return nil, err
	}
	user, err := look(c, "user.info", a.Name, a.Local)
	if err != nil || user.Len() == 0 {
		return nil, err
	}
	out := payload.NewMap(0)
	if python.Truth(a.UID) && !payload.Equal(user.Value("uid"), a.UID) {
		out.Set("uid", a.UID)
	}
	g := grouping{c: c, a: a, user: user, gid: gid, wanted: groups}
	if err := g.compare(out); err != nil {
		return nil, err
	}
	a.compareHome(user, out)
	if python.Truth(a.Shell) && !payload.Equal(user.Value("shell"), a.Shell) {
		out.Set("shell", a.Shell)
	}
	if err := a.comparePassword(c, line, out); err != nil {
		return nil, err
	}
	for _, part := range a.described() {
		if *part.value != nil && *part.value != user.Value(part.key) {
			out.Set(part.key, *part.value)
		}
	}
	return out, nil
}

// forbidden tells which of the changes must be allowed first.
func (a *wanted) forbidden(c *states.Call, changes *payload.Map, gid any) (string, error) {
	user, err := look(c, "user.info", a.Name, a.Local)
	if err != nil {
		return "", err
	}
	var out []string
	for _, id := range []struct {
		key     string
		to      any
		allowed bool
	}{{"uid", a.UID, a.AllowUIDChange}, {"gid", gid, a.AllowGIDChange}} {
		if !id.allowed && changes.Has(id.key) {
			out = append(out, "\n- Changing "+id.key+" ("+python.Str(user.Value(id.key))+" -> "+python.Str(id.to)+
				") not permitted, set allow_"+id.key+"_change to True to force this change. Note that this will not "+
				"change file ownership.")
		}
	}
	if out == nil {
		return "", nil
	}
	return "Encountered error checking for needed changes. Additional info follows:\n" + strings.Join(out, ""), nil
}

func (a *wanted) compareHome(user, out *payload.Map) {
	home := user.Value("home")
	if python.Truth(a.Home) {
		if home != a.Home {
			out.Set("home", a.Home)
		}
		home = a.Home
	}
	if a.CreateHome && !isDir(python.Str(home)) {
		out.Set("homeDoesNotExist", home)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// comparePassword compares with the user's line of /etc/shadow.
func (a *wanted) comparePassword(c *states.Call, line, out *payload.Map) error {
	hash := python.Str(line.Value("passwd"))
	if python.Truth(a.Password) && !a.EmptyPassword {
		none, err := c.Salt("shadow.default_hash", nil)
		if err != nil {
			return err
		}
		if (hash == none || a.EnforcePassword) && hash != a.Password {
			out.Set("passwd", a.Password)
		}
	}
	if a.EmptyPassword && hash != "" {
		out.Set("empty_password", true)
	}
	for _, age := range a.aged() {
		if age.value != nil && !payload.Equal(line.Value(age.field), age.value) &&
			(age.field != "expire" || python.Truth(age.value)) {
			out.Set(age.key, age.value)
		}
	}
	locked := strings.HasPrefix(hash, "!")
	if python.Truth(a.PasswordLock) && !locked || a.PasswordLock == false && locked {
		out.Set("password_lock", a.PasswordLock)
	}
	return nil
}

// age is an argument that says how long something may be used: its name, its field of /etc/shadow, what it is called in
// a complaint, and its value.
type age struct {
	key, field, told string
	value            any
}

func (a *wanted) aged() []age {
	return []age{{"date", "lstchg", "last change date", a.Date}, {"mindays", "min", "minimum days", a.MinDays},
		{"maxdays", "max", "maximum days", a.MaxDays}, {"inactdays", "inact", "inactive days", a.InactDays},
		{"warndays", "warn", "warn days", a.WarnDays}, {"expire", "expire", "expire days", a.Expire}}
}

// grouping compares the groups of a user with those that are wanted. One number may have several names.
type grouping struct {
	c      *states.Call
	a      *wanted
	user   *payload.Map
	gid    any
	wanted []any

	has, want []string
	twins     map[string][]string // names of groups of the user that have one number, by each of them
}

func (g *grouping) compare(out *payload.Map) error {
	g.has = payload.Texts(g.user.Value("groups"))
	g.want = payload.Texts(g.wanted)
	if !g.a.RemoveGroups || g.wanted == nil {
		g.want = append(g.want, g.has...)
	}
	slices.Sort(g.want)
	g.want = slices.Compact(g.want)
	if err := g.findTwins(); err != nil {
		return err
	}
	if err := g.compareFirst(out); err != nil {
		return err
	}
	changes, err := g.change()
	if err == nil && changes && (len(g.want) > 0 || g.a.RemoveGroups) {
		out.Set("groups", payload.AnyList(g.want))
	}
	return err
}

func (g *grouping) findTwins() error {
	byID := map[any][]string{}
	for _, name := range g.has {
		id, err := g.c.Salt("file.group_to_gid", nil, name)
		if err != nil {
			return err
		}
		byID[id] = append(byID[id], name)
	}
	g.twins = map[string][]string{}
	for _, names := range byID {
		for _, name := range names {
			g.twins[name] = names
		}
	}
	return nil
}

// compareFirst compares the first group, and leaves it out of the others.
func (g *grouping) compareFirst(out *payload.Map) error {
	now, wanted := g.user.Value("gid"), g.user.Value("gid")
	if g.gid != nil {
		wanted = g.gid
		number, err := g.c.Salt("file.group_to_gid", nil, g.gid)
		if err != nil {
			return err
		}
		if !payload.Equal(now, g.gid) && !payload.Equal(now, number) {
			out.Set("gid", g.gid)
		}
	}
	first, err := g.groupName(wanted)
	if err != nil {
		return err
	}
	old, err := g.groupName(now)
	if err != nil {
		return err
	}
	for _, name := range g.namesOf(first) {
		g.has, g.want = without(g.has, name), without(g.want, name)
	}
	if old != first {
		for _, name := range g.namesOf(old) {
			g.has = without(g.has, name)
		}
	}
	if !slices.Contains(g.want, g.a.Name) {
		for _, name := range g.namesOf(g.a.Name) {
			g.has = without(g.has, name)
		}
	}
	return nil
}

func (g *grouping) groupName(gid any) (string, error) {
	v, err := g.c.Salt("file.gid_to_group", nil, gid)
	return loader.Text(v), err
}

// namesOf are a name and the others of the same number.
func (g *grouping) namesOf(name string) []string {
	if twins := g.twins[name]; len(twins) > 1 {
		return twins
	}
	return []string{name}
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// change tells whether groups differ by more than names for one number.
func (g *grouping) change() (bool, error) {
	differ := func(from, in []string) (out []string) {
		for _, name := range from {
			if !slices.Contains(in, name) {
				out = append(out, name)
			}
		}
		return out
	}
	rest := differ(g.want, g.has)
	if g.a.RemoveGroups {
		rest = append(rest, differ(g.has, g.want)...)
	}
	if len(rest) == 0 {
		return false, nil
	}
	count := map[any]int{}
	ids := map[string]any{}
	all := slices.Concat(g.has, g.want)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		info, err := look(g.c, "group.info", name, false)
		if err != nil {
			return false, err
		}
		ids[name] = info.Value("gid")
		count[ids[name]]++
	}
	return slices.ContainsFunc(rest, func(name string) bool { return count[ids[name]] == 1 }), nil
}
