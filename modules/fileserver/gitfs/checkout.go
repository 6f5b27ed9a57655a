package gitfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/wire/disk/wholefile"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits of one tree that is written out.
const (
	maxCheckoutFiles = 200_000
	maxCheckoutBytes = 1 << 30
)

func hashOf(text string) plumbing.Hash { return plumbing.NewHash(text) }

// checkout writes the tree of a commit below the cache, once, and returns its folder. It is never changed afterwards,
// so who compiles a pillar sees one commit, whatever is fetched meanwhile. Links that lead out of the tree are left
// out.
func (r *repo) checkout(st *state, commit plumbing.Hash) (string, error) {
	l, err := r.list(st, commit)
	if err != nil || l == nil {
		return "", errors.Join(err, errIf(l == nil, errNoCommit))
	}
	name := l.tree.String()
	dir := filepath.Join(r.dir, "trees", name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.used = map[string]time.Time{}
	}
	r.used[name] = time.Now()
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	o, err := r.open(st)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), wholefile.TempPrefix)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp) // it has gone by then, or is not whole
	if err := o.export(l, temp); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if info, bad := os.Lstat(dir); bad != nil || !info.IsDir() {
			return "", err
		}
	}
	return dir, nil
}

// export writes all files of a tree into a folder. No name of a tree can lead out of it (parseTree), and no link is
// there while files are written.
func (o *objects) export(l *listing, dir string) error {
	if len(l.entries) > maxCheckoutFiles {
		return fmt.Errorf("the tree has %d names, and %d are the most", len(l.entries), maxCheckoutFiles)
	}
	var sum int64
	for _, name := range sortedKeys(l.entries) {
		e := l.entries[name]
		full := filepath.Join(dir, name)
		switch e.mode & modeKind {
		case modeDir:
			if err := os.MkdirAll(full, 0o700); err != nil {
				return err
			}
		case modeFile:
			size, err := o.size(e.hash)
			if sum += size; err != nil || sum > maxCheckoutBytes {
				return fmt.Errorf("file %s: %d bytes in all, and %d are the most: %w", name, sum, maxCheckoutBytes, err)
			}
			mode := os.FileMode(0o600)
			if e.mode&0o100 != 0 {
				mode = 0o700
			}
			if err := o.write(e.hash, full, mode); err != nil {
				return err
			}
		}
	}
	for _, name := range sortedKeys(l.targets) {
		if staysInside(name, l.targets[name]) {
			if err := os.Symlink(l.targets[name], filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// staysInside tells whether a link can only lead to something in its tree, whatever other links there are: it climbs
// first, no higher than the top, and then goes down.
func staysInside(name, target string) bool {
	if target == "" || strings.HasPrefix(target, "/") || strings.Contains(target, "\x00") {
		return false
	}
	up, down := 0, false
	for _, part := range strings.Split(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if down {
				return false
			}
			up++
		default:
			down = true
		}
	}
	return up <= strings.Count(name, "/")
}
