package gitfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/wire/disk/wholefile"

	"github.com/go-git/go-git/v5/plumbing"
)

// fetch brings what is new of the remote, within its limits of time and size. One that is under way already, or a lock,
// is errLocked. changed tells whether any reference means something else than before.
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
	if now := time.Now(); now.Sub(r.swept).Abs() >= sweepEvery {
		r.swept = now
		err = errors.Join(err, r.sweepBlobs(now, maxBlobs))
	}
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
	w := &work{repo: r, old: old, next: &state{Objects: old.Objects, Whole: old.Whole, Refs: map[string]string{}}}
	if w.next.Objects == "" || w.full() || r.damaged.Swap(false) || !w.sound() {
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

// full tells whether there are too many packs, or far more bytes in them than a whole clone took: what force-pushes
// have thrown away stays in packs, and goes when all is fetched anew into another folder.
func (w *work) full() bool {
	n, size := packsIn(filepath.Join(w.dir, w.old.Objects))
	return n > maxPacks || w.old.Whole > 0 && size > 2*w.old.Whole+w.limits.Spare
}

// packsIn counts the packs in a folder of objects, and their bytes.
func packsIn(dir string) (n int, size int64) {
	found, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*.pack"))
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil {
			size += info.Size()
		}
	}
	return len(found), size
}

// sound tells whether all that is served is there.
func (w *work) sound() bool {
	o := openObjects(filepath.Join(w.dir, w.old.Objects))
	defer func() { _ = o.store.Close() }()
	for _, h := range w.old.Refs {
		if !o.has(plumbing.NewHash(h)) {
			return false
		}
	}
	return true
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

// tags takes, as git does, tags that no refspec names where what they mean is there. A tag with a text is an object of
// its own, and fetched by itself unless the server has sent it along.
func (w *work) tags(ctx context.Context, refs, peeled map[string]plumbing.Hash) error {
	var wants []plumbing.Hash
	for _, name := range sortedKeys(refs) {
		means, ok := peeled[name]
		if !ok {
			means = refs[name]
		}
		if _, taken := w.next.Refs[name]; taken || !strings.HasPrefix(name, "refs/tags/") || !validRef(name) ||
			!w.have.has(means) {
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
	if w.next.Whole == 0 || w.next.Objects != w.old.Objects {
		_, w.next.Whole = packsIn(filepath.Join(w.dir, w.next.Objects))
	}
	raw, err := json.Marshal(w.next)
	if err != nil {
		return false, err
	}
	if err := wholefile.Write(filepath.Join(w.dir, "state"), raw, wholefile.Options{Sync: true,
		Sole: true}); err != nil {
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
