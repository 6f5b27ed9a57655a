package gitfs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// repo is the copy of a remote. What is served comes from its state, which a fetch replaces as a whole: nobody waits
// for one.
type repo struct {
	*remote
	dir        string
	globalLock bool
	limits     Limits
	timeout    time.Duration

	busy    atomic.Bool // a fetch is under way
	swept   time.Time   // when blobs were swept last; only for who has made busy true
	damaged atomic.Bool // something could not be read: the next fetch begins at the beginning
	seen    atomic.Pointer[seen]

	mu       sync.Mutex // holds what follows, and reading of objects
	objects  *objects
	opened   *state // whose objects are open
	listings map[plumbing.Hash]listed
	fetched  time.Time
	used     map[string]time.Time // trees that were written out, by their folder
}

// listed is what a tree has, or why it cannot be listed.
type listed struct {
	*listing
	err error
}

// state is what was fetched last. It is never changed.
type state struct {
	Objects string            `json:"objects"` // folder of the objects
	Refs    map[string]string `json:"refs"`    // hash by the local name of a reference
	// bytes of the packs when the folder was new; 0 of a brine that did not count them
	Whole int64 `json:"whole"`
}

// maxListings is how many trees are remembered by a repository, maxPacks how many packs it keeps before it begins anew
// (it does so as well when they take too much room: Limits.Spare).
const (
	maxListings = 16
	maxPacks    = 48
)

func newRepo(r *remote, root string, globalLock bool) *repo {
	return &repo{remote: r, dir: filepath.Join(root, r.key()), globalLock: globalLock, limits: defaultLimits,
		timeout: 10 * time.Minute}
}

// seen is a state, and which file it was read from: salt-run may have fetched, too, or cleared the cache.
type seen struct {
	*state
	file os.FileInfo // nil: there was none
}

// state is what was fetched last. Without any, or with a damaged one, the next fetch begins at the beginning.
func (r *repo) state() *state {
	path := filepath.Join(r.dir, "state")
	file, err := os.Stat(path)
	if err != nil {
		file = nil
	}
	last := r.seen.Load()
	switch {
	case last == nil:
	case file == nil && last.file == nil:
		return last.state
	case file != nil && last.file != nil && os.SameFile(file, last.file) && file.ModTime().Equal(last.file.ModTime()):
		return last.state
	}
	st := &state{}
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, st) != nil || !strings.HasPrefix(st.Objects, "o-") ||
		filepath.Base(st.Objects) != st.Objects {
		st = &state{}
	}
	if st.Refs == nil {
		st.Refs = map[string]string{}
	}
	r.seen.Store(&seen{st, file})
	return st
}

// clear forgets all, on disk too.
func (r *repo) clear() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeObjects()
	return os.RemoveAll(r.dir)
}

func (r *repo) closeObjects() {
	if r.objects != nil {
		_ = r.objects.store.Close() // only read
	}
	r.objects, r.opened, r.listings = nil, nil, nil
}

// open is the objects of a state; r.mu is held.
func (r *repo) open(st *state) (*objects, error) {
	if st.Objects == "" {
		return nil, fs.ErrNotExist
	}
	if r.objects == nil || r.opened != st {
		r.closeObjects()
		r.objects, r.opened, r.listings = openObjects(filepath.Join(r.dir, st.Objects)), st, map[plumbing.Hash]listed{}
	}
	return r.objects, nil
}

// resolve is the commit that a word means by the ways of ref_types, or its fallback.
func (r *repo) resolve(st *state, word string) (plumbing.Hash, bool) {
	for _, w := range []string{word, r.fallback} {
		if w == "" {
			continue
		}
		for _, kind := range r.refTypes {
			if h, ok := r.byKind(st, kind, w); ok {
				return h, true
			}
		}
	}
	return plumbing.ZeroHash, false
}

func (r *repo) byKind(st *state, kind, word string) (plumbing.Hash, bool) {
	switch kind {
	case "branch":
		h, ok := st.Refs["refs/remotes/origin/"+word]
		return plumbing.NewHash(h), ok
	case "tag":
		h, ok := st.Refs["refs/tags/"+word]
		return plumbing.NewHash(h), ok
	}
	return r.bySHA(st, word)
}

// bySHA finds a commit by its hash or by the first digits of it, four at least, if no other begins so.
func (r *repo) bySHA(st *state, word string) (_ plumbing.Hash, ok bool) {
	if len(word) < 4 || len(word) > 40 || strings.Trim(strings.ToLower(word), "0123456789abcdef") != "" {
		return plumbing.ZeroHash, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.open(st)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	if len(word) == 40 {
		h := plumbing.NewHash(strings.ToLower(word))
		_, err := o.treeOf(h)
		return h, err == nil
	}
	return o.byPrefix(strings.ToLower(word))
}

// byPrefix finds a commit by the first digits of its hash.
func (o *objects) byPrefix(digits string) (found plumbing.Hash, ok bool) {
	var err error
	defer rescue(&err)
	raw := plumbing.NewHash(digits[:len(digits)&^1] + strings.Repeat("0", 40-len(digits)&^1))
	all, err := o.store.HashesWithPrefix(raw[:len(digits)/2])
	if err != nil {
		return found, false
	}
	for _, h := range all {
		if !strings.HasPrefix(h.String(), digits) || h == found {
			continue
		}
		if ok {
			return plumbing.ZeroHash, false
		}
		found, ok = h, true
	}
	if ok {
		_, err = o.treeOf(found)
	}
	return found, ok && err == nil
}

// list is what a commit has, nil for what is no commit. It is remembered for some of them.
func (r *repo) list(st *state, commit plumbing.Hash) (*listing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.open(st)
	if err != nil {
		return nil, err
	}
	tree, err := o.treeOf(commit)
	if errors.Is(err, errNoCommit) {
		return nil, nil
	}
	if err != nil {
		return nil, r.unread(err)
	}
	l, ok := r.listings[tree]
	if !ok {
		l.listing, l.err = o.list(tree)
		if len(r.listings) >= maxListings {
			clear(r.listings)
		}
		if l.err = r.unread(l.err); l.err != nil {
			l.listing = nil
		}
		r.listings[tree] = l
	}
	return l.listing, l.err
}
