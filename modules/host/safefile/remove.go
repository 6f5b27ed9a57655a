package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Remove removes a file, a link, or a directory with all that is in it. A link is never followed, and what another user
// puts in the place of a directory meanwhile is removed or stays, but is not entered.
func Remove(path string) error {
	p, err := At(path, false)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Remove()
}

// RemoveDir removes a directory that is empty.
func RemoveDir(path string) error {
	p, err := At(path, false)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.wrong("rmdir", unix.Unlinkat(p.dir, p.Name, unix.AT_REMOVEDIR))
}

// deepest is how deeply directories may lie in each other.
const deepest = 10_000

// Remove removes what stands in the place, as the function does.
func (p *Place) Remove() error {
	if p.Name == "." {
		return p.wrong("remove", unix.EBUSY)
	}
	return p.wrong("remove", removeIn(p.dir, p.Name, 0))
}

func removeIn(dir int, name string, depth int) error {
	err := unix.Unlinkat(dir, name, 0)
	if err != unix.EISDIR && err != unix.EPERM { // EPERM: a directory, elsewhere than on Linux's own file systems
		return err
	}
	if errDir := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); errDir == nil {
		return nil
	} else if errDir == unix.ENOTDIR {
		return err
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := empty(fd, depth); err != nil {
		return err
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

// empty removes all that is in a directory, and closes it.
func empty(fd, depth int) error {
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	if depth > deepest {
		return unix.ELOOP
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return bare(err)
	}
	for _, name := range names {
		if err := removeIn(fd, name, depth+1); err != nil && err != unix.ENOENT {
			return err
		}
	}
	return nil
}

// bare is the error of the system in one that names a path.
func bare(err error) error {
	var number unix.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
