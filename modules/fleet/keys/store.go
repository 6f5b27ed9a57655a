package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/wire/disk/wholefile"
)

// Modes of what the store makes: salt.cache.localfs_key writes through mkstemp, and the folders are private.
const (
	keyMode = 0o600
	dirMode = 0o700
)

// Options say where the keys are and whose.
type Options struct {
	Dir       string // pki_dir, or cluster_pki_dir of a cluster
	MasterDir string // folder of the master's own keys; Dir when empty
	UID       *int   // owner of the files made here; nil leaves them to this process' user
}

// Store reads and writes the key folders. It is safe for concurrent use, by other processes too: a key is
// written beside its place and renamed, and a change of status is one rename for every reader.
type Store struct {
	opt   Options
	lists map[Status]*folder
	local *folder
}

// NewStore opens the tree at o.Dir. Nothing is touched until the first call.
func NewStore(o Options) *Store {
	if o.MasterDir == "" {
		o.MasterDir = o.Dir
	}
	s := &Store{opt: o, lists: map[Status]*folder{}}
	for _, st := range order {
		s.lists[st] = newFolder(filepath.Join(o.Dir, string(st)), visible)
	}
	s.local = newFolder(o.MasterDir, isKeyFile)
	return s
}

// Folder is where the keys of a status lie.
func (s *Store) Folder(st Status) string {
	if st == Local {
		return s.opt.MasterDir
	}
	return filepath.Join(s.opt.Dir, string(st))
}

// place is the file of a key: the one way from a status and an id to the disk. A status that is none, or an id that is
// no name of a file, is an error, and so no caller leaves the folders of keys.
func (s *Store) place(st Status, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if st == Local {
		return filepath.Join(s.opt.MasterDir, id), nil
	}
	if !slices.Contains(order[:], st) {
		return "", fmt.Errorf("%w: %q", ErrInvalidStatus, string(st))
	}
	return filepath.Join(s.opt.Dir, string(st), id), nil
}

// minionPlace is place for what is written or removed: the master's own keys are not.
func (s *Store) minionPlace(st Status, id string) (string, error) {
	if st == Local {
		return "", fmt.Errorf("%w: %q", ErrInvalidStatus, string(st))
	}
	return s.place(st, id)
}

// Get looks an id up as 3008 does: rejected, then pending, then accepted. It returns the status and the key's
// text with line ends as "\n", or "" and "" when the id has none of these. Denied keys are apart: see Read.
func (s *Store) Get(id string) (Status, string, error) {
	for _, st := range [...]Status{Rejected, Pending, Accepted} {
		pub, ok, err := s.Read(st, id)
		if err != nil || ok {
			return st, pub, err
		}
	}
	return "", "", nil
}

// Read returns the key of one status. A symbolic link, a folder and a missing file are no key.
func (s *Store) Read(st Status, id string) (pub string, ok bool, err error) {
	path, err := s.place(st, id)
	if err != nil {
		return "", false, err
	}
	info, err := os.Lstat(path)
	if absent(err) || err == nil && !info.Mode().IsRegular() {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look at %s key of %s: %w", st.State(), id, err)
	}
	text, err := os.ReadFile(path)
	if absent(err) {
		return "", false, nil // moved or deleted since the look
	}
	if err != nil {
		return "", false, fmt.Errorf("read %s key of %s: %w", st.State(), id, err)
	}
	return unixLines(string(text)), true, nil
}

// Has tells whether id has a key of that status, without reading it.
func (s *Store) Has(st Status, id string) bool {
	path, err := s.place(st, id)
	if err != nil {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// IsFolder tells whether a folder stands where id's key of that status would be: old masters refuse such an id.
func (s *Store) IsFolder(st Status, id string) bool {
	path, err := s.place(st, id)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Put gives id the key pub with that status. Of Accepted, Pending and Rejected an id has one at a time: the new
// file is in place before the others go, and lookups see the stricter one until then. Denied stands beside. Pending
// takes no other away: what an operator has decided meanwhile stands.
func (s *Store) Put(st Status, id, pub string) error {
	path, err := s.minionPlace(st, id)
	if err != nil {
		return err
	}
	if err := s.write(st, path, pub); err != nil {
		return fmt.Errorf("store %s key of %s: %w", st.State(), id, err)
	}
	if st == Denied || st == Pending {
		return nil
	}
	return s.removeOthers(st, id)
}

// removeOthers leaves of Accepted, Pending and Rejected that one at most.
func (s *Store) removeOthers(st Status, id string) error {
	for _, other := range [...]Status{Accepted, Pending, Rejected} {
		if other != st {
			if _, err := s.Remove(other, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove deletes the key of one status and tells whether there was one.
func (s *Store) Remove(st Status, id string) (bool, error) {
	path, err := s.minionPlace(st, id)
	if err != nil {
		return false, err
	}
	err = os.Remove(path)
	switch {
	case err == nil:
		return true, nil
	case absent(err), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTEMPTY):
		return false, nil
	}
	return false, fmt.Errorf("remove %s key of %s: %w", st.State(), id, err)
}

// TakeAutosign removes the autosign stub of id and tells whether there was one younger than maxAge. Older stubs
// of every id are removed as well; a maxAge of 0 or less keeps them for ever.
func (s *Store) TakeAutosign(id string, maxAge time.Duration, now time.Time) (bool, error) {
	if err := checkID(id); err != nil {
		return false, err
	}
	dir := filepath.Join(s.opt.Dir, autosignDir)
	if maxAge > 0 {
		if err := expireStubs(dir, now.Add(-maxAge)); err != nil {
			return false, err
		}
	}
	err := os.Remove(filepath.Join(dir, id))
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take autosign stub of %s: %w", id, err)
	}
	return true, nil
}

func expireStubs(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if absent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read autosign stubs: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !absent(err) {
			return fmt.Errorf("remove expired autosign stub: %w", err)
		}
	}
	return nil
}

// write puts a key in place by rename. Keys an operator or a policy decided on are flushed to the disk first:
// an empty accepted key after a power cut would lock its minion out.
func (s *Store) write(st Status, path, pub string) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	return replaceFile(path, []byte(pub), keyMode, s.opt.UID, st != Pending && st != Denied)
}

// replaceFile writes a file of the store.
func replaceFile(path string, data []byte, mode fs.FileMode, uid *int, flush bool) error {
	return wholefile.Write(path, data, wholefile.Options{Mode: mode, UID: uid, Sync: flush})
}

// absent covers every way a name can lead to no file, one too long for the file system included.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// unixLines turns "\r\n" and "\r" into "\n", as Python does for text files.
func unixLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
