package file

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

func finders() []loader.Func {
	return []loader.Func{
		loader.Fn("find", runFind, "Find files below a directory by name (name, iname, regex, iregex), type, owner, "+
			"group, "+
			"size, mtime and content (grep), and\nprint, delete or exec what was found.",
			`file.find / type=f name=\*.bak size=+10m`,
			"file.find /var mtime=+30d size=+10m print=path,size,mtime",
			`file.find /var/log name=\*.[0-9] mtime=+30d size=+10m delete`),
	}
}

// below is a directory to look into, with criteria and actions.
type below struct {
	location
	Actions []any        `arg:"*args"`
	Options *payload.Map `arg:"**kwargs"`
}

// found is one path that find looks at. What the system knows of it is asked for when something wants it.
type found struct {
	name, path string
	st         *unix.Stat_t
}

// stat follows links where that is possible.
func (f *found) stat() (*unix.Stat_t, error) {
	if f.st != nil {
		return f.st, nil
	}
	var st unix.Stat_t
	if unix.Stat(f.path, &st) != nil {
		if err := unix.Lstat(f.path, &st); err != nil {
			return nil, loader.Raise(loader.OSErrorClass(err.(unix.Errno)), "%s",
				loader.OSErrorText(err.(unix.Errno), f.path))
		}
	}
	f.st = &st
	return f.st, nil
}

type (
	criterion func(f *found) (bool, error)
	action    func(f *found) (result any, told bool, err error)
)

// finder is a find with its options read.
type finder struct {
	call     *loader.Call
	min, max float64 // levels below the path
	bounded  bool    // by max
	test     bool
	criteria [3][]criterion // by what they cost: of the name, of the system, of the content
	actions  []action
	out      []any
}

func runFind(c *loader.Call, a below) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	options := a.Options.Clone()
	switch {
	case slices.Contains(a.Actions, any("delete")):
		options.Set("delete", "f")
	case slices.Contains(a.Actions, any("print")):
		options.Set("print", "path")
	}
	f := &finder{call: c}
	if err := f.read(options); err != nil {
		if loader.ClassOf(err) == "ValueError" {
			return "error: " + err.Error(), nil
		}
		return nil, err
	}
	for _, p := range pypath.Glob(name) {
		if err := f.find(p); err != nil {
			return nil, err
		}
	}
	return f.sorted()
}

// read takes the options in their order.
func (f *finder) read(options *payload.Map) error {
	if err := f.depths(options); err != nil {
		return err
	}
	f.test = python.Truth(options.Value("test"))
	for k, v := range options.All() {
		key := python.Str(k)
		if strings.HasPrefix(key, "_") || key == "mindepth" || key == "maxdepth" || key == "test" {
			continue
		}
		if !python.Truth(v) {
			return loader.Raise("ValueError", `missing value for "%s" option`, key)
		}
		make, ok := findOptions()[strings.ToLower(key)]
		if !ok {
			return loader.Raise("ValueError", `invalid option "%s"`, key)
		}
		if err := make(f, v); err != nil {
			return err
		}
	}
	if len(f.actions) == 0 {
		return printOption(f, "path")
	}
	return nil
}

func (f *finder) depths(options *payload.Map) error {
	for _, d := range []struct {
		name, sign string
		into       *float64
	}{{"mindepth", "<", &f.min}, {"maxdepth", ">=", &f.max}} {
		v, given := options.Get(d.name)
		if !given || v == nil && d.name == "maxdepth" {
			continue
		}
		n, ok := python.Number(v)
		if !ok {
			return &loader.ArgumentError{Message: fmt.Sprintf("'%s' not supported between instances of '%s' and 'int'",
				d.sign, python.Type(v))}
		}
		*d.into = n
		f.bounded = f.bounded || d.name == "maxdepth"
	}
	return nil
}

// find looks at a path and at what is below it.
func (f *finder) find(top string) error {
	if f.min < 1 {
		if err := f.look(&found{name: pypath.Base(top), path: top}); err != nil {
			return err
		}
	}
	return walk(f.call.Ctx, top, 0, func(dir string, dirs, files []string, depth int) error {
		level := float64(depth + 1)
		if f.bounded && level > f.max {
			return fs.SkipDir
		}
		if level < f.min {
			return nil
		}
		for _, name := range slices.Concat(dirs, files) {
			if err := f.look(&found{name: name, path: pypath.Join(dir, name)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// look does with a path what is to be done, if it fits.
func (f *finder) look(p *found) error {
	for _, fits := range slices.Concat(f.criteria[:]...) {
		if ok, err := fits(p); !ok || err != nil {
			return err
		}
	}
	for _, do := range f.actions {
		v, told, err := do(p)
		if err != nil {
			return err
		}
		if told {
			f.out = append(f.out, v)
		}
	}
	return nil
}

// sorted is the result in Python's order.
func (f *finder) sorted() (any, error) {
	var wrong error
	slices.SortStableFunc(f.out, func(a, b any) int {
		n, err := compare(a, b)
		if err != nil {
			wrong = err
		}
		return n
	})
	if wrong != nil {
		return nil, wrong
	}
	if f.out == nil {
		f.out = []any{}
	}
	return f.out, nil
}

func compare(a, b any) (int, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
	case []any:
		y, ok := b.([]any)
		for i := 0; ok && i < min(len(x), len(y)); i++ {
			if n, err := compare(x[i], y[i]); n != 0 || err != nil {
				return n, err
			}
		}
		if ok {
			return cmp.Compare(len(x), len(y)), nil
		}
	}
	return 0, &loader.ArgumentError{Message: "'<' not supported between instances of '" + python.Type(b) + "' and '" +
		python.Type(a) + "'"}
}
