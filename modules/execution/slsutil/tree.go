package slsutil

import (
	"path"
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
)

// inTree are the functions that look into the file server's tree of an environment.
func inTree() []loader.Func {
	return []loader.Func{
		loader.Fn("file_exists", is(listFiles), "Tell whether the file server has a file.",
			"slsutil.file_exists nginx/defaults.yaml"),
		loader.Fn("dir_exists", is(listDirs), "Tell whether the file server has a directory.",
			"slsutil.dir_exists nginx/files"),
		loader.Fn("path_exists", is(listFiles, listDirs), "Tell whether the file server has a file or a directory.",
			"slsutil.path_exists nginx/defaults.yaml"),
		loader.Fn("findup", findUp,
			"Find one of some names in a directory of the file server or the nearest one above it.",
			"slsutil.findup formulas/shared/nginx map.jinja"),
	}
}

// place is a path in an environment.
type place struct {
	Path    any `arg:"path"`
	Saltenv any `arg:"saltenv=base"`
}

func is(kinds ...string) func(*loader.Call, place) (bool, error) {
	return func(c *loader.Call, a place) (bool, error) {
		return inLists(c, python.Str(a.Path), python.Str(a.Saltenv), kinds...)
	}
}

// Functions that list what the file server has.
const (
	listFiles = "cp.list_master"
	listDirs  = "cp.list_master_dirs"
)

// inLists says whether one of the lists of an environment has a path.
func inLists(c *loader.Call, name, env string, kinds ...string) (bool, error) {
	for _, kind := range kinds {
		names, err := listOf(c, kind, env)
		if err != nil {
			return false, err
		}
		if _, found := names[name]; found {
			return true, nil
		}
	}
	return false, nil
}

// listOf is a list of the file server as a set. As with Salt it is asked for once in a job: a formula looks for many
// files.
func listOf(c *loader.Call, kind, env string) (map[string]struct{}, error) {
	key := strings.Join([]string{c.JID, kind, env}, "\n")
	if v, ok := c.Context().Get(key); ok && c.JID != "" {
		return v.(map[string]struct{}), nil
	}
	v, err := c.Call(kind, []any{env}, nil)
	if err != nil {
		return nil, err
	}
	names, size := map[string]struct{}{}, 0
	for _, name := range loader.StringList(v) {
		names[name] = struct{}{}
		size += len(name) + 32
	}
	if c.JID != "" {
		c.Context().Put(key, names, size)
	}
	return names, nil
}

// upwards is where a search begins, and for what.
type upwards struct {
	Start   any `arg:"startpath"`
	Names   any `arg:"filenames"`
	Saltenv any `arg:"saltenv=base"`
}

// findUp is slsutil.findup.
func findUp(c *loader.Call, a upwards) (any, error) {
	start, env := "", python.Str(a.Saltenv)
	if v := a.Start; python.Truth(v) {
		start = path.Clean(python.Str(v))
		there, err := inLists(c, start, env, listFiles, listDirs)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, loader.InvocErr("Starting path not found in the state tree: %s", start)
		}
	}
	names, ok := a.Names.([]any)
	if name, isText := a.Names.(string); isText {
		names, ok = []any{name}, true
	}
	if !ok {
		return nil, loader.InvocErr("Filenames argument must be a string or list of strings")
	}
	for dir := start; ; dir = strings.TrimSuffix(dir[:strings.LastIndexByte(dir, '/')+1], "/") {
		for _, name := range names {
			full := path.Join(dir, python.Str(name))
			if there, err := inLists(c, full, env, listFiles, listDirs); err != nil || there {
				return full, err
			}
		}
		if dir == "" {
			return nil, loader.ExecErr("File pattern(s) not found in path ancestry")
		}
	}
}
