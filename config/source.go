package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/config/yaml"
	"brine/wire/payload"
	"brine/wire/python"
)

// source is what a set of files says: the options and where each was written last.
type source struct {
	opts   *payload.Map
	origin map[string]Origin
}

func newSource() *source { return &source{opts: payload.NewMap(0), origin: map[string]Origin{}} }

// replace puts the options of another source in the place of those of this one: a file includes others.
func (s *source) replace(over *source) {
	s.opts.Update(over.opts)
	for k, p := range over.origin {
		s.origin[k] = p
	}
}

// merge lays another source over this one and merges maps and lists of equal keys, as Salt does between the
// files of one include.
func (s *source) merge(over *source) {
	s.opts = mergeMaps(s.opts, over.opts)
	for k, p := range over.origin {
		s.origin[k] = p
	}
}

// mergeMaps returns a with b laid over it: maps are merged at every depth, lists get the values they do not
// hold yet. The inputs are not changed.
func mergeMaps(a, b *payload.Map) *payload.Map {
	out := a.Clone()
	for k, v := range b.All() {
		old, _ := out.Get(k)
		switch old := old.(type) {
		case *payload.Map:
			if m, ok := v.(*payload.Map); ok {
				v = mergeMaps(old, m)
			}
		case []any:
			if l, ok := v.([]any); ok {
				v = mergeLists(old, l)
			}
		}
		out.Set(k, v)
	}
	return out
}

func mergeLists(a, b []any) []any {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.ContainsFunc(out, func(have any) bool { return payload.Equal(have, v) }) {
			out = append(out, v)
		}
	}
	return out
}

// readFiles lays the main file, then default_include, then include. The environment may say which files are included.
func (ld *loading) readFiles(env *source) error {
	ld.main = ld.mainFile()
	ld.watch(ld.main)
	if b, err := os.ReadFile(ld.main); err == nil {
		s, err := ld.parse(ld.main, b)
		if err := ld.fault(err); err != nil {
			return err
		}
		if s != nil {
			if err := ld.layers.layFiles(s); err != nil {
				return err
			}
		}
	} else if ld.Again {
		return &Error{File: ld.main, Code: ExitGeneric, Err: fmt.Errorf("read configuration: %w", err)}
	} else if !os.IsNotExist(err) {
		ld.notice(slog.LevelDebug, "Missing configuration file: %s", ld.main)
	}
	named := map[string]any{}
	for _, key := range []string{"default_include", "include"} {
		named[key] = ld.layers.value(key)
		if v, ok := env.opts.Get(key); ok {
			named[key] = v
		}
	}
	for _, key := range []string{"default_include", "include"} {
		s, err := ld.include(key, named[key], ld.Path, key == "include", 0)
		if err != nil {
			return err
		}
		if err := ld.layers.layFiles(s); err != nil {
			return err
		}
	}
	return nil
}

// mainFile is Path, unless that is the system's file and the environment names another that exists.
func (ld *loading) mainFile() string {
	if ld.Path != filepath.Join(defaultDir, ld.role) {
		return ld.Path
	}
	named := ld.Getenv("SALT_" + strings.ToUpper(ld.role) + "_CONFIG")
	if dir := ld.Getenv("SALT_CONFIG_DIR"); named == "" && dir != "" {
		named = filepath.Join(dir, ld.role)
	}
	if info, err := os.Stat(named); named != "" && err == nil && info.Mode().IsRegular() {
		return named
	}
	return ld.Path
}

// maxIncludeDepth ends files that include each other.
const maxIncludeDepth = 32

// include reads the files that patterns (a text or a list of globs, relative to the directory of from) match,
// in sorted order, with what they include themselves.
func (ld *loading) include(key string, patterns any, from string, verbose bool, depth int) (*source, error) {
	out := newSource()
	globs, err := ld.globs(key, patterns)
	if err == nil && depth > maxIncludeDepth {
		globs, err = nil, ld.bad(key, patterns, "option '%s': files include each other", key)
	}
	if err := ld.fault(err); err != nil {
		return nil, err
	}
	for _, glob := range globs {
		glob = expandHome(glob)
		if !filepath.IsAbs(glob) {
			glob = filepath.Join(filepath.Dir(from), glob)
		}
		ld.watch(glob)
		files, _ := filepath.Glob(glob) // sorted; a malformed pattern matches nothing
		if len(files) == 0 && verbose {
			ld.notice(slog.LevelWarn, "Warning parsing configuration file: \"include\" path/glob '%s' matches no files",
				glob)
		}
		for _, file := range files {
			s, err := ld.included(file, depth)
			if err != nil {
				return nil, err
			}
			out.merge(s)
		}
	}
	return out, nil
}

func (ld *loading) globs(key string, patterns any) ([]string, error) {
	switch v := patterns.(type) {
	case nil:
		return nil, nil
	case string:
		if v == "" {
			return nil, nil
		}
		return []string{v}, nil
	case []any:
		var out []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, ld.bad(key, patterns, "option '%s' is %s: it must be a path or a list of paths", key,
					python.Str(patterns))
			}
			out = append(out, s)
		}
		return out, nil
	}
	return nil, ld.bad(key, patterns, "option '%s' is %s: it must be a path or a list of paths", key,
		python.Str(patterns))
}

// included reads one included file. A broken one counts as empty unless StrictIncludes is set.
func (ld *loading) included(file string, depth int) (*source, error) {
	ld.watch(file)
	b, err := os.ReadFile(file)
	if err != nil {
		err = &Error{File: file, Code: ExitGeneric, Err: fmt.Errorf("read configuration: %w", err)}
		return newSource(), ld.fault(err)
	}
	s, err := ld.parse(file, b)
	if err != nil {
		if ld.StrictIncludes || ld.Again {
			return newSource(), ld.fault(err)
		}
		ld.notice(slog.LevelError, "%v", err)
		return newSource(), nil
	}
	nested, err := ld.include("include", s.opts.Value("include"), file, false, depth+1)
	if err != nil {
		return nil, err
	}
	s.replace(nested)
	return s, nil
}

// parse reads the text of one configuration file.
func (ld *loading) parse(file string, b []byte) (*source, error) {
	doc, err := yaml.LoadDocument(b)
	if err != nil {
		if strings.HasSuffix(file, scheduleFile) && !ld.Again {
			return ld.setAside(file, err)
		}
		return nil, parseError(file, err)
	}
	s := newSource()
	if !python.Truth(doc.Value) {
		return s, nil
	}
	opts, ok := doc.Value.(*payload.Map)
	if !ok {
		return nil, &Error{File: file, Line: 1, Value: doc.Value, Code: ExitGeneric, Err: fmt.Errorf(
			"Error parsing configuration file: %s - conf should be a document, not <class '%s'>.", file,
			python.Type(doc.Value))}
	}
	for k, line := range doc.Lines {
		s.origin[k] = Origin{Layer: LayerFile, File: file, Line: line}
	}
	switch id := opts.Value("id").(type) {
	case nil, string:
	default: // a numeric id is text
		opts.Set("id", python.Str(id))
	}
	s.opts = opts
	return s, nil
}

// parseError words a YAML error as Salt does.
func parseError(file string, err error) *Error {
	e := &Error{File: file, Code: ExitGeneric}
	var y *yaml.Error
	if !errors.As(err, &y) {
		e.Err = fmt.Errorf("Error parsing configuration file: %s - %w", file, err)
		return e
	}
	e.Line = y.Line
	where := fmt.Sprintf("line %d", y.Line)
	if y.Column > 0 {
		where += fmt.Sprintf(", column %d", y.Column)
	}
	e.Err = fmt.Errorf("Error parsing configuration file: %s - %s\n  in \"%s\", %s", file, y.Problem, file, where)
	return e
}

// scheduleFile is written by the minion itself. When it is broken the minion must start all the same.
const scheduleFile = "_schedule.conf"

// Own tells whether the daemon has written a change itself, after it had made it: a minion its schedule.
func (c Change) Own() bool {
	return c.Key == "schedule" && filepath.Base(c.Origin.File) == scheduleFile
}

// setAside renames a broken _schedule.conf and goes on without it.
func (ld *loading) setAside(file string, cause error) (*source, error) {
	ld.notice(slog.LevelError, "%v", parseError(file, cause))
	aside := file + "YAMLError"
	ld.notice(slog.LevelError, "Renaming to %s", aside)
	if err := os.Rename(file, aside); err != nil {
		return nil, &Error{File: file, Code: ExitGeneric, Err: err}
	}
	return newSource(), nil
}

func (ld *loading) warn(format string, args ...any) { ld.notice(slog.LevelWarn, format, args...) }

func (ld *loading) notice(level slog.Level, format string, args ...any) {
	ld.notices = append(ld.notices, Notice{level, fmt.Sprintf(format, args...)})
}
