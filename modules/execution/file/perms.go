package file

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// NormalMode is a mode as Salt writes it: "0644" for 644, "0o644" and "644". nil is none.
func NormalMode(v any) any {
	if v == nil {
		return nil
	}
	text := strings.ReplaceAll(python.Str(v), "0o", "0")
	text = strings.TrimLeft(strings.Trim(strings.Trim(text, `"`), "'"), "0")
	if n := 4 - len([]rune(text)); n > 0 {
		text = strings.Repeat("0", n) + text
	}
	return text
}

// Perms are the owner, the mode and the attributes that a path should have.
type Perms struct {
	User, Group any  // name or number; nil or "": as it is
	Mode        any  // as NormalMode writes it; nil: as it is
	Attrs       any  // letters of chattr; nil: as they are
	Follow      bool // a link is followed
}

// Ret is what a state function of this module collects.
type Ret struct {
	Changes  *payload.Map
	Comment  string
	Result   any
	Warnings []any
}

// NewRet has no changes yet, and succeeds.
func NewRet() *Ret { return &Ret{Changes: payload.NewMap(0), Result: true} }

// Fail ends it with a comment.
func (r *Ret) Fail(comment string) *Ret {
	r.Result, r.Comment = false, comment
	return r
}

// say adds to the comment.
func (r *Ret) say(texts ...string) {
	if r.Comment != "" {
		texts = append([]string{r.Comment}, texts...)
	}
	r.Comment = strings.Join(texts, "; ")
}

// lookup finds the number of a user or a group by its name.
type lookup = func(c *loader.Call, v any) (any, error)

// id is the number of a user or a group; known is false for a name that is not there.
func id(c *loader.Call, v any, find lookup) (n int, known bool, err error) {
	found, err := find(c, v)
	if err != nil {
		return 0, false, err
	}
	number, known := whole(found)
	return int(number), known, nil
}

// wanted tells whether a user or a group was named. Unlike Salt, for which the number 0 is nobody.
func wanted(v any) bool { return v != nil && v != "" && v != false }

// Standing is what is known of a path before it is changed.
type Standing struct {
	UID, GID int
	Mode     uint32
	Dir      bool
	Link     bool // it is a link, and was not followed
}

// standing looks at a path. Salt looks at a link itself where what it leads to is not there.
func standing(name string, follow bool) (Standing, error) {
	var st unix.Stat_t
	if !follow || unix.Stat(name, &st) != nil {
		if err := unix.Lstat(name, &st); err != nil {
			return Standing{}, loader.ExecErr("Path not found: %s", name)
		}
	}
	kind := st.Mode & unix.S_IFMT
	return Standing{int(st.Uid), int(st.Gid), st.Mode & 0o7777, kind == unix.S_IFDIR, kind == unix.S_IFLNK}, nil
}

// mode is the mode as stats tells it.
func (s Standing) mode() string { return fmt.Sprintf("%04o", s.Mode) }

// PermChanges are the differences between what stands and what should.
type PermChanges struct {
	safefile.Attrs
	User, Group, Mode bool // which of them differ
}

// Any tells whether something differs.
func (d PermChanges) Any() bool { return d.User || d.Group || d.Mode }

// Differ compares. A user or a group that is not there differs, and is left out of what can be set.
func (p Perms) Differ(c *loader.Call, s Standing) (d PermChanges, err error) {
	own := safefile.Owner{UID: -1, GID: -1}
	for _, x := range []struct {
		v      any
		find   lookup
		now    int
		differ *bool
		to     *int
	}{{p.User, userID, s.UID, &d.User, &own.UID}, {p.Group, groupID, s.GID, &d.Group, &own.GID}} {
		if !wanted(x.v) {
			continue
		}
		n, known, err := id(c, x.v, x.find)
		if err != nil {
			return d, err
		}
		*x.differ = !known || n != x.now
		if *x.differ && known {
			*x.to = n
		}
	}
	if own.UID >= 0 || own.GID >= 0 {
		d.Owner = &own
	}
	if text, ok := p.Mode.(string); ok && !s.Link && text != s.mode() {
		d.Mode = true
		if bits, ok := ModeBits(text); ok {
			d.Attrs.Mode = &bits
		}
	}
	return d, nil
}

// ModeBits reads a mode.
func ModeBits(text string) (uint32, bool) {
	bits, err := strconv.ParseUint(text, 8, 12)
	return uint32(bits), err == nil
}

// Show puts the differences into changes.
func (d PermChanges) Show(p Perms, changes *payload.Map) {
	if d.User {
		changes.Set("user", p.User)
	}
	if d.Group {
		changes.Set("group", p.Group)
	}
	if d.Mode {
		changes.Set("mode", p.Mode)
	}
}

// settle gives a path what differs, and tells in ret what came of it.
func (d PermChanges) settle(c *loader.Call, name string, p Perms, ret *Ret) error {
	if !d.Any() {
		return nil
	}
	follow := p.Follow
	if _, err := os.Stat(name); err != nil {
		follow = false
	}
	err := safefile.SetAttrs(name, d.Attrs, follow)
	if err != nil && d.Owner != nil && !errors.Is(err, safefile.ErrLink) { // the mode may be ours to change
		_ = safefile.SetAttrs(name, safefile.Attrs{Mode: d.Attrs.Mode}, follow)
	}
	if errors.Is(err, safefile.ErrLink) {
		ret.say(err.Error())
	}
	now, err := standing(name, p.Follow)
	if err != nil {
		return err
	}
	left, err := p.Differ(c, now)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		key      string
		v        any
		was, now bool
	}{{"user", p.User, d.User, left.User}, {"group", p.Group, d.Group, left.Group}, {"mode", p.Mode, d.Mode, left.Mode}} {
		switch {
		case x.now:
			ret.Result = false
			ret.say(fmt.Sprintf("Failed to change %s to %s", x.key, python.Str(x.v)))
		case x.was:
			ret.Changes.Set(x.key, x.v)
		}
	}
	return nil
}

// Check is what test mode tells of the permissions of a path; the result of ret becomes None if something differs.
func (p Perms) Check(c *loader.Call, name string, ret *Ret) (Standing, error) {
	return p.do(c, name, ret, true)
}

// Enforce gives a path its permissions, and tells in ret what has changed, and what could not be.
func (p Perms) Enforce(c *loader.Call, name string, ret *Ret) error {
	_, err := p.do(c, name, ret, false)
	return err
}

func (p Perms) do(c *loader.Call, name string, ret *Ret, test bool) (Standing, error) {
	s, err := standing(name, p.Follow)
	if err != nil {
		return s, err
	}
	d, err := p.Differ(c, s)
	if err != nil {
		return s, err
	}
	if test {
		d.Show(p, ret.Changes)
	} else if err := d.settle(c, name, p, ret); err != nil {
		return s, err
	}
	if err := p.attributes(c, name, s, ret, test); err != nil {
		return s, err
	}
	if test && ret.Changes.Len() > 0 {
		ret.Result = nil
	}
	return s, nil
}

type checkedPerms struct {
	Name    any  `arg:"name"`
	Ret     any  `arg:"ret"`
	User    any  `arg:"user"`
	Group   any  `arg:"group"`
	Mode    any  `arg:"mode"`
	Attrs   any  `arg:"attrs=None"`
	Follow  bool `arg:"follow_symlinks=False"`
	SEUser  any  `arg:"seuser=None"`
	SERole  any  `arg:"serole=None"`
	SEType  any  `arg:"setype=None"`
	SERange any  `arg:"serange=None"`
}

// noSELinux refuses labels: nothing sets them here.
func noSELinux(labels ...any) error {
	if slices.ContainsFunc(labels, python.Truth) {
		return loader.ExecErr("brine does not set SELinux labels yet (seuser, serole, setype, serange)")
	}
	return nil
}

// checkPerms changes what is not as it should be, unless the minion is in test mode.
func checkPerms(c *loader.Call, a checkedPerms) (any, error) {
	name, err := path(c, a.Name)
	if err != nil {
		return nil, err
	}
	if err := noSELinux(a.SEUser, a.SERole, a.SEType, a.SERange); err != nil {
		return nil, err
	}
	given, hasRet := a.Ret.(*payload.Map)
	hasRet = hasRet && given.Len() > 0
	ret := NewRet()
	if hasRet {
		ret.Comment, ret.Result = loader.Text(given.Value("comment")), given.Value("result")
		ret.Changes.Update(given.Map("changes"))
	}
	p := Perms{User: a.User, Group: a.Group, Mode: NormalMode(a.Mode), Attrs: a.Attrs, Follow: a.Follow}
	test := c.Opts().Value("test") == true
	was, err := p.do(c, name, ret, test)
	if err != nil {
		return nil, err
	}
	perms, err := p.told(c, was, test)
	if err != nil {
		return nil, err
	}
	if !hasRet {
		given = payload.M("name", name)
	}
	out := given.Clone().Set("changes", ret.Changes).Set("comment", ret.Comment).Set("result", ret.Result)
	if !hasRet && ret.Comment == "" {
		out.Set("comment", []any{})
	}
	return []any{out, perms}, nil
}

// told is what check_perms tells of the permissions before and after.
func (p Perms) told(c *loader.Call, s Standing, test bool) (*payload.Map, error) {
	d, err := p.Differ(c, s)
	if err != nil {
		return nil, err
	}
	perms := payload.M("luser", userName(int64(s.UID)), "lgroup", groupName(int64(s.GID)), "lmode", s.mode())
	if _, isNumber := p.User.(int64); isNumber {
		perms.Set("luser", int64(s.UID))
	}
	if _, isNumber := p.Group.(int64); isNumber {
		perms.Set("lgroup", int64(s.GID))
	}
	for _, x := range []struct {
		key    string
		v      any
		differ bool
	}{{"cuser", p.User, d.User}, {"cgroup", p.Group, d.Group}, {"cmode", p.Mode, d.Mode && !test}} {
		if x.differ {
			perms.Set(x.key, x.v)
		}
	}
	return perms, nil
}
