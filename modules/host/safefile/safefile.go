// Package safefile changes files, links and directories where other users may write, too. A name is found from open
// directory to open directory: a symbolic link that another user has made leads only to what is that user's as well, or
// is an error (ErrLink). A file is written beside its place, gets its owner and its mode before anybody else can read
// it, and is moved there whole; a directory tree is removed without leaving it by a link.
//
// The package asks nobody and keeps nothing. What it does is done in the name of the user of this process, who is
// trusted, as root is. Errors are those of the system; a caller gives them Python's words. It answers to copyfile,
// backup_minion and rm_rf of salt/utils/files.py.
package safefile

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLink means that a link of another user leads out of what is that user's.
var ErrLink = errors.New("a link of another user leads there")

// Place is a name in an open directory. What is done to it is done in that directory, wherever that is moved.
type Place struct {
	Path string // as it was asked for
	Name string // the last part; "." for a root or what ends in ".."
	dir  int
}

// Close closes the directory.
func (p *Place) Close() { _ = unix.Close(p.dir) }

// most is how many links are followed on a way (linux/namei.h).
const most = 40

// At opens the directory that a path is in, by its last part. follow says that a link in the place is followed, too:
// the Place is that of what it leads to, which need not be there.
func At(name string, follow bool) (*Place, error) {
	if !path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return nil, &os.PathError{Op: "open", Path: name, Err: unix.EINVAL}
	}
	if p := direct(name, follow); p != nil {
		return p, nil
	}
	w := &way{left: parts(name)}
	p, err := w.follow(name, follow)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return p, nil
}

// direct is the place where no link is on the way, and none in the place if links are followed; else nil.
func direct(name string, follow bool) *Place {
	dir, last := path.Split(strings.TrimRight(name, "/"))
	if last == "" || last == "." || last == ".." {
		return nil
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil { // also where the kernel is too old
		return nil
	}
	p := &Place{name, last, fd}
	if follow {
		if st, err := p.Stat(); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			p.Close()
			return nil
		}
	}
	return p
}

func parts(name string) []string {
	var out []string
	for _, part := range strings.Split(name, "/") {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	return out
}

// way is what is left of a path, and which users' links were followed on it.
type way struct {
	fd    int
	left  []string
	links int
	by    []uint32 // other users
}

// follow goes along the path to its last part.
func (w *way) follow(name string, follow bool) (p *Place, err error) {
	if w.fd, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	last := "."
	for err == nil && len(w.left) > 0 {
		part := w.left[0]
		w.left = w.left[1:]
		if len(w.left) > 0 || part == ".." {
			err = w.into(part)
			continue
		}
		last = part
		if follow && w.isLink(part) {
			last, err = ".", w.through(part)
		}
	}
	if err == nil {
		err = w.judged()
	}
	if err != nil {
		_ = unix.Close(w.fd)
		return nil, err
	}
	return &Place{name, last, w.fd}, nil
}

func (w *way) isLink(part string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(w.fd, part, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// into enters a directory, or follows a link.
func (w *way) into(part string) error {
	if w.isLink(part) {
		return w.through(part)
	}
	return w.enter(w.fd, part)
}

func (w *way) enter(at int, part string) error {
	fd, err := unix.Openat(at, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_ = unix.Close(w.fd)
	w.fd = fd
	return nil
}

// through puts what a link leads to in front of what is left.
func (w *way) through(part string) error {
	if w.links++; w.links > most {
		return unix.ELOOP
	}
	fd, err := unix.Openat(w.fd, part, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", target)
	if err != nil {
		return err
	}
	if !trusted(st.Uid) {
		w.by = append(w.by, st.Uid)
	}
	to := string(target[:n])
	w.left = append(parts(to), w.left...)
	if strings.HasPrefix(to, "/") {
		return w.enter(unix.AT_FDCWD, "/")
	}
	return nil
}

func trusted(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }

// judged is an error where a link of another user was followed to a directory that is not that user's.
func (w *way) judged() error {
	if len(w.by) == 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil {
		return err
	}
	for _, uid := range w.by {
		if uid != st.Uid {
			return fmt.Errorf("%w: it is of user %d, and the directory of user %d", ErrLink, uid, st.Uid)
		}
	}
	return nil
}

// Stat is what stands in the place; links are not followed.
func (p *Place) Stat() (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(p.dir, p.Name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return st, p.wrong("stat", err)
	}
	return st, nil
}

// open opens what stands in the place, to look at it and to change it (O_PATH).
func (p *Place) open() (fd int, err error) {
	fd, err = unix.Openat(p.dir, p.Name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, p.wrong("open", err)
	}
	return fd, nil
}

func (p *Place) wrong(op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: p.Path, Err: err}
}
