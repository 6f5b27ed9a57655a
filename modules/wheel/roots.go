package wheel

import (
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// roots are the functions for the files of one option: file_roots or pillar_roots.
type roots struct {
	option  string
	invalid func(path string) string // what write answers to a path that leads out
}

// rootFuncs look at the files below file_roots and pillar_roots, and write them.
//
// Unlike Salt: no path of pillar_roots.find and read leads out either, and no link whatever is exchanged meanwhile; a file is there whole or
// not at all.
func (w *wheel) rootFuncs() []loader.Func {
	files := roots{option: "file_roots", invalid: func(path string) string { return "Invalid path: " + path }}
	pillars := roots{option: "pillar_roots", invalid: func(string) string { return "Invalid path" }}
	return append(files.funcs(), pillars.funcs()...)
}

func (r roots) funcs() []loader.Func {
	path, env := loader.Req("path"), loader.Opt("saltenv", "base")
	funcs := []loader.Func{
		{Name: "find", Params: []loader.Param{path, env}, Run: r.find,
			Doc: "Tell in which directories of an environment a file is, and whether it is text or binary."},
		{Name: "list_env", Params: []loader.Param{env}, Run: r.listEnv, Doc: "List the files in the directories of an environment, as a tree."},
		{Name: "list_roots", Run: r.listRoots, Doc: "List the files of all environments, as a tree."},
		{Name: "read", Params: []loader.Param{path, env}, Run: r.read, Doc: "Show a file of text, as it is in each directory of an environment."},
		{Name: "write", Params: []loader.Param{loader.Req("data"), path, env, loader.Opt("index", int64(0))}, Run: r.write,
			Doc: "Write a file into a directory of an environment, the first unless index names another one."},
	}
	for i := range funcs {
		funcs[i].Name = r.option + "." + funcs[i].Name
		funcs[i].Source = "salt/wheel/" + r.option + ".py"
	}
	return funcs
}

// dirs are the directories of an environment; false: there is no such environment.
func (r roots) dirs(c *loader.Call, a loader.Args) ([]string, bool) {
	v, ok := c.Opts().Map(r.option).Get(a.Str("saltenv"))
	return loader.StringList(v), ok
}

// found calls do with each file that the path of a call means.
func (r roots) found(c *loader.Call, a loader.Args, do func(name string, data []byte, text bool) error) error {
	dirs, _ := r.dirs(c, a)
	for _, dir := range dirs {
		place, ok := placeIn(dir, a.Str("path"))
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

func (r roots) find(c *loader.Call, a loader.Args) (any, error) {
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

func (r roots) read(c *loader.Call, a loader.Args) (any, error) {
	out := []any{}
	err := r.found(c, a, func(name string, data []byte, text bool) error {
		if !text {
			return nil
		}
		if wrong := pytext.UTF8Error(data); wrong != "" {
			return loader.Raise("UnicodeDecodeError", "%s", wrong)
		}
		out = append(out, payload.M(name, string(data)))
		return nil
	})
	return out, err
}

func (r roots) listEnv(c *loader.Call, a loader.Args) (any, error) {
	dirs, _ := r.dirs(c, a)
	return listDirs(c, dirs)
}

func (r roots) listRoots(c *loader.Call, _ loader.Args) (any, error) {
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

func (r roots) write(c *loader.Call, a loader.Args) (any, error) {
	dirs, ok := r.dirs(c, a)
	env, path := a.Str("saltenv"), a.Str("path")
	if !ok {
		return "Named environment " + env + " is not present", nil
	}
	index, err := a.Int("index")
	if err != nil {
		return nil, err
	}
	if index >= int64(len(dirs)) {
		return "Specified index " + pytext.Str(index) + " in environment " + env + " is not present", nil
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
	data, err := text(a.Get("data"))
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
		if wrong := pytext.UTF8Error(v); wrong != "" {
			return nil, loader.Raise("UnicodeDecodeError", "%s", wrong)
		}
		return v, nil
	}
	return nil, loader.Raise("TypeError", "expected str, bytes, or bytearray not <class '%s'>", pytext.Type(v))
}
