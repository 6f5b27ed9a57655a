// Package file holds those execution functions of the module file that look at files, and few simple ones that
// change them: what templates call. It answers to salt/modules/file.py and salt/utils/find.py.
//
// Unlike Salt: only plain files are read, so that a pipe or a device holds up no job, and no more of one than of the
// output of a program (program.MaxOutput).
package file

import (
	"slices"

	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/python"
)

// Module is the module file.
func Module() loader.Module {
	return loader.Module{File: "file", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(names(), kinds(), devices(), facts(), owners(), contents(), searches(), finders(),
			writers(), attributes(), differs(), sources(), templates(), makers(), movers(), changers(), backups(), managers())
	}}
}

// location is a path as a template gives it.
type location struct {
	Path any `arg:"path"`
}

// raw is an argument that is a path, as it was given. The error is Python's of os.fspath.
func raw(v any) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case []byte:
		return string(x), nil
	}
	return "", &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " + python.Type(v)}
}

// path is an argument that is a path, with the home directory in the place of ~.
func path(c *loader.Call, v any) (string, error) {
	text, err := raw(v)
	if err != nil {
		return "", err
	}
	return pypath.ExpandUser(text, func(name string) string { return homeOf(c, name) }), nil
}

// homeOf goes by the job's HOME for the own user.
func homeOf(c *loader.Call, name string) string {
	if home, ok := environ.Of(c.Ctx).Get("HOME"); ok && name == "" {
		return home
	}
	return program.Home(name)
}

// absolute is a path that must begin with a slash.
func absolute(c *loader.Call, v any, otherwise string) (string, error) {
	name, err := path(c, v)
	if err == nil && (name == "" || name[0] != '/') {
		err = loader.InvocErr("%s", otherwise)
	}
	return name, err
}
