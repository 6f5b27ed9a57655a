package wheel

import (
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// roots are the functions for the files of one option: file_roots or pillar_roots.
type roots struct {
	option  string
	invalid func(path string) string // what write answers to a path that leads out
}

// FileRoots are the functions of the module file_roots: they look at the files below the option of that name, and write
// them. They answer to salt/wheel/file_roots.py.
//
// Unlike Salt: no path of pillar_roots.find and read leads out either, and no link whatever is exchanged meanwhile; a
// file is there whole or not at all.
func FileRoots() []loader.Func {
	return roots{option: "file_roots", invalid: func(path string) string { return "Invalid path: " + path }}.funcs()
}

// PillarRoots are the functions of the module pillar_roots, as FileRoots are. They answer to
// salt/wheel/pillar_roots.py.
func PillarRoots() []loader.Func {
	return roots{option: "pillar_roots", invalid: func(string) string { return "Invalid path" }}.funcs()
}

func (r roots) funcs() []loader.Func {
	return []loader.Func{
		loader.Fn("find", r.find,
			"Tell in which directories of an environment a file is, and whether it is text or binary."),
		loader.Fn("list_env", r.listEnv, "List the files in the directories of an environment, as a tree."),
		loader.Fn("list_roots", r.listRoots, "List the files of all environments, as a tree."),
		loader.Fn("read", r.read, "Show a file of text, as it is in each directory of an environment."),
		loader.Fn("write", r.write,
			"Write a file into a directory of an environment, the first unless index names another one."),
	}
}

// environment is the argument saltenv.
type environment struct {
	Saltenv string `arg:"saltenv=base"`
}

// wanted is a file of an environment.
type wanted struct {
	Path string `arg:"path"`
	environment
}

// dirs are the directories of an environment; false: there is no such environment.
func (r roots) dirs(c *loader.Call, env string) ([]string, bool) {
	v, ok := c.Opts().Map(r.option).Get(env)
	return loader.StringList(v), ok
}

// found calls do with each file that the path of a call means.
func (r roots) found(c *loader.Call, a wanted, do func(name string, data []byte, text bool) error) error {
	dirs, _ := r.dirs(c, a.Saltenv)
	for _, dir := range dirs {
		place, ok := placeIn(dir, a.Path)
		if !ok {
			continue
		}
		f, err := place.open()
		if err != nil {
			continue // there is none
		}
		err = r.look(place.name, f, do)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r roots) find(c *loader.Call, a wanted) ([]any, error) {
	out := []any{}
	err := r.found(c, a, func(name string, _ []byte, text bool) error {
		kind := "bin"
		if text {
			kind = "txt"
		}
		out = append(out, payload.M(name, kind))
		return nil
	})
	return out, err
}

func (r roots) read(c *loader.Call, a wanted) ([]any, error) {
	out := []any{}
	err := r.found(c, a, func(name string, data []byte, text bool) error {
		if !text {
			return nil
		}
		if wrong := python.UTF8Error(data); wrong != "" {
			return loader.Raise("UnicodeDecodeError", "%s", wrong)
		}
		out = append(out, payload.M(name, string(data)))
		return nil
	})
	return out, err
}

func (r roots) listEnv(c *loader.Call, a environment) (*payload.Map, error) {
	dirs, _ := r.dirs(c, a.Saltenv)
	return listDirs(c, dirs)
}

func (r roots) listRoots(c *loader.Call, _ struct{}) (*payload.Map, error) {
	out := payload.NewMap(0)
	for env, v := range c.Opts().Map(r.option).All() {
		tree, err := listDirs(c, loader.StringList(v))
		if err != nil {
			return nil, err
		}
		out.Set(env, []any{tree})
	}
	return out, nil
}

type written struct {
	Data any `arg:"data"`
	wanted
	Index any `arg:"index=0"`
}

func (r roots) write(c *loader.Call, a written) (any, error) {
	dirs, ok := r.dirs(c, a.Saltenv)
	env, path := a.Saltenv, a.Path
	if !ok {
		return "Named environment " + env + " is not present", nil
	}
	index, err := loader.ToInt(a.Index)
	if err != nil {
		return nil, err
	}
	if index >= int64(len(dirs)) {
		return "Specified index " + python.Str(index) + " in environment " + env + " is not present", nil
	}
	if index < 0 { // from the end, as in Python
		if index += int64(len(dirs)); index < 0 {
			return nil, loader.Raise("IndexError", "list index out of range")
		}
	}
	if filepath.IsAbs(path) {
		return "The path passed in " + path + " is not relative to the environment " + env, nil
	}
	if strings.Contains(path, "\x00") {
		return nil, loader.Raise("ValueError", "embedded null byte")
	}
	data, err := text(a.Data)
	if err != nil {
		return nil, err
	}
	place, ok := placeIn(dirs[index], path)
	if ok {
		ok, err = place.write(data)
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return r.invalid(path), nil
	}
	return "Wrote data to file " + place.name, nil
}

// text is a value that Python's str and bytes give: what is neither is refused.
func text(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		if wrong := python.UTF8Error(v); wrong != "" {
			return nil, loader.Raise("UnicodeDecodeError", "%s", wrong)
		}
		return v, nil
	}
	return nil, loader.Raise("TypeError", "expected str, bytes, or bytearray not <class '%s'>", python.Type(v))
}
