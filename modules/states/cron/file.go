package cron

import (
	"os"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type tableFile struct {
	Name           string       `arg:"name"`
	SourceHash     any          `arg:"source_hash=''"`
	SourceHashName any          `arg:"source_hash_name=None"`
	User           string       `arg:"user=root"`
	Template       any          `arg:"template=None"`
	Context        any          `arg:"context=None"`
	Replace        bool         `arg:"replace=True"`
	Defaults       any          `arg:"defaults=None"`
	Backup         any          `arg:"backup=''"`
	KW             *payload.Map `arg:"**kwargs"`
}

// mode is that of the file in which the table is made.
const mode = "0600"

// file plans that the table of a user is a file. It is made in a file of root's, as file.managed makes one.
func file(c *states.Call, a tableFile) (states.Plan, error) {
	group, err := groupOf(c, a.User)
	if err != nil {
		return states.Plan{}, err
	}
	if group == nil {
		return states.Wrong("Could not identify group for user " + a.User), nil
	}
	v, err := c.Salt("cron.raw_cron", nil, a.User)
	if err != nil {
		return states.Plan{}, err
	}
	now := python.Str(v)
	if !a.Replace { // the table that Salt looks at has one empty line at least
		return states.Correct("User " + a.User + " already has a crontab. No changes made"), nil
	}
	if c.Test {
		return a.check(c, now, group)
	}
	return states.Plan{Apply: func() (states.Done, error) { return a.manage(c, now, group) }}, nil
}

// groupOf is the first group of a user by name; nil where nobody knows.
func groupOf(c *states.Call, user string) (any, error) {
	v, err := c.Salt("user.info", nil, user)
	info, _ := v.(*payload.Map)
	if groups := info.List("groups"); len(groups) > 0 {
		return groups[0], err
	}
	return nil, err
}

// temporary is a file with the table as it is. remove takes it away.
func temporary(now string) (path string, remove func(), err error) {
	if now == "" || now[len(now)-1] != '\n' {
		now += "\n"
	}
	f, err := os.CreateTemp("", "__salt.tmp.")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) } // nothing is left to do about it
	_, err = f.WriteString(now)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		remove()
	}
	return f.Name(), remove, err
}

// common are the arguments that the functions of file have in common.
func (a tableFile) common(c *states.Call, path string, source, hash, group any) *payload.Map {
	kw := payload.M("name", path, "source", source, "source_hash", hash, "source_hash_name", a.SourceHashName,
		"user", a.User, "group", group, "mode", mode, "attrs", nil, "template", a.Template, "context", a.Context,
		"defaults", a.Defaults, "saltenv", c.Saltenv)
	kw.Update(a.KW)
	return kw
}

// check is the plan that test mode shows: what file.check_managed says.
func (a tableFile) check(c *states.Call, now string, group any) (states.Plan, error) {
	path, remove, err := temporary(now)
	if err != nil {
		return states.Plan{}, err
	}
	defer remove()
	v, err := c.Salt("file.check_managed", a.common(c, path, a.Name, a.SourceHash, group))
	list, _ := v.([]any)
	if err != nil || len(list) != 2 {
		return states.Plan{}, err
	}
	return states.Plan{Result: list[0], Comment: list[1]}, nil
}

// manage makes the table, and installs it where it differs.
func (a tableFile) manage(c *states.Call, now string, group any) (states.Done, error) {
	path, remove, err := temporary(now)
	if err != nil {
		return states.Done{}, err
	}
	defer remove()
	found, err := c.Salt("file.source_list", nil, a.Name, a.SourceHash, c.Saltenv)
	if err != nil {
		return states.Done{}, err
	}
	sources, _ := found.([]any)
	if len(sources) != 2 {
		return states.Done{}, loader.ExecErr("file.source_list gave no source")
	}
	kw := a.common(c, path, sources[0], sources[1], group).Set("skip_verify", false)
	got, err := c.Salt("file.get_managed", kw)
	parts, _ := got.([]any)
	if err != nil || len(parts) != 3 {
		return states.Failed("Unable to manage file: "+loader.Message(err), nil)
	}
	if python.Truth(parts[2]) {
		return states.Failed(parts[2], nil)
	}
	ret := payload.M("changes", payload.NewMap(0), "comment", "", "name", a.Name, "result", true)
	made, err := c.Salt("file.manage_file", payload.M("name", path, "sfn", parts[0], "ret", ret, "source", sources[0],
		"source_sum", parts[1], "user", a.User, "group", group, "mode", mode, "attrs", nil, "saltenv", c.Saltenv,
		"backup", a.Backup))
	if err != nil {
		return states.Failed("Unable to manage file: "+loader.Message(err), nil)
	}
	return a.install(c, path, made)
}

// install installs the table, if the file has changed.
func (a tableFile) install(c *states.Call, path string, made any) (states.Done, error) {
	ret, _ := made.(*payload.Map)
	changes := ret.Map("changes")
	switch {
	case changes.Has("diff"):
	case python.Truth(ret.Value("result")):
		return states.Changed("Crontab for user "+a.User+" is in the correct state", nil)
	default:
		return states.Done{Result: ret.Value("result"), Comment: ret.Value("comment"), Changes: changes}, nil
	}
	v, err := c.Salt("cron.write_cron_file_verbose", nil, a.User, path)
	if err != nil {
		return states.Done{}, err
	}
	out, _ := v.(*payload.Map)
	if !payload.Equal(out.Value("retcode"), int64(0)) {
		return states.Failed("Unable to update user "+a.User+" crontab "+path+". Error: "+
			python.Str(out.Value("stderr")), nil)
	}
	return states.Changed("Crontab for user "+a.User+" was updated", changes)
}
