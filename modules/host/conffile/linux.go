package conffile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/wire/disk/wholefile"

	"golang.org/x/sys/unix"
)

// maxLinks is how many links may be on the way, as for the kernel.
const maxLinks = 40

// nobody is the owner of no link.
const nobody = -1

// place is a name in a folder that is held open.
type place struct {
	path  string // as the caller wrote it
	dir   int
	base  string
	owner int64        // of a link on the way that is not to be trusted; nobody
	old   *unix.Stat_t // what is there; nil: nothing
}

func (p *place) wrong(op string, err error) error {
	return &fs.PathError{Op: op, Path: p.path, Err: err}
}

func (p *place) close() { _ = unix.Close(p.dir) }

// locate goes the way to a file.
func locate(path string) (*place, error) {
	p := &place{path: path, dir: -1, owner: nobody}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, "/") {
		return nil, p.wrong("open", unix.EISDIR)
	}
	if err = p.walk(full); err == nil {
		err = p.check()
	}
	if err != nil {
		if p.dir >= 0 {
			p.close()
		}
		return nil, p.wrong("open", err)
	}
	return p, nil
}

// walk goes from the root to the folder of the file, through all links.
func (p *place) walk(full string) error {
	rest, links := strings.Split(full, "/"), 0
	if err := p.enterRoot(); err != nil {
		return err
	}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		target, err := p.step(name, len(rest) == 0)
		if err != nil || target == "" {
			if err != nil {
				return err
			}
			continue
		}
		if links++; links > maxLinks {
			return unix.ELOOP
		}
		if target[0] == '/' {
			if err := p.enterRoot(); err != nil {
				return err
			}
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return nil
}

func (p *place) enterRoot() error {
	dir, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	p.enter(dir)
	return nil
}

func (p *place) enter(dir int) {
	if p.dir >= 0 {
		p.close()
	}
	p.dir = dir
}

// step goes into a folder, or stays before the last name. For a link it gives its target.
func (p *place) step(name string, last bool) (target string, err error) {
	if last {
		p.base, p.old = name, nil
	}
	fd, err := unix.Openat(p.dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if last && errors.Is(err, unix.ENOENT) {
			return "", nil
		}
		return "", err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		switch kind := st.Mode & unix.S_IFMT; {
		case kind == unix.S_IFLNK:
			target, err = p.follow(fd, &st)
		case last:
			p.old = &st
		case kind == unix.S_IFDIR:
			p.enter(fd)
			return "", nil
		default:
			err = unix.ENOTDIR
		}
	}
	_ = unix.Close(fd)
	return target, err
}

// follow reads a link, and remembers whose it is.
func (p *place) follow(fd int, st *unix.Stat_t) (string, error) {
	if st.Uid != 0 && int64(st.Uid) != int64(os.Geteuid()) {
		if p.owner != nobody && p.owner != int64(st.Uid) {
			return "", ErrForeignLink
		}
		p.owner = int64(st.Uid)
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err == nil && n == 0 {
		err = unix.ENOENT
	}
	return string(buf[:max(n, 0)]), err
}

// check looks at what a link of another user leads to.
func (p *place) check() error {
	if p.base == "" || p.base == ".." {
		return unix.EISDIR
	}
	if p.old != nil {
		switch p.old.Mode & unix.S_IFMT {
		case unix.S_IFREG:
		case unix.S_IFDIR:
			return unix.EISDIR
		default:
			return ErrNotPlain
		}
	}
	if p.owner == nobody {
		return nil
	}
	st := p.old
	if st == nil {
		st = &unix.Stat_t{}
		if err := unix.Fstat(p.dir, st); err != nil {
			return err
		}
	}
	if int64(st.Uid) != p.owner {
		return ErrForeignLink
	}
	return nil
}

func (p *place) open(name string, how int, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(p.dir, name, how|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, mode)
	if err != nil {
		return nil, p.wrong("open", err)
	}
	return os.NewFile(uintptr(fd), p.path), nil
}

func read(path string) ([]byte, error) {
	p, err := locate(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.open(p.base, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func write(path string, text []byte) error {
	p, err := locate(path)
	if err != nil {
		return err
	}
	defer p.close()
	temp := wholefile.TempPrefix + rand.Text()
	f, err := p.open(temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = p.dress(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		if err = unix.Renameat(p.dir, temp, p.dir, p.base); err == nil {
			return nil
		}
	}
	_ = unix.Unlinkat(p.dir, temp, 0)
	if errors.Is(err, unix.EBUSY) {
		return p.overwrite(text)
	}
	return p.wrong("write", err)
}

// dress gives the new file what the old one has: owner, mode, labels.
func (p *place) dress(f *os.File) error {
	if p.old == nil {
		return f.Chmod(newMode)
	}
	if int(p.old.Uid) != os.Geteuid() || int(p.old.Gid) != os.Getegid() {
		if err := f.Chown(int(p.old.Uid), int(p.old.Gid)); err != nil {
			return err
		}
	}
	if err := unix.Fchmod(int(f.Fd()), p.old.Mode&0o7777); err != nil {
		return err
	}
	old, err := p.open(p.base, unix.O_RDONLY, 0)
	if err != nil {
		return nil // a file that cannot be read keeps no label
	}
	defer old.Close()
	for _, label := range []string{"security.selinux", "system.posix_acl_access"} {
		value := make([]byte, 4096)
		if n, err := unix.Fgetxattr(int(old.Fd()), label, value); err == nil && n > 0 {
			_ = unix.Fsetxattr(int(f.Fd()), label, value[:n], 0) // the mode stands without it
		}
	}
	return nil
}

// overwrite writes into a file that no other can take the place of: one that is a mount, as /etc/hosts of a container.
func (p *place) overwrite(text []byte) error {
	f, err := p.open(p.base, unix.O_WRONLY|unix.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
