package file

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pytime"
	"brine/wire/payload"
	"brine/wire/python"
)

type retaining struct {
	Name     any `arg:"name"`
	Retain   any `arg:"retain"`
	Format   any `arg:"strptime_format=None"`
	Timezone any `arg:"timezone=None"`
}

// depths are how many parts of a time tell files of a rule apart.
var depths = map[any]int{"first_of_year": 1, "first_of_month": 2, "first_of_day": 3, "first_of_hour": 4,
	"most_recent": 5}

func retain(c *states.Call, a retaining) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "retention_schedule")
	if p != nil || err != nil {
		return orNone(p), err
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return called(name, states.Wrong("Name provided to file.retention must be a directory")), nil
	}
	if a.Timezone != nil && !python.Truth(a.Format) {
		return states.Plan{}, &loader.ArgumentError{Message: "tzinfo argument must be None or of a tzinfo subclass, " +
			"not type '" + python.Type(a.Timezone) + "'"}
	}
	rules, ok := a.Retain.(*payload.Map)
	if !ok {
		return states.Plan{}, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(a.Retain))
	}
	w := &retainer{days: branch{}, weeks: branch{}}
	if err := w.look(name, a.Format); err != nil {
		return states.Plan{}, err
	}
	kept, err := w.kept(rules)
	if err != nil {
		return states.Plan{}, err
	}
	return w.plan(name, kept), nil
}

// branch are files by the parts of their time: another branch, or the name of a file.
type branch map[float64]any

// put puts a file below the parts of its time.
func (b branch) put(file string, parts ...float64) {
	for _, part := range parts[:len(parts)-1] {
		next, ok := b[part].(branch)
		if !ok {
			next = branch{}
			b[part] = next
		}
		b = next
	}
	b[parts[len(parts)-1]] = file
}

func (b branch) keys() []float64 {
	var out []float64
	for key := range b {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// first is the oldest file.
func first(v any) string {
	b, ok := v.(branch)
	if !ok {
		return v.(string)
	}
	return first(b[b.keys()[0]])
}

// newest are the oldest files of each of the newest n branches so deep.
func newest(v any, depth, n int, into map[string]bool) {
	b, ok := v.(branch)
	if depth <= 0 || !ok {
		into[first(v)] = true
		return
	}
	found := map[string]bool{}
	for _, key := range slices.Backward(b.keys()) {
		if n-len(found) < 1 {
			break
		}
		newest(b[key], depth-1, n-len(found), found)
	}
	for file := range found {
		into[file] = true
	}
}

// retainer sorts the files of a directory.
type retainer struct {
	days, weeks      branch
	relevant, others []string
}

func (w *retainer) look(dir string, format any) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	files := []string{".", ".."}
	for _, e := range entries {
		files = append(files, e.Name())
	}
	for _, file := range files {
		t, ok, err := timeOf(dir, file, format)
		if err != nil {
			return err
		}
		if !ok {
			w.others = append(w.others, file)
			continue
		}
		w.relevant = append(w.relevant, file)
		epoch := float64(t.UnixNano()) / 1e9
		y, m, d := t.Date()
		_, week := t.ISOWeek()
		w.days.put(file, float64(y), float64(m), float64(d), float64(t.Hour()), epoch)
		w.weeks.put(file, float64(y), float64(week), float64((t.Weekday()+6)%7), epoch)
	}
	return nil
}

// timeOf is the time that the name of a file tells, or that of its last change.
func timeOf(dir, file string, format any) (time.Time, bool, error) {
	if python.Truth(format) {
		t, ok, err := pytime.Strptime(file, python.Str(format))
		if err != nil { // Salt takes it for a file that does not fit
			return t, false, nil
		}
		return t, ok, nil
	}
	if file == "." || file == ".." {
		return time.Time{}, false, nil
	}
	info, err := os.Lstat(filepath.Join(dir, file))
	if err != nil {
		return time.Time{}, false, nil
	}
	return info.ModTime(), true, nil
}

// kept are the files that a rule keeps.
func (w *retainer) kept(rules *payload.Map) (map[string]bool, error) {
	kept := map[string]bool{}
	for rule, v := range rules.All() {
		count := int64(math.MaxInt32)
		if v != "all" {
			var err error
			if count, err = loader.ToInt(v); err != nil {
				return nil, err
			}
		}
		if rule == "first_of_week" {
			newest(w.weeks, 2, int(count)+1, kept)
			continue
		}
		depth, known := depths[rule]
		if !known {
			return nil, loader.Raise("KeyError", "%s", python.Repr(rule))
		}
		newest(w.days, depth, int(count), kept)
	}
	return kept, nil
}

func (w *retainer) plan(name string, kept map[string]bool) states.Plan {
	var retained, deleted []string
	for _, file := range w.relevant {
		if kept[file] {
			retained = append(retained, file)
		} else {
			deleted = append(deleted, file)
		}
	}
	n := python.Str(int64(len(deleted)))
	var changes *payload.Map
	for _, list := range [][]string{retained, deleted, w.others} {
		slices.Sort(list)
		slices.Reverse(list)
	}
	if len(deleted) > 0 {
		changes = payload.M("retained", payload.AnyList(retained), "deleted", payload.AnyList(deleted), "ignored",
			payload.AnyList(w.others))
	}
	p := states.Would(n+" backups would have been removed from "+name+".\n", changes, func() (states.Done, error) {
		for _, file := range deleted {
			if err := safefile.Remove(filepath.Join(name, file)); err != nil && !os.IsNotExist(err) {
				return states.Done{}, loader.ExecErr("Could not remove '%s': %s", filepath.Join(name, file),
					loader.Message(err))
			}
		}
		return states.Changed(n+" backups were removed from "+name+".\n", changes)
	})
	if len(deleted) == 0 {
		p.Result = true
	}
	return called(name, p)
}
