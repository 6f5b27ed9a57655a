package fileserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// Updater is a backend that has something to do from time to time. It tells what has changed since it last did so; nil
// is nothing.
type Updater interface {
	Update(ctx context.Context) (*Changes, error)
}

// Paced is an Updater that is updated for its own sake, and not only for who wants to hear of it: it fetches what it
// serves (gitfs_update_interval).
type Paced interface{ UpdateInterval() time.Duration }

// Rhythm is how often a backend is to be updated.
type Rhythm struct {
	Backend string
	Every   time.Duration // above 0
	Needed  bool          // whether anybody wants to hear of it or not
}

// Rhythms are those of all backends that have something to do from time to time.
func (s *Server) Rhythms() (out []Rhythm) {
	for _, b := range s.opt.Backends {
		if _, ok := b.(Updater); !ok {
			continue
		}
		r := Rhythm{Backend: b.Name(), Every: s.opt.Pace[b.Name()]}
		if p, ok := b.(Paced); ok {
			r.Needed, r.Every = true, p.UpdateInterval()
		}
		if r.Every <= 0 { // as with Salt
			r.Every = time.Minute
		}
		out = append(out, r)
	}
	return out
}

// Changes are what an update has found: absolute paths, in order.
type Changes struct {
	Backend                 string
	Changed, Added, Removed []string
	Unnamed                 bool // Changed are no files, and events do not name them
}

// Event is the data of the event of an update (salt/fileserver/BACKEND/update).
func (c *Changes) Event() *payload.Map {
	changed := len(c.Changed)+len(c.Added)+len(c.Removed) > 0
	if c.Unnamed {
		return payload.M("changed", changed, "backend", c.Backend)
	}
	files := payload.M("changed", payload.AnyList(c.Changed), "removed", payload.AnyList(c.Removed), "added",
		payload.AnyList(c.Added))
	return payload.M("changed", changed, "files", files, "backend", c.Backend)
}

// Update lets some backends, nil for all, do what they do from time to time.
func (s *Server) Update(ctx context.Context, back []string) (all []*Changes, err error) {
	for _, b := range s.backends(back) {
		u, ok := b.(Updater)
		if !ok {
			continue
		}
		changes, bad := u.Update(ctx)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("update of %s: %w", b.Name(), bad))
		}
		if changes != nil {
			all = append(all, changes)
		}
	}
	return all, err
}

// Forget drops the lists that some backends, none for all, remember of some environments, none for all, and returns
// which those were, by backend.
func (s *Server) Forget(envs, back []string) *payload.Map {
	out := payload.NewMap(1)
	for _, b := range s.backends(back) {
		var gone []string
		for _, env := range b.Remembered() {
			if (len(envs) == 0 || slices.Contains(envs, env)) && b.Forget(env) {
				gone = append(gone, env)
			}
		}
		if len(gone) > 0 {
			out.Set(b.Name(), payload.AnyList(gone))
		}
	}
	return out
}

// Remembered are the environments whose lists are remembered, in order.
func (r *Roots) Remembered() []string {
	r.lists.mu.Lock()
	defer r.lists.mu.Unlock()
	out := make([]string, 0, len(r.lists.envs))
	for env := range r.lists.envs {
		out = append(out, env)
	}
	slices.Sort(out)
	return out
}

// Update compares the times of change of all files with those of the update before, which a file of Salt's form keeps
// (one PATH:SECONDS per line, as in 3008).
func (r *Roots) Update(ctx context.Context) (*Changes, error) {
	now, err := r.times(ctx)
	if err != nil {
		return nil, err
	}
	c := &Changes{Backend: r.Name()}
	before, err := readTimes(r.opt.MtimeFile)
	if err != nil {
		return nil, err
	}
	for path, was := range before {
		switch is, ok := now[path]; {
		case !ok:
			c.Removed = append(c.Removed, path)
		case is != was:
			c.Changed = append(c.Changed, path)
		}
	}
	for path := range now {
		if _, ok := before[path]; !ok {
			c.Added = append(c.Added, path)
		}
	}
	for _, list := range [][]string{c.Changed, c.Added, c.Removed} {
		slices.Sort(list)
	}
	return c, writeTimes(r.opt.MtimeFile, now)
}

// times are the times of change of all files of all roots, in seconds as Python prints them.
func (r *Roots) times(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, dirs := range r.opt.Envs {
		for _, dir := range dirs {
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil || e.IsDir() || r.ignore.has(path) {
					return nil // what may not be read holds nothing, as with Salt
				}
				if info, err := os.Stat(path); err == nil && !info.IsDir() { // links that lead nowhere are left out
					at := info.ModTime()
					out[path] = python.Float(float64(at.Unix()) + 1e-9*float64(at.Nanosecond()))
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func readTimes(path string) (map[string]string, error) {
	out := map[string]string{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ':')
		if at < 0 {
			continue
		}
		name, seconds := lines.Text()[:at], lines.Text()[at+1:]
		if _, err := strconv.ParseFloat(seconds, 64); err == nil {
			out[name] = seconds
		}
	}
	return out, lines.Err()
}

func writeTimes(path string, times map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var text strings.Builder
	for name, seconds := range times {
		if !strings.Contains(name, "\n") {
			fmt.Fprintf(&text, "%s:%s\n", name, seconds)
		}
	}
	return wholefile.Write(path, []byte(text.String()), wholefile.Options{Mode: 0o600})
}
