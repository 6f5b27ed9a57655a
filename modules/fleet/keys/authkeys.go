package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// AuthKeys is a Store as the sign-in of minions wants it (wire/auth.KeyStore), in Salt's words for states:
// accepted, pending, rejected, denied.
type AuthKeys struct {
	// Hangs is told of a folder of autosign stubs that cannot be looked into in time; may be nil.
	Hangs func(path string)

	store   *Store
	timeout time.Duration // autosign_timeout
	files   fileCache
	cache   nameCache[string] // keys of accepted ids

	take  func(id string) (bool, error) // an autosign stub
	limit time.Duration                 // of one take
	hung  atomic.Int64                  // takes that are longer at it
	mu    sync.Mutex
	late  map[string]time.Time // whose stub was taken after that, and when
}

// autosignLimit is how long a sign-in waits for its autosign stub: its worker serves others too.
const autosignLimit = 5 * time.Second

// ForAuth makes the sign-in's view of s. autosignTimeout is how long a stub in minions_autosign counts; 0 for
// ever.
func (s *Store) ForAuth(autosignTimeout time.Duration) *AuthKeys {
	a := &AuthKeys{store: s, timeout: autosignTimeout, limit: autosignLimit, late: map[string]time.Time{}}
	a.take = func(id string) (bool, error) { return s.TakeAutosign(id, a.timeout, time.Now()) }
	a.cache.read = a.readAccepted
	for _, st := range [...]Status{Accepted, Pending, Rejected} {
		a.cache.folders = append(a.cache.folders, filepath.Join(s.opt.Dir, string(st)))
	}
	return a
}

// Close ends the watch over the key folders. The other methods go on, at the price of a look at the disk each time.
func (a *AuthKeys) Close() { a.cache.close() }

// Get returns the state and the text of id's key, "" for none. A pending key beside one that an operator has decided on
// is removed: it was stored by a sign-in that came just then. 3008's salt-key takes a key out of one folder before it
// is in the other.
func (a *AuthKeys) Get(id string) (state, pub string, err error) {
	if pub, ok := a.Accepted(id); ok {
		return Accepted.State(), pub, nil
	}
	st, pub, err := a.store.Get(id)
	if err == nil && (st == Rejected || st == Pending && a.store.Has(Accepted, id)) {
		if _, err = a.store.Remove(Pending, id); err == nil {
			st, pub, err = a.store.Get(id)
		}
	}
	return st.State(), pub, err
}

// Accepted returns the key of an id that is accepted now. While nothing changes it costs one system call, or three
// lstat calls where the folders cannot be watched.
func (a *AuthKeys) Accepted(id string) (pub string, ok bool) {
	if !ValidID(id) {
		return "", false
	}
	return a.cache.get(id)
}

func (a *AuthKeys) readAccepted(id string) (pub string, ok bool) {
	if a.store.Has(Rejected, id) || a.store.Has(Pending, id) {
		return "", false
	}
	path, err := a.store.place(Accepted, id)
	if err != nil {
		return "", false
	}
	pub, _, ok = a.files.read(path)
	return pub, ok
}

// Put stores pub as id's key in a state and takes it out of the others; a denied key is stored beside.
func (a *AuthKeys) Put(id, state, pub string) error {
	for _, st := range order {
		if st.State() == state {
			return a.store.Put(st, id, pub)
		}
	}
	return fmt.Errorf("store key of %s: no such state: %q", id, state)
}

// TakeAutosign removes id's stub in minions_autosign and tells whether there was one in time. The folder may lie on a
// file system that hangs, as the files of the rules may: then there is none, until somebody has looked. A stub that was
// removed so late counts for the next sign-in of its id.
func (a *AuthKeys) TakeAutosign(id string) bool {
	if a.takenLate(id) {
		return true
	}
	ok, known, hangs := within(&a.hung, a.limit, func() bool {
		ok, err := a.take(id)
		return ok && err == nil
	}, func(ok bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if ok {
			a.late[id] = time.Now()
		}
	})
	if hangs && a.Hangs != nil {
		a.Hangs(filepath.Join(a.store.opt.Dir, autosignDir))
	}
	return ok && known
}

func (a *AuthKeys) takenLate(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.late[id]
	delete(a.late, id)
	return ok && (a.timeout <= 0 || time.Since(at) < a.timeout)
}

// RuleFiles reads the files of the autosign and autoreject rules, for Bounded. A file others may write
// has no lines; one its group may write has them only with Permissive (permissive_pki_access).
type RuleFiles struct {
	Permissive bool
}

// Lines returns the lines of a file, white space around them removed.
func (r RuleFiles) Lines(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || !r.trusted(info) {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func (r RuleFiles) trusted(info os.FileInfo) bool {
	const groupWrite, otherWrite = 0o020, 0o002
	mode := info.Mode().Perm()
	return mode&otherWrite == 0 && (mode&groupWrite == 0 || r.Permissive)
}

// Names returns the names of the files in a directory.
func (r RuleFiles) Names(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}
