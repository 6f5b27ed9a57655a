// Package accumulator keeps the texts that states file.accumulated collect for other states of the same run, in a file
// that nobody else can read: CACHEDIR/accumulator/RUN. What runs the states calls Forget at the end of the run.
package accumulator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/text/dicts"
	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Dir is the folder in the cache of a minion.
const Dir = "accumulator"

// Texts are the texts of a run: by file and accumulator, and the requisites of each accumulator.
type Texts struct {
	path  string
	texts *payload.Map // {FILE: {NAME: [TEXT, ...]}}
	deps  *payload.Map // {FILE: {NAME: [ID, ...]}}
}

// path is the file of a run.
func path(cachedir, run string) string {
	if run == "" || strings.ContainsAny(run, "/\x00") || strings.HasPrefix(run, ".") {
		sum := sha256.Sum256([]byte(run))
		run = hex.EncodeToString(sum[:])
	}
	return filepath.Join(cachedir, Dir, run)
}

// Load reads what the run has collected so far.
func Load(cachedir, run string) (*Texts, error) {
	t := &Texts{path: path(cachedir, run), texts: payload.NewMap(0), deps: payload.NewMap(0)}
	v, err := packedfile.Read(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*payload.Map); ok {
		t.texts, t.deps = m.Map("accumulators"), m.Map("accumulators_deps")
	}
	return t, nil
}

// Add collects texts for a file, in the name of a state that deps depend on. It tells whether one is new.
func (t *Texts) Add(file, name any, texts, deps []any) (added bool) {
	kept := listIn(t.texts, file, name)
	for _, text := range texts {
		if !dicts.Contains(kept, text) {
			kept, added = append(kept, text), true
		}
	}
	below(t.texts, file).Set(name, kept)
	below(t.deps, file).Set(name, append(listIn(t.deps, file, name), deps...))
	return added
}

func below(m *payload.Map, file any) *payload.Map {
	if v, ok := m.Value(file).(*payload.Map); ok {
		return v
	}
	v := payload.NewMap(1)
	m.Set(file, v)
	return v
}

func listIn(m *payload.Map, file, name any) []any {
	list, _ := below(m, file).Value(name).([]any)
	return list
}

// Save keeps the texts for later states of the run.
func (t *Texts) Save() error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	return packedfile.Write(t.path, payload.M("accumulators", t.texts, "accumulators_deps", t.deps),
		wholefile.Options{Mode: 0o600})
}

// Of are the texts for a file by accumulator; nil for none.
func (t *Texts) Of(file any) *payload.Map {
	m, _ := t.texts.Value(file).(*payload.Map)
	return m
}

// For are the texts for a file of those accumulators that the state with an ID depends on, or of all if there is none.
func (t *Texts) For(file, id any) (out []any) {
	all := t.Of(file)
	var names []any
	deps, _ := t.deps.Value(file).(*payload.Map)
	for name, ids := range deps.All() {
		if list, ok := ids.([]any); ok && all.Has(name) && slices.Contains(list, id) {
			names = append(names, name)
		}
	}
	if names == nil {
		names = all.Keys()
	}
	for _, name := range names {
		list, _ := all.Value(name).([]any)
		out = append(out, list...)
	}
	return out
}

// oldest is how long texts are kept of a run that did not come to its end.
const oldest = 7 * 24 * time.Hour

// Forget removes what a run has collected, and what runs have left that were killed long ago.
func Forget(cachedir, run string) error {
	if err := os.Remove(path(cachedir, run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(cachedir, Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > oldest {
			err = os.Remove(filepath.Join(cachedir, Dir, e.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return err
}
