package file

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

type tidying struct {
	Name        any          `arg:"name"`
	Age         any          `arg:"age=0"`
	Matches     any          `arg:"matches=None"`
	RmDirs      bool         `arg:"rmdirs=False"`
	Size        any          `arg:"size=0"`
	Exclude     any          `arg:"exclude=None"`
	FullPath    bool         `arg:"full_path_match=False"`
	FollowLinks bool         `arg:"followlinks=False"`
	Time        any          `arg:"time_comparison=atime"`
	Operator    string       `arg:"age_size_logical_operator=OR"`
	Only        any          `arg:"age_size_only=None"`
	RmLinks     bool         `arg:"rmlinks=True"`
	KW          *payload.Map `arg:"**kwargs"`
}

func tidied(c *states.Call, a tidying) (states.Plan, error) {
	name, _, err := pathFor(c, a.Name, "tidied")
	if err != nil {
		return states.Plan{}, err
	}
	if !strings.HasPrefix(name, "/") {
		return called(name, states.Wrong("Specified file "+name+" is not an absolute path")), nil
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return called(name, states.Wrong(name+" does not exist or is not a directory.")), nil
	}
	w, err := newTidier(a)
	if err != nil {
		return states.Plan{}, err
	}
	if err := w.walk(c.Ctx, name, 0); err != nil {
		return states.Plan{}, err
	}
	if len(w.found) == 0 {
		return called(name, states.Correct("Nothing to remove from directory "+name)), nil
	}
	return called(name, states.Would(name+" is set for tidy", payload.M("removed", payload.AnyList(w.found)),
		func() (states.Done, error) { return removeAll(name, w.found) })), nil
}

func removeAll(name string, paths []string) (states.Done, error) {
	removed := []any{}
	for _, path := range paths {
		if err := safefile.Remove(path); err != nil && !os.IsNotExist(err) {
			return states.Failed("Could not remove '"+path+"': "+loader.Message(err), payload.M("removed", removed))
		}
		removed = append(removed, path)
	}
	return states.Changed("Removed "+python.Str(int64(len(paths)))+" files or directories from directory "+name,
		payload.M("removed", removed))
}

// tidier finds what is to be removed.
type tidier struct {
	tidying
	age, size        float64
	today            int64
	matches, exclude []*re.Pattern
	found            []string
}

func newTidier(a tidying) (w *tidier, err error) {
	w = &tidier{tidying: a, today: day(time.Now())}
	if text, ok := a.Size.(string); ok {
		a.Size = bytesOf(text)
	}
	for _, number := range []struct {
		to *float64
		v  any
	}{{&w.age, a.Age}, {&w.size, a.Size}} {
		f, ok := python.Number(number.v)
		if !ok {
			return nil, &loader.ArgumentError{Message: "'>=' not supported between instances of 'int' and '" +
				python.Type(number.v) + "'"}
		}
		*number.to = f
	}
	if a.Matches == nil {
		a.Matches = []any{".*"}
	}
	if w.matches, err = patterns("matches", a.Matches); err != nil {
		return nil, err
	}
	w.exclude, err = patterns("exclude", a.Exclude)
	return w, err
}

// patterns reads a list of patterns. Unlike Salt: a text is not one of patterns of one character each.
func patterns(name string, v any) (out []*re.Pattern, err error) {
	list, ok := v.([]any)
	if !ok && python.Truth(v) {
		return nil, loader.InvocErr("file.tidied: %s must be a list", name)
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
		}
		p, err := re.Compile(text)
		if err != nil {
			return nil, loader.Raise("re.error", "%s", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// bytesOf reads a size such as 2G, 30MB or 64KiB; 0 for another text.
func bytesOf(text string) any {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(text)
	}
	value, err := python.ParseFloat(text[:end])
	unit := strings.ToLower(strings.TrimSpace(text[end:]))
	if unit == "" {
		unit = "b"
	}
	power := strings.IndexByte("bkmgtpezy", unit[0])
	if err != nil || power < 0 {
		return int64(0)
	}
	base := 1024.0
	switch rest := unit[1:]; {
	case rest == "b" && power > 0:
		base = 1000
	case rest != "" && (rest != "ib" || power == 0):
		return int64(0)
	}
	for range power {
		value *= base
	}
	return float64(int64(value))
}

// day is the day of a time, counted from 1970.
func day(t time.Time) int64 {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// maxDepth is how deeply directories may lie in each other.
const maxDepth = 1000

// walk looks into the directories below first.
func (w *tidier) walk(ctx context.Context, dir string, depth int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if depth > maxDepth {
		return loader.Raise("RecursionError", "directories lie in each other too deeply")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // Salt leaves out what it cannot read
	}
	var files, dirs []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		dirs = append(dirs, path)
		if e.IsDir() || w.FollowLinks {
			if err := w.walk(ctx, path, depth+1); err != nil {
				return err
			}
		}
	}
	for _, path := range slices.Concat(files, dirs) {
		if err := w.judge(path); err != nil {
			return err
		}
	}
	return nil
}

// judge adds a path that is to be removed.
func (w *tidier) judge(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	var size float64
	switch {
	case info.Mode()&os.ModeSymlink != 0 && !w.RmLinks, info.IsDir() && !w.RmDirs:
		return nil
	case info.Mode()&os.ModeSymlink == 0 && !info.IsDir():
		size = float64(info.Size())
	}
	age := float64(w.today - day(w.timeOf(info)))
	if age < 0 {
		age = -age
	}
	if !w.counts(age >= w.age, size >= w.size) {
		return nil
	}
	name := path
	if !w.FullPath {
		name = filepath.Base(path)
	}
	if fits, err := anyFits(w.matches, name); err != nil || !fits {
		return err
	}
	if out, err := anyFits(w.exclude, name); err != nil || out {
		return err
	}
	w.found = append(w.found, path)
	return nil
}

// counts puts age and size together.
func (w *tidier) counts(old, large bool) bool {
	only, _ := w.Only.(string)
	switch {
	case strings.EqualFold(only, "age"):
		return old
	case strings.EqualFold(only, "size"):
		return large
	case strings.EqualFold(w.Operator, "AND"):
		return old && large
	}
	return old || large
}

func (w *tidier) timeOf(info os.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	what, _ := w.Time.(string)
	switch {
	case !ok || strings.EqualFold(what, "mtime"):
		return info.ModTime()
	case strings.EqualFold(what, "ctime"):
		return time.Unix(st.Ctim.Unix())
	}
	return time.Unix(st.Atim.Unix())
}

func anyFits(list []*re.Pattern, name string) (bool, error) {
	for _, p := range list {
		if fits, err := p.Match(name); err != nil || fits {
			return fits, err
		}
	}
	return false, nil
}
