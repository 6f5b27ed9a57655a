// Package setaside takes a damaged file out of the way and keeps it: whoever wants to know what was in it can look. It
// deletes nothing. Every package may import it; it imports none of ours.
package setaside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Mark is in the names of files that were set aside: PATH.damaged-TIME.
const Mark = ".damaged-"

// Folder is where damaged files are put, below a cache directory, that may not stay beside others.
const Folder = "damaged"

// Is tells whether a name is that of a file that was set aside.
func Is(name string) bool { return strings.Contains(filepath.Base(name), Mark) }

// Move renames a damaged file. It returns the new name, which no other file has.
func Move(path string, now time.Time) (to string, err error) {
	return To(path, filepath.Dir(path), now)
}

// To is Move into a folder of the same file system, which is made if it is not there.
func To(path, dir string, now time.Time) (to string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("set aside: %w", err)
	}
	if to, err = Keep(path, dir, now); err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil {
		return "", fmt.Errorf("set aside: %w", errors.Join(err, os.Remove(to)))
	}
	return to, nil
}

// Keep gives a damaged file a second name in a folder, for one whose place another file takes by a rename. It needs no
// room for the content.
func Keep(path, dir string, now time.Time) (to string, err error) {
	base := filepath.Join(dir, filepath.Base(path)) + Mark + now.UTC().Format("20060102150405")
	to = base
	for n := 2; ; n++ {
		err := os.Link(path, to)
		switch {
		case err == nil:
			return to, nil
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("set aside: %w", err)
		}
		to = fmt.Sprintf("%s-%d", base, n)
	}
}

// Damage is what is told of a damaged file.
type Damage struct {
	Path string
	Kept string // where it is now; "": it stands where it was, for Err says why it could not be moved
	Err  error  // what is wrong with it, and what is lost
}

// Text is the line of the log that tells of a Damage. The attributes are path, kept and err.
const Text = "a file is damaged: it was put aside, and what is whole in it is used"

// Attrs are the attributes of that line.
func (d Damage) Attrs() []any { return []any{"path", d.Path, "kept", d.Kept, "err", d.Err} }
