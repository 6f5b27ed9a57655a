package minion

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxName bounds file names made of names from outside, in bytes.
const maxName = 128

// safeName makes a jid a file name and an actor name; jids come from outside.
func safeName(jid string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, jid)
	if strings.Trim(name, ".") == "" {
		name = strings.Repeat("_", max(1, len(name)))
	}
	return name[:min(len(name), maxName)]
}

// tmpSuffix marks a file that is being written.
const tmpSuffix = ".tmp"

// writeFile writes a file beside its place and renames it; the directory is made where it is missing. The file
// is safe against the death of this process, not against that of the host.
func writeFile(path string, b []byte, mode os.FileMode) error {
	tmp := path + tmpSuffix
	err := os.WriteFile(tmp, b, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(tmp, b, mode)
		}
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return nil
}

func removeIfThere(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
