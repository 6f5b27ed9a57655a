package gitfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/modules/host/wholefile"

	"github.com/go-git/go-git/v5/plumbing"
)

// repo is the copy of a remote. What is served comes from its state, which a fetch replaces as a whole: nobody waits for one.
type repo struct {
	*remote
	dir        string
	globalLock bool
	limits     Limits
	timeout    time.Duration

	busy atomic.Bool // a fetch is under way
	seen atomic.Pointer[seen]

	mu       sync.Mutex // holds what follows, and reading of objects
	objects  *objects
	opened   *state // whose objects are open
	listings map[plumbing.Hash]*listing
	fetched  time.Time
	used     map[string]time.Time // trees that were written out, by their folder
}

// state is what was fetched last. It is never changed.
type state struct {
	Objects string            `json:"objects"` // folder of the objects
	Refs    map[string]string `json:"refs"`    // hash by the local name of a reference
}

// maxListings is how many trees are remembered by a repository, maxPacks how many packs it keeps before it begins anew.
const (
	maxListings = 16
	maxPacks    = 48
)

func newRepo(r *remote, root string, globalLock bool) *repo {
	return &repo{remote: r, dir: filepath.Join(root, r.key()), globalLock: globalLock, limits: defaultLimits, timeout: 10 * time.Minute}
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
	if err != nil || json.Unmarshal(raw, st) != nil || !strings.HasPrefix(st.Objects, "o-") || filepath.Base(st.Objects) != st.Objects {
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
		r.objects, r.opened, r.listings = openObjects(filepath.Join(r.dir, st.Objects)), st, map[plumbing.Hash]*listing{}
	}
	return r.objects, nil
}

// fetch brings what is new of the remote, within its limits of time and size. One that is under way already, or a lock, is
// errLocked. changed tells whether any reference means something else than before.
func (r *repo) fetch(ctx context.Context) (changed bool, err error) {
	if !r.busy.CompareAndSwap(false, true) {
		return false, errLocked
	}
	defer r.busy.Store(false)
	if _, err := r.lock(); err != nil {
		return false, err
	}
	defer func() {
		_, bad := r.unlock()
		err = errors.Join(err, bad)
	}()
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	changed, err = r.fetchLocked(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(fmt.Errorf("given up: %w", context.Cause(ctx)), err)
	}
	if err != nil {
		err = fmt.Errorf("fetch %s remote '%s': %w", r.role, redactURL(r.id), r.redact(err))
	}
	return changed, err
}

func (r *repo) fetchLocked(ctx context.Context) (bool, error) {
	old := r.state()
	src, err := r.dial(ctx, r.limits)
	if err != nil {
		return false, err
	}
	defer src.Close()
	refs, peeled, err := src.refs(ctx)
	if err != nil {
		return false, err
	}
	if len(refs) > r.limits.Refs {
		return false, fmt.Errorf("%w: %d references", errTooMuch, len(refs))
	}
	w := &work{repo: r, old: old, next: &state{Objects: old.Objects, Refs: map[string]string{}}}
	if w.next.Objects == "" || w.packs() > maxPacks {
		if w.next.Objects, err = w.newFolder(); err != nil {
			return false, err
		}
	}
	w.have = openObjects(filepath.Join(r.dir, w.next.Objects))
	defer func() { _ = w.have.store.Close() }()
	if err := w.take(ctx, src, refs, peeled); err != nil {
		return false, errors.Join(err, w.drop())
	}
	return w.commit()
}

// work is one fetch.
type work struct {
	*repo
	old, next *state
	have      *objects
}

func (w *work) packs() int {
	found, _ := filepath.Glob(filepath.Join(w.dir, w.old.Objects, "objects", "pack", "pack-*.pack"))
	return len(found)
}

func (w *work) newFolder() (string, error) {
	dir, err := os.MkdirTemp(w.dir, "o-")
	return filepath.Base(dir), err
}

// drop removes a new folder after an error.
func (w *work) drop() error {
	if w.next.Objects == w.old.Objects {
		return nil
	}
	return os.RemoveAll(filepath.Join(w.dir, w.next.Objects))
}

// take fetches what the refspecs want, and tags that mean something of it.
func (w *work) take(ctx context.Context, src source, refs, peeled map[string]plumbing.Hash) error {
	var wants []plumbing.Hash
	wanted := map[plumbing.Hash]bool{}
	for _, spec := range w.refspecs {
		for _, name := range sortedKeys(refs) {
			local, ok := spec.local(name)
			if !ok || !validRef(name) || !validRef(local) {
				continue
			}
			w.next.Refs[local] = refs[name].String()
			if !wanted[refs[name]] && !w.have.has(refs[name]) {
				wanted[refs[name]] = true
				wants = append(wants, refs[name])
			}
		}
	}
	if err := w.bring(ctx, src, wants); err != nil {
		return err
	}
	if err := w.tags(ctx, refs, peeled); err != nil {
		return err
	}
	for _, name := range sortedKeys(w.next.Refs) {
		if h := plumbing.NewHash(w.next.Refs[name]); !w.have.has(h) {
			return fmt.Errorf("the remote has not sent %s, which is %s", h, name)
		}
	}
	return nil
}

// tags takes, as git does, tags that no refspec names where what they mean is there. A tag with a text is an object of its own, and
// fetched by itself unless the server has sent it along.
func (w *work) tags(ctx context.Context, refs, peeled map[string]plumbing.Hash) error {
	var wants []plumbing.Hash
	for _, name := range sortedKeys(refs) {
		means, ok := peeled[name]
		if !ok {
			means = refs[name]
		}
		if _, taken := w.next.Refs[name]; taken || !strings.HasPrefix(name, "refs/tags/") || !validRef(name) || !w.have.has(means) {
			continue
		}
		w.next.Refs[name] = refs[name].String()
		if !w.have.has(refs[name]) {
			wants = append(wants, refs[name])
		}
	}
	if len(wants) == 0 {
		return nil
	}
	again, err := w.dial(ctx, w.limits)
	if err != nil {
		return err
	}
	defer again.Close()
	if _, _, err := again.refs(ctx); err != nil {
		return err
	}
	return w.bring(ctx, again, wants)
}

// bring fetches one pack.
func (w *work) bring(ctx context.Context, src source, wants []plumbing.Hash) error {
	if len(wants) == 0 {
		return nil
	}
	var haves []plumbing.Hash
	if w.next.Objects == w.old.Objects {
		seen := map[string]bool{}
		for _, name := range sortedKeys(w.old.Refs) {
			if h := w.old.Refs[name]; !seen[h] && len(haves) < 256 && w.have.has(plumbing.NewHash(h)) {
				seen[h] = true
				haves = append(haves, plumbing.NewHash(h))
			}
		}
	}
	pack, err := src.pack(ctx, wants, haves)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.dir, w.next.Objects)
	if err := errors.Join(takePack(ctx, dir, pack, w.limits), pack.Close()); err != nil {
		return err
	}
	_ = w.have.store.Close()
	w.have = openObjects(dir)
	return nil
}

// commit makes the new state the one that is served.
func (w *work) commit() (bool, error) {
	changed := len(w.next.Refs) != len(w.old.Refs)
	for name, h := range w.next.Refs {
		changed = changed || w.old.Refs[name] != h
	}
	if !changed && w.next.Objects == w.old.Objects {
		return false, nil
	}
	raw, err := json.Marshal(w.next)
	if err != nil {
		return false, err
	}
	if err := wholefile.Write(filepath.Join(w.dir, "state"), raw, wholefile.Options{Sync: true, Sole: true}); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeObjects()
	if w.old.Objects != "" && w.old.Objects != w.next.Objects {
		err = os.RemoveAll(filepath.Join(w.dir, w.old.Objects))
	}
	return changed, err
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

// list is what a commit has. It is remembered for some of them.
func (r *repo) list(st *state, commit plumbing.Hash) (*listing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.open(st)
	if err != nil {
		return nil, err
	}
	tree, err := o.treeOf(commit)
	if err != nil {
		return nil, err
	}
	if l := r.listings[tree]; l != nil {
		return l, nil
	}
	l, err := o.list(tree)
	if err != nil {
		return nil, fmt.Errorf("%s remote '%s': %w", r.role, redactURL(r.id), err)
	}
	if len(r.listings) >= maxListings {
		r.listings = map[plumbing.Hash]*listing{}
	}
	r.listings[tree] = l
	return l, nil
}

// blob writes the content of a file below the cache, once, and returns its path.
func (r *repo) blob(st *state, h plumbing.Hash) (string, error) {
	name := h.String()
	path := filepath.Join(r.dir, "blobs", name[:2], name[2:])
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.open(st)
	if err != nil {
		return "", err
	}
	return path, o.write(h, path, 0o600)
}

// write puts a file beside its place and moves it there when it is whole.
func (o *objects) write(h plumbing.Hash, path string, mode fs.FileMode) (err error) {
	defer rescue(&err)
	obj, err := o.store.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return fmt.Errorf("object %s: %w", h, err)
	}
	if obj.Size() > maxBlob {
		return fmt.Errorf("file %s has %d bytes, and %d are the most", h, obj.Size(), maxBlob)
	}
	r, err := obj.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), wholefile.TempPrefix)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, obj.Size()+1))
	if err == nil && n != obj.Size() {
		err = fmt.Errorf("file %s has %d bytes instead of %d", h, n, obj.Size())
	}
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
