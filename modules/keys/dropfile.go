package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// dropName is the file in cachedir that asks the master for a new AES key; the wanted master's id is its text.
const (
	dropName     = ".dfn"
	dropNextName = ".dfn-next"
	dropMode     = 0o400
)

// WriteDrop asks the master that works on cacheDir for a new AES key. A request that is there already stays.
func WriteDrop(cacheDir, masterID string, uid *int) error {
	path := filepath.Join(cacheDir, dropName)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return nil
	}
	next := filepath.Join(cacheDir, dropNextName)
	if err := os.Remove(next); err != nil && !absent(err) {
		return fmt.Errorf("ask for a new AES key: %w", err)
	}
	err := writeDrop(next, masterID, uid)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return fmt.Errorf("ask for a new AES key: %w", err)
	}
	return nil
}

// writeDrop makes the file; nothing that stands in its place is written to.
func writeDrop(path, masterID string, uid *int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, dropMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(masterID)
	if err == nil {
		err = f.Chmod(dropMode) // whatever the umask
	}
	if err == nil && uid != nil {
		_ = f.Chown(*uid, -1) // as Salt: an owner that cannot be set is no reason to fail
	}
	return errors.Join(err, f.Close())
}

// TakeDrop looks for a request for a new AES key that is meant for masterID and removes it. The file counts
// only with mode 0400; it names the master, or is empty as 3006 leaves it. bad tells of a file with another
// mode, which is left alone.
func TakeDrop(cacheDir, masterID string) (asked, bad bool, err error) {
	path := filepath.Join(cacheDir, dropName)
	info, err := os.Lstat(path)
	if absent(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("look for a key rotation request: %w", err)
	}
	if info.Mode() != dropMode {
		return false, true, nil
	}
	text, err := os.ReadFile(path)
	if absent(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read key rotation request: %w", err)
	}
	if len(text) > 0 && string(text) != masterID {
		return false, false, nil
	}
	if err := os.Remove(path); err != nil && !absent(err) {
		return false, false, fmt.Errorf("remove key rotation request: %w", err)
	}
	return true, false, nil
}
