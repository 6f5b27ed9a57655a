package safefile

import (
	"crypto/rand"
	"errors"
	"os"
	"strconv"

	"brine/wire/disk/wholefile"

	"golang.org/x/sys/unix"
)

// procName is a name of what is open, in which no other directory counts.
func procName(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Mkdir makes a directory, which has its owner and its mode before others can enter it. Without a mode it has 0777,
// less what the umask forbids.
func Mkdir(path string, a Attrs) error {
	p, err := At(path, false)
	if err != nil {
		return err
	}
	defer p.Close()
	first := uint32(0o700)
	if a.Mode == nil {
		first = 0o777
	}
	if err := unix.Mkdirat(p.dir, p.Name, first); err != nil {
		return p.wrong("mkdir", err)
	}
	if a.Mode == nil && a.Owner == nil {
		return nil
	}
	return p.dress(a)
}

// dress gives owner and mode to what was just made.
func (p *Place) dress(a Attrs) error {
	fd, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return p.setAttrs(fd, a)
}

// Symlink makes a link, or puts one in the place of a link or a file (over), or of a directory with all that is in it
// (overDir). There is no moment without anything in the place.
func Symlink(target, path string, a Attrs, over, overDir bool) error {
	return replacing(path, over, overDir, func(p *Place) error {
		if err := unix.Symlinkat(target, p.dir, p.Name); err != nil {
			return p.wrong("symlink", err)
		}
		return p.dress(Attrs{Owner: a.Owner})
	})
}

// Link makes another name of a file; over as for Symlink. old is not followed.
func Link(old, path string, over bool) error {
	from, err := At(old, false)
	if err != nil {
		return err
	}
	defer from.Close()
	return replacing(path, over, over, func(p *Place) error {
		return p.wrong("link", unix.Linkat(from.dir, from.Name, p.dir, p.Name, 0))
	})
}

// Mknod makes a device or a pipe: kind is S_IFIFO and the like.
func Mknod(path string, kind uint32, device uint64, a Attrs) error {
	p, err := At(path, false)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := unix.Mknodat(p.dir, p.Name, kind|0o600, int(device)); err != nil {
		return p.wrong("mknod", err)
	}
	return p.dress(a)
}

// replacing makes something under a name of its own, and moves it to path. What stood there is removed afterwards.
func replacing(path string, over, overDir bool, create func(p *Place) error) error {
	p, err := At(path, false)
	if err != nil {
		return err
	}
	defer p.Close()
	st, err := p.Stat()
	if errors.Is(err, unix.ENOENT) || err == nil && !over && !overDir {
		return create(p) // which says that the name is taken
	}
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR && !overDir {
		return p.wrong("rename", unix.EISDIR)
	}
	temp := &Place{p.Path, wholefile.TempPrefix + rand.Text(), p.dir}
	if err := create(temp); err != nil {
		return errors.Join(err, temp.discard())
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = p.wrong("rename", unix.Renameat(p.dir, temp.Name, p.dir, p.Name))
		return errors.Join(err, temp.discard()) // of two names of one file, both stay
	}
	if err := p.exchange(temp); err != nil {
		return errors.Join(err, temp.discard())
	}
	return temp.Remove()
}

// discard removes what was made and did not get to its place.
func (p *Place) discard() error {
	if err := unix.Unlinkat(p.dir, p.Name, 0); err != nil && err != unix.ENOENT {
		return p.wrong("remove", err)
	}
	return nil
}

// exchange swaps two names. A file system that cannot do it removes the one in the place first.
func (p *Place) exchange(temp *Place) error {
	err := unix.Renameat2(p.dir, temp.Name, p.dir, p.Name, unix.RENAME_EXCHANGE)
	if err == nil {
		return nil
	}
	if err != unix.EINVAL && err != unix.ENOSYS {
		return p.wrong("rename", err)
	}
	if err := p.Remove(); err != nil {
		return err
	}
	return p.wrong("rename", unix.Renameat(p.dir, temp.Name, p.dir, p.Name))
}

// ErrOtherDisk means that something cannot be renamed from one file system to another.
var ErrOtherDisk = unix.EXDEV

// Rename moves what stands at one path to another, where a file may stand, and a link is replaced.
func Rename(old, path string) error {
	from, err := At(old, false)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := At(path, false)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := unix.Renameat(from.dir, from.Name, to.dir, to.Name); err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: path, Err: err}
	}
	return nil
}

// SetTimes sets the times of access and of change of a file; links are followed. Times are in nanoseconds since 1970.
func SetTimes(path string, access, change int64) error {
	p, err := At(path, true)
	if err != nil {
		return err
	}
	defer p.Close()
	times := []unix.Timespec{unix.NsecToTimespec(access), unix.NsecToTimespec(change)}
	return p.wrong("utime", unix.UtimesNanoAt(p.dir, p.Name, times, unix.AT_SYMLINK_NOFOLLOW))
}
