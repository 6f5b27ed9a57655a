package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrForeignLink means that a path contains a symbolic link of a user other than root and this process's user. A user
// who can change a directory in which root works must not be able to redirect root.
var ErrForeignLink = errors.New("a symbolic link of another user is not followed")

const (
	maxLinks = 40 // like the kernel
	onlyLook = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
)

// openOwn opens a file or a directory to inspect it or to change its owner, but not to read it. It follows only
// symbolic links of root and of this process's user. The caller closes the file.
func openOwn(path string) (*os.File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	at, err := unix.Open("/", onlyLook, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: "/", Err: err}
	}
	rest := parts(path)
	for links := 0; len(rest) > 0; {
		next, target, err := step(at, rest[0])
		if err != nil {
			_ = unix.Close(at)
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		rest = rest[1:]
		if next >= 0 {
			_ = unix.Close(at)
			at = next
			continue
		}
		if links++; links > maxLinks {
			_ = unix.Close(at)
			return nil, &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(target) {
			_ = unix.Close(at)
			if at, err = unix.Open("/", onlyLook, 0); err != nil {
				return nil, &fs.PathError{Op: "open", Path: path, Err: err}
			}
		}
		rest = append(parts(target), rest...)
	}
	return os.NewFile(uintptr(at), path), nil
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// step opens a name in a directory. If the name is a link, it returns the link's target, and -1 for next.
func step(at int, name string) (next int, target string, err error) {
	next, err = unix.Openat(at, name, onlyLook, 0)
	if err != nil {
		return -1, "", err
	}
	var st unix.Stat_t
	if err = unix.Fstat(next, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return next, "", err
	}
	defer func() { _ = unix.Close(next) }()
	if st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return -1, "", ErrForeignLink
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(next, "", buf)
	if err != nil {
		return -1, "", err
	}
	return -1, string(buf[:n]), nil
}

// Give changes the owner of a file or directory; -1 leaves the user or group. Unlike Salt: it resolves no name twice,
// follows no links of other users, and does not change a file that has several names, because it may belong to anybody.
func Give(path string, uid, gid int) error {
	f, err := openOwn(path)
	if err != nil {
		return fmt.Errorf("give to user %d: %w", uid, err)
	}
	defer func() { _ = f.Close() }()
	return giveOpened(f, uid, gid)
}

func giveOpened(f *os.File, uid, gid int) error {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 {
		err = unix.EMLINK
	}
	if err == nil {
		err = unix.Fchownat(int(f.Fd()), "", uid, gid, unix.AT_EMPTY_PATH)
	}
	if err != nil {
		return &fs.PathError{Op: "chown", Path: f.Name(), Err: err}
	}
	return nil
}

// setMode changes the mode of a directory that openOwn reaches.
func setMode(path string, mode fs.FileMode) error {
	f, err := openOwn(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fd, err := unix.Openat(int(f.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // fchmod does not work on f
	if err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Fchmod(fd, uint32(mode.Perm())); err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	return nil
}

// asPath is a name of an open file that no other process can redirect.
func asPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
