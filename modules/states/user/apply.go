package user

import (
	"path/filepath"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// add makes the user.
func (a *wanted) add(c *states.Call, optional any) (states.Done, error) {
	kw := payload.M("uid", a.UID, "gid", a.GID, "groups", a.Groups, "home", a.Home, "shell", a.Shell,
		"unique", a.Unique, "system", a.System, "createhome", a.CreateHome, "nologinit", a.NoLogInit,
		"loginclass", a.LoginClass, "local", a.Local, "usergroup", a.UserGroup)
	if groups := a.others(optional); groups != nil {
		kw.Set("groups", groups)
	}
	for _, part := range a.described() {
		kw.Set(part.key, *part.value)
	}
	done, err := c.Salt("user.add", kw, a.Name)
	if err != nil {
		return states.Done{}, err
	}
	if text, ok := done.(string); ok {
		return states.Failed(text, nil)
	}
	if done != true {
		return states.Failed("Failed to create new user "+a.Name, nil)
	}
	user, err := look(c, "user.info", a.Name, a.Local)
	if err != nil {
		return states.Done{}, err
	}
	made := made{c, a, states.Done{Result: true, Comment: "New user " + a.Name + " created", Changes: user.Clone()}}
	if !a.CreateHome {
		made.done.Changes.Set("home", "")
	}
	err = made.secret()
	return made.done, err
}

// made is a new user who gets what useradd does not give him.
type made struct {
	c    *states.Call
	a    *wanted
	done states.Done
}

// set calls a function of shadow, looks whether that helped, and shows the change.
func (m *made) set(fun string, args []any, field string, want any, complaint, key string, shown any) error {
	if _, err := m.c.Salt("shadow."+fun, nil, append([]any{m.a.Name}, args...)...); err != nil {
		return err
	}
	line, err := look(m.c, "shadow.info", m.a.Name, false)
	if err != nil {
		return err
	}
	if !payload.Equal(line.Value(field), want) {
		m.done.Comment = "User " + m.a.Name + " created but failed to " + complaint
		m.done.Result = false
	}
	m.done.Changes.Set(key, shown)
	return nil
}

// secret sets password and ages.
func (m *made) secret() error {
	password := python.Truth(m.a.Password)
	if password && !m.a.EmptyPassword {
		if err := m.set("set_password", []any{m.a.Password}, "passwd", m.a.Password, "set password to "+redacted,
			"password", redacted); err != nil {
			return err
		}
	}
	if m.a.EmptyPassword && !password {
		if err := m.set("del_password", nil, "passwd", "", "empty password", "password", ""); err != nil {
			return err
		}
	}
	for _, age := range m.a.aged() {
		if age.key == "date" && age.value == nil || age.key != "date" && !python.Truth(age.value) {
			continue
		}
		if err := m.set("set_"+age.key, []any{age.value}, age.field, age.value,
			"set "+age.told+" to "+python.Str(age.value), age.key, age.value); err != nil {
			return err
		}
	}
	return nil
}

// change makes the changes, and tells what became of them.
func (a *wanted) change(c *states.Call, changes *payload.Map, optional any) (states.Done, error) {
	line, err := look(c, "shadow.info", a.Name, false)
	if err != nil {
		return states.Done{}, err
	}
	user, err := look(c, "user.info", a.Name, a.Local)
	if err != nil {
		return states.Done{}, err
	}
	if err := a.perform(c, changes, user); err != nil {
		return states.Done{}, err
	}
	done := states.Done{Result: true, Comment: "User " + a.Name + " is present and up to date"}
	if done.Changes, err = a.changed(c, user, line); err != nil {
		return done, err
	}
	if done.Changes.Len() > 0 {
		done.Comment = "Updated user " + a.Name
	}
	left, err := difference(c, a, a.GID, a.others(optional))
	if err != nil {
		return done, err
	}
	if left.Len() > 0 {
		if left.Has("passwd") { // unlike Salt, which shows it
			left.Set("passwd", redacted)
		}
		done.Comment, done.Result = "These values could not be changed: "+python.Repr(left), false
	}
	return done, nil
}

// perform calls the functions that make the changes, in Salt's order.
func (a *wanted) perform(c *states.Call, changes, user *payload.Map) error {
	call := func(fun string, args ...any) error {
		_, err := c.Salt(fun, nil, append([]any{a.Name}, args...)...)
		return err
	}
	if err := a.performSecret(changes, call); err != nil {
		return err
	}
	if err := a.performHome(c, changes, user); err != nil {
		return err
	}
	for _, age := range a.aged()[1:] {
		if changes.Has(age.key) {
			if err := call("shadow.set_"+age.key, age.value); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"uid", "gid", "shell", "fullname", "roomnumber", "workphone", "homephone", "other"} {
		if v, ok := changes.Get(key); ok && c.Has("user.ch"+key) {
			if err := call("user.ch"+key, v); err != nil {
				return err
			}
		}
	}
	if groups, ok := changes.Get("groups"); ok {
		return call("user.chgroups", groups, !a.RemoveGroups)
	}
	return nil
}

// performSecret changes the password and the day of its change.
func (a *wanted) performSecret(changes *payload.Map, call func(fun string, args ...any) error) error {
	if changes.Has("passwd") {
		if err := call("shadow.set_password", a.Password); err != nil {
			return err
		}
	}
	if changes.Has("empty_password") {
		if err := call("shadow.del_password"); err != nil {
			return err
		}
	}
	if v, ok := changes.Get("password_lock"); ok {
		fun := "shadow.unlock_password"
		if python.Truth(v) {
			fun = "shadow.lock_password"
		}
		if err := call(fun); err != nil {
			return err
		}
	}
	if changes.Has("date") {
		return call("shadow.set_date", a.Date)
	}
	return nil
}

// performHome changes the home, and makes one that is missing.
func (a *wanted) performHome(c *states.Call, changes, user *payload.Map) error {
	home, missing := changes.Get("homeDoesNotExist")
	if !missing {
		if home = changes.Value("home"); home == nil {
			return nil
		}
	}
	if _, err := c.Salt("user.chhome", payload.M("persist", a.PersistHome), a.Name, home); err != nil {
		return err
	}
	if path := python.Str(home); missing && !isDir(path) {
		return makeHome(path, user)
	}
	return nil
}

// makeHome makes a directory, and those above it that are missing, for a user.
func makeHome(path string, user *payload.Map) error {
	if !filepath.IsAbs(path) {
		return loader.ExecErr("The home %s is no absolute path", path)
	}
	var missing []string
	for at := filepath.Clean(path); !isDir(at); at = filepath.Dir(at) {
		missing = append([]string{at}, missing...)
	}
	uid, _ := user.Value("uid").(int64)
	gid, _ := user.Value("gid").(int64)
	mode := uint32(0o755)
	for _, at := range missing {
		err := safefile.Mkdir(at, safefile.Attrs{Owner: &safefile.Owner{UID: int(uid), GID: int(gid)}, Mode: &mode})
		if err != nil {
			return loader.ExecErr("The home cannot be made: %s", loader.Message(err))
		}
	}
	return nil
}

// changed are the differences between what a user was and what he is.
func (a *wanted) changed(c *states.Call, user, line *payload.Map) (*payload.Map, error) {
	out := payload.NewMap(0)
	after, err := look(c, "user.info", a.Name, a.Local)
	if err != nil {
		return nil, err
	}
	for key, v := range after.All() {
		if !payload.Equal(v, user.Value(key)) {
			out.Set(key, v)
		}
	}
	if line.Value("passwd") == a.Password {
		return out, nil // as in Salt, where ages that changed are not shown then
	}
	after, err = look(c, "shadow.info", a.Name, false)
	if err != nil {
		return nil, err
	}
	for key, v := range after.All() {
		if payload.Equal(v, line.Value(key)) {
			continue
		}
		if key == "passwd" {
			v = redacted
		}
		out.Set(key, v)
	}
	return out, nil
}
