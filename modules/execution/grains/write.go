package grains

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"brine/config/yaml"
	"brine/modules/grains"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/text/dicts"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

func writers() []loader.Func {
	return []loader.Func{
		loader.Fn("setvals", setvals, "Set several static grains; a value of None deletes with destructive=True.",
			`grains.setvals '{"key1": "val1", "key2": "val2"}'`),
		loader.Fn("setval", setval, "Set a static grain.",
			"grains.setval key val",
			`grains.setval key '{"sub-key": "val", "sub-key2": "val2"}'`).Shows("nested"),
		loader.Fn("append", appendVal,
			"Append to a static grain that is a list; convert=True makes a list of one that is not.",
			"grains.append key val"),
		loader.Fn("remove", remove, "Remove a value from a static grain that is a list.", "grains.remove key val"),
		loader.Fn("delkey", delkey, "Delete a static grain; a map or list only with force=True.", "grains.delkey key"),
		loader.Fn("delval", delval, "Set a static grain to None, or delete it with destructive=True.",
			"grains.delval key"),
		loader.Fn("set", change, "Set a static grain by its path; maps and lists are only overwritten with force=True.",
			"grains.set 'apps:myApp:port' 2209",
			"grains.set 'apps:myApp' '{port: 2209}'"),
	}
}

// storing says how values are stored.
type storing struct {
	Destructive   bool `arg:"destructive=False"`
	RefreshPillar any  `arg:"refresh_pillar=True"`
}

type severalSet struct {
	Grains any `arg:"grains"`
	storing
}

func setvals(c *loader.Call, a severalSet) (any, error) {
	values, ok := a.Grains.(*payload.Map)
	if !ok {
		return nil, loader.Raise("salt.exceptions.SaltException", "setvals grains must be a dictionary.")
	}
	return store(c, values, a.storing)
}

type oneSet struct {
	Key any `arg:"key"`
	Val any `arg:"val"`
	storing
}

func setval(c *loader.Call, a oneSet) (any, error) {
	return store(c, payload.M(a.Key, a.Val), a.storing)
}

// store writes values into the grains file and lets the minion read it again. It returns the values, or a text
// where the file that is there cannot be read.
func store(c *loader.Call, values *payload.Map, how storing) (any, error) {
	path := grains.File(c.Opts().Str("conf_file"))
	old, err := readFile(path)
	if err != nil {
		return fmt.Sprintf("Unable to read existing grains file: %s", err), nil
	}
	for k, v := range values.All() {
		gone := v == nil && how.Destructive
		if gone {
			old.Delete(k)
		} else {
			old.Set(k, v)
		}
		c.SetGrain(k, v, gone)
	}
	if err := replaceFile(path, outputters.DumpYAML(old, outputters.FlowNever, 0)); err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Unable to write to grains file at %s. Check permissions.", path))
	}
	mark := filepath.Join(c.Opts().Str("cachedir"), "module_refresh")
	if err := wholefile.Write(mark, nil, wholefile.Options{Mode: 0o644}); err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Unable to write to cache file %s. Check permissions.", mark))
	}
	if !python.Truth(c.Opts().Value("local")) {
		if _, err := c.Call("saltutil.refresh_grains", nil, payload.M("refresh_pillar",
			how.RefreshPillar)); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func readFile(path string) (*payload.Map, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, err
	}
	v, err := yaml.Load(text)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*payload.Map); ok {
		return m, nil
	}
	return payload.NewMap(0), nil
}

// read reads a file, through a symbolic link only where that is the operator's.
func read(path string) ([]byte, error) {
	if owned(filepath.Dir(path)) {
		return os.ReadFile(path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// owned tells whether nobody but root and the user of this process can put links into a folder.
func owned(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	const othersWrite = 0o022
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Geteuid()) && info.Mode().Perm()&othersWrite == 0
}

// replaceFile writes a file whole or not at all, with the mode of the one it replaces; behind a symbolic link too,
// where that is the operator's.
func replaceFile(path, text string) error {
	how := wholefile.Options{Mode: 0o644, KeepMode: true, Follow: owned(filepath.Dir(path))}
	if err := wholefile.Write(path, []byte(text), how); err != nil {
		return fmt.Errorf("write grains: %w", err)
	}
	return nil
}

// own is a copy of what stands at a path, to be changed and written back.
func own(c *loader.Call, key, delim string) (any, bool) {
	v, ok := lookup(c, key, delim)
	return dicts.Clone(v), ok
}
