package keys

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/wire/disk/wholefile"
)

// dropName is the file in cachedir that asks the master for a new AES key; the wanted master's id is its text.
const (
	dropName = ".dfn"
	dropMode = 0o400
)

// WriteDrop asks the master that works on cacheDir for a new AES key. A request that is there already stays.
func WriteDrop(cacheDir, masterID string, uid *int) error {
	path := filepath.Join(cacheDir, dropName)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err := wholefile.Write(path, []byte(masterID), wholefile.Options{Mode: dropMode, UID: uid}); err != nil {
		return fmt.Errorf("ask for a new AES key: %w", err)
	}
	return nil
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
