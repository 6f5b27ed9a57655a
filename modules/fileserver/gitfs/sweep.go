package gitfs

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Contents of files that were asked for are kept below blobs until nobody has asked for a day, so those of commits that
// a force-push has thrown away go; and they take no more than so much room, except for what was asked for within the
// hour. One that is wanted again is written again.
const (
	blobAge    = 24 * time.Hour
	blobRest   = time.Hour
	maxBlobs   = 2 << 30          // bytes
	blobTouch  = 10 * time.Minute // how exactly it is known when a file was asked for last
	sweepEvery = time.Hour
)

// kept tells whether the content of a file is there, and notes on the file itself that it was asked for: other
// processes of this master sweep, too.
func kept(path string, now time.Time) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if now.Sub(info.ModTime()) < blobTouch && now.After(info.ModTime().Add(-blobTouch)) {
		return true
	}
	return os.Chtimes(path, time.Time{}, now) == nil // else it was swept just now
}

// again opens a file that was swept after it was found, and writes it anew for that. One whose objects have gone is no
// longer there.
func (r *repo) again(rel string) (*os.File, error) {
	name := filepath.Dir(rel) + filepath.Base(rel)
	if len(name) != 40 || !isHex(name) {
		return nil, fs.ErrNotExist
	}
	st, path := r.state(), filepath.Join(r.dir, "blobs", rel)
	r.mu.Lock() // which holds up who sweeps
	defer r.mu.Unlock()
	if file, err := openPlain(path); err == nil {
		return file, nil
	}
	o, err := r.open(st)
	if err != nil || o.write(plumbing.NewHash(name), path, 0o600) != nil { // a new state need not have it
		return nil, fs.ErrNotExist
	}
	return openPlain(path)
}

// stored is a file below blobs.
type stored struct {
	path  string
	size  int64
	asked time.Time
}

// sweepBlobs removes contents of files by the rules above; room is how many bytes may stay. It is done by the process
// that holds the lock of an update. Who reads one that is open goes on reading.
func (r *repo) sweepBlobs(now time.Time, room int64) error {
	var all []stored
	var sum int64
	err := filepath.WalkDir(filepath.Join(r.dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		all = append(all, stored{path, info.Size(), info.ModTime()})
		sum += info.Size()
		return nil
	})
	slices.SortFunc(all, func(a, b stored) int { return cmp.Or(a.asked.Compare(b.asked), cmp.Compare(a.path, b.path)) })
	for _, s := range all {
		idle := now.Sub(s.asked)
		if idle <= blobRest || idle <= blobAge && sum <= room {
			break
		}
		gone, bad := r.removeBlob(s)
		err = errors.Join(err, bad)
		if !gone {
			continue
		}
		sum -= s.size
	}
	return err
}

// removeBlob removes a file that nobody has asked for meanwhile.
func (r *repo) removeBlob(s stored) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if info, err := os.Lstat(s.path); err != nil || !info.ModTime().Equal(s.asked) {
		return false, nil
	}
	err := os.Remove(s.path)
	return err == nil, ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
