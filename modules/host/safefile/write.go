package safefile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"brine/wire/disk/wholefile"

	"golang.org/x/sys/unix"
)

// Attrs are owner and mode of a file, as far as they are wanted. The zero Attrs want nothing: a file that is replaced
// hands its own on, and a new one gets what the system gives.
type Attrs struct {
	Owner *Owner
	Mode  *uint32 // with the bits set-uid, set-gid and sticky
}

// Owner is a user and a group by number; -1 is one that stays.
type Owner struct{ UID, GID int }

// Write puts data into the file at path, whole or not at all: after an error the old content stands, and nothing is
// left beside it. follow says that a link in the place stays, and what it leads to is written; otherwise a file takes
// the place of the link. What is no file (a directory, a device) is not replaced.
func Write(path string, data []byte, a Attrs, follow bool) error {
	return WriteFrom(path, bytes.NewReader(data), a, follow)
}

// WriteFrom is Write of all that a reader gives.
func WriteFrom(path string, data io.Reader, a Attrs, follow bool) error {
	p, err := At(path, follow)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.write(data, a)
}

// write puts data into the file in the place, as the function does; a link there is replaced.
func (p *Place) write(data io.Reader, a Attrs) error {
	if err := p.inherit(&a); err != nil {
		return err
	}
	temp := wholefile.TempPrefix + rand.Text()
	first := uint32(0o600)
	if a.Mode == nil {
		first = 0o666
	}
	fd, err := unix.Openat(p.dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, first)
	if err != nil {
		return p.wrong("open", err)
	}
	f := os.NewFile(uintptr(fd), p.Path)
	if err = errors.Join(fill(f, data, a), f.Close()); err == nil {
		err = p.wrong("rename", unix.Renameat(p.dir, temp, p.dir, p.Name))
	}
	if err != nil {
		_ = unix.Unlinkat(p.dir, temp, 0)
	}
	return err
}

// inherit completes attributes by those of the file in the place.
func (p *Place) inherit(a *Attrs) error {
	st, err := p.Stat()
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		return p.wrong("open", unix.EISDIR)
	case unix.S_IFREG:
	default:
		return &os.PathError{Op: "open", Path: p.Path, Err: errors.New("it is no plain file")}
	}
	own := Owner{int(st.Uid), int(st.Gid)}
	if a.Owner != nil && a.Owner.UID >= 0 {
		own.UID = a.Owner.UID
	}
	if a.Owner != nil && a.Owner.GID >= 0 {
		own.GID = a.Owner.GID
	}
	a.Owner = &own
	if mode := st.Mode & allBits; a.Mode == nil {
		a.Mode = &mode
	}
	return nil
}

// allBits are the bits of a mode that chmod sets.
const allBits = 0o7777

// fill writes the content, and then gives the file to its owner.
func fill(f *os.File, data io.Reader, a Attrs) error {
	if _, err := io.Copy(f, data); err != nil {
		return err
	}
	fd := int(f.Fd())
	if o := a.Owner; o != nil && !(o.UID < 0 && o.GID < 0) {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if !o.is(st) {
			if err := unix.Fchown(fd, o.UID, o.GID); err != nil {
				return &os.PathError{Op: "chown", Path: f.Name(), Err: err}
			}
		}
	}
	if a.Mode != nil {
		if err := unix.Fchmod(fd, *a.Mode&allBits); err != nil {
			return &os.PathError{Op: "chmod", Path: f.Name(), Err: err}
		}
	}
	return nil
}

// is tells whether something has the owner.
func (o Owner) is(st unix.Stat_t) bool {
	return (o.UID < 0 || uint32(o.UID) == st.Uid) && (o.GID < 0 || uint32(o.GID) == st.Gid)
}

// SetAttrs gives what stands at path an owner and a mode. In between nobody may do what neither the old nor the new
// ones allow. follow says that a link is followed; otherwise it keeps its mode, as it has none.
func SetAttrs(path string, a Attrs, follow bool) error {
	p, err := At(path, follow)
	if err != nil {
		return err
	}
	defer p.Close()
	fd, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return p.setAttrs(fd, a)
}

func (p *Place) setAttrs(fd int, a Attrs) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return p.wrong("stat", err)
	}
	link := st.Mode&unix.S_IFMT == unix.S_IFLNK
	now := st.Mode & allBits
	if o := a.Owner; o != nil && !o.is(st) {
		if both := now; a.Mode != nil && !link {
			if both &= *a.Mode; both != now {
				if err := chmod(fd, both); err != nil {
					return p.wrong("chmod", err)
				}
			}
		}
		if err := unix.Fchownat(fd, "", o.UID, o.GID, unix.AT_EMPTY_PATH); err != nil {
			return p.wrong("chown", err)
		}
		if err := unix.Fstat(fd, &st); err != nil { // the system takes set-uid and set-gid away
			return p.wrong("stat", err)
		}
		if mode := now; a.Mode == nil && !link {
			a.Mode = &mode
		}
		now = st.Mode & allBits
	}
	if a.Mode == nil || link || *a.Mode&allBits == now {
		return nil
	}
	return p.wrong("chmod", chmod(fd, *a.Mode&allBits))
}

// chmod changes the mode of what is open by O_PATH; older kernels know that only by its name in /proc.
func chmod(fd int, mode uint32) error {
	err := unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH)
	if err == unix.ENOSYS || err == unix.EOPNOTSUPP || err == unix.EINVAL || err == unix.EPERM {
		if err2 := unix.Chmod(procName(fd), mode); err2 == nil || err != unix.EPERM {
			return err2
		}
	}
	return err
}
