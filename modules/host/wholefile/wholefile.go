// Package wholefile writes files that readers find whole or not at all: beside their place, under a name that nothing
// else has, and then moved there. Every package may import it (the import table says so); it imports none of ours.
package wholefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// TempPrefix begins the names of files that are being written. No lister of keys, jobs or options shows it.
const TempPrefix = ".brine-"

// Options say how a file is written.
type Options struct {
	Mode     fs.FileMode // whatever the umask; 0 is 0600
	Umask    bool        // what the umask forbids is taken from Mode
	KeepMode bool        // a file that is replaced, or that the link in its place leads to, keeps its mode
	UID      *int        // owner; a process that may not give files away keeps them
	Sync     bool        // the content is on the disk before the name leads to it
	Follow   bool        // a symbolic link in the place stays, and what it leads to is replaced
	Temp     string      // folder of the unfinished file, on the same file system; "" is the file's own
	New      bool        // a name that is taken, by a link that leads nowhere too, is fs.ErrExist
}

// Write puts data into the file at path. After an error the old content stands, and nothing is left behind. Write follows
// no link but for Options.Follow, and the folder must be there.
func Write(path string, data []byte, o Options) (err error) {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	if real, err := filepath.EvalSymlinks(path); o.Follow && err == nil {
		path = real
	}
	if info, err := os.Stat(path); o.KeepMode && err == nil && info.Mode().IsRegular() {
		o.Mode = info.Mode().Perm()
	}
	if o.Temp == "" {
		o.Temp = filepath.Dir(path)
	}
	first := fs.FileMode(0o600)
	if o.Umask {
		first = o.Mode
	}
	temp := filepath.Join(o.Temp, TempPrefix+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, first)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f, data, o), f.Close())
	switch {
	case err != nil:
	case o.New:
		err = os.Link(temp, path)
	default:
		if err = os.Rename(temp, path); err == nil {
			return nil
		}
	}
	return errors.Join(err, os.Remove(temp))
}

// fill writes the content and gives the file its owner and mode.
func fill(f *os.File, data []byte, o Options) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if o.UID != nil { // before the mode, which a change of owner can touch
		if err := f.Chown(*o.UID, -1); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EINVAL) {
			return err
		}
	}
	if !o.Umask {
		if err := f.Chmod(o.Mode); err != nil {
			return err
		}
	}
	if !o.Sync {
		return nil
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}
