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
	// Sole says that nobody else writes at this path: the unfinished file is the path with TempSuffix, and what a
	// process that was killed has left there the next write takes over. Otherwise somebody has to look for such files.
	Sole bool
}

// TempSuffix ends the name of the unfinished file of a Sole writer.
const TempSuffix = ".tmp"

// Write puts data into the file at path. After an error the old content stands, and nothing is left behind. Write
// follows no link but for Options.Follow, and the folder must be there.
func Write(path string, data []byte, o Options) (err error) {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	if o.Follow {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	if o.KeepMode {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			o.Mode = info.Mode().Perm()
		}
	}
	temp, how := o.unfinished(path)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW|how, o.first())
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

// unfinished is the name of the file until it is whole, and how that is opened.
func (o Options) unfinished(path string) (name string, flag int) {
	if o.Sole {
		return path + TempSuffix, os.O_TRUNC
	}
	if o.Temp == "" {
		o.Temp = filepath.Dir(path)
	}
	return filepath.Join(o.Temp, TempPrefix+rand.Text()), os.O_EXCL
}

// first is the mode of the file while it is empty.
func (o Options) first() fs.FileMode {
	if o.Umask {
		return o.Mode
	}
	return 0o600
}

// Create makes a file under its own name at once, for which nobody looks before it is there: that costs one inode less
// to be changed than Write. A name that is taken is fs.ErrExist; what cannot be written whole does not stay. Of the
// options Mode, Umask, UID and Sync count.
func Create(path string, data []byte, o Options) error {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, o.first())
	if err != nil {
		return err
	}
	if err = errors.Join(fill(f, data, o), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// fill writes the content and gives the file its owner and mode.
func fill(f *os.File, data []byte, o Options) error {
	if len(data) > 0 {
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	if o.UID != nil { // before the mode, which a change of owner can touch
		if err := f.Chown(*o.UID, -1); err != nil && !errors.Is(err, fs.ErrPermission) &&
			!errors.Is(err, syscall.EINVAL) {
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
