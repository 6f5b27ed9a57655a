package datacache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
)

// Banks is the data cache: values under bank and key, in the files of Salt's localfs driver. BANK/KEY is
// cachedir/BANK/KEY.p, a msgpack file that is replaced as a whole.
type Banks struct {
	dir    string
	told   func(setaside.Damage) // nil: this process does not own the cache, and moves nothing
	fields fieldCache
	turns  turns
}

// unfinished tells the name of a file that is being written, by this program or by Salt.
func unfinished(name string) bool {
	return strings.HasPrefix(name, wholefile.TempPrefix) || strings.HasPrefix(name, ".___atomic_write")
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// staleAge is when a file that is being written counts as left behind by a killed process.
const staleAge = time.Hour

// Own says that this process may set aside what is damaged, and whom it tells. It is called before anything else.
func (b *Banks) Own(told func(setaside.Damage)) { b.told = told }

// damaged sets a file aside, in a folder that is no bank: minions send again what stood there. It tells whether it did.
func (b *Banks) damaged(file string, why error) bool {
	if b.told == nil {
		return false
	}
	kept, err := setaside.To(file, filepath.Join(b.dir, setaside.Folder), time.Now())
	b.told(setaside.Damage{Path: file, Kept: kept, Err: errors.Join(why, err)})
	return err == nil
}

// OpenBanks opens the data cache in a master's cachedir and removes what a killed process left half written.
func OpenBanks(cacheDir string) (*Banks, error) {
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return nil, fmt.Errorf("open data cache: %w", err)
	}
	entries, err := os.ReadDir(cacheDir)
	if err != nil {
		return nil, fmt.Errorf("open data cache: %w", err)
	}
	for _, e := range entries {
		if !unfinished(e.Name()) {
			continue
		}
		file := filepath.Join(cacheDir, e.Name())
		if info, err := os.Lstat(file); err != nil || time.Since(info.ModTime()) < staleAge {
			continue
		}
		if err := removeIfThere(file); err != nil {
			return nil, fmt.Errorf("open data cache: %w", err)
		}
	}
	return &Banks{dir: cacheDir}, nil
}

// AttachBanks is OpenBanks for a tool beside a running master: nothing is made, and nothing removed that the master
// may just be writing.
func AttachBanks(cacheDir string) *Banks { return &Banks{dir: cacheDir} }

// notBanks are the folders and files of cachedir that hold no data cache: what stands there is a secret, or a record of
// jobs. Unlike Salt: its cache runner lists the tokens of everybody, and flushes the jobs.
var notBanks = []string{"tokens", "sessions", "jobs", jobstore.StoreFile, jobstore.NotesFile, "proc", "publish_auth",
	"syndics", "queues", "health", "extmods", setaside.Folder}

// path is the file or directory of a bank or key. Names may hold "/", but must stay inside the cache.
func (b *Banks) path(bank, key string) (string, error) {
	rel := bank
	if key != "" {
		rel += "/" + key + ".p"
	}
	if bank == "" || strings.Contains(rel, "\x00") || !filepath.IsLocal(rel) || filepath.Clean(rel) == "." {
		return "", fmt.Errorf("data cache: bank %q, key %q: no file can have that name", bank, key)
	}
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(rel)), "/")
	if strings.HasPrefix(first, ".") || slices.Contains(notBanks, first) {
		return "", fmt.Errorf("data cache: %q is no bank", first)
	}
	return filepath.Join(b.dir, rel), nil
}

// Store puts a value under a key.
func (b *Banks) Store(bank, key string, value any) error {
	file, err := b.path(bank, key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("data cache: %w", err)
	}
	if err := packedfile.Write(file, value, wholefile.Options{Temp: b.dir}); err != nil {
		return fmt.Errorf("data cache: store %s of %s: %w", bank, key, err)
	}
	return nil
}

// Fetch returns the value under a key; nil when there is none. A damaged file is an error that wraps
// packedfile.ErrDamaged.
func (b *Banks) Fetch(bank, key string) (any, error) {
	file, err := b.path(bank, key)
	if err != nil {
		return nil, err
	}
	v, err := packedfile.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, packedfile.ErrDamaged) && b.damaged(file, err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data cache: %w", err)
	}
	return v, nil
}

// List names the entries of a bank in order: keys and banks below it.
func (b *Banks) List(bank string) ([]string, error) {
	names, err := b.entries(bank)
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], ".p")
	}
	return names, err
}

// entries are the names of the files and folders in a bank's folder, in order.
func (b *Banks) entries(bank string) ([]string, error) {
	dir, err := b.path(bank, "")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data cache: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !unfinished(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Contains says whether there is a key, or with an empty key a bank.
func (b *Banks) Contains(bank, key string) bool {
	path, err := b.path(bank, key)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir() == (key == "")
}

// Updated is when a key was last stored; the zero time when there is none.
func (b *Banks) Updated(bank, key string) time.Time {
	path, err := b.path(bank, key)
	if err != nil {
		return time.Time{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Flush removes a key, or with an empty key a whole bank. It says whether there was one.
func (b *Banks) Flush(bank, key string) (bool, error) {
	path, err := b.path(bank, key)
	if err != nil {
		return false, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if key == "" {
		err = os.RemoveAll(path)
	} else {
		err = os.Remove(path)
	}
	if err != nil {
		return false, fmt.Errorf("data cache: flush %s: %w", bank, err)
	}
	return true, nil
}
