package safefile

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Rewrite is Write with a link in the place followed. A file with other names keeps them if keepNames says so and no
// other user can have planted them. It is overwritten, after room for all was found, as is one that cannot be replaced:
// something is mounted on it, or nothing new may be in its directory.
func Rewrite(path string, data []byte, keepNames bool) error {
	p, err := At(path, true)
	if err != nil {
		return err
	}
	defer p.Close()
	if keepNames {
		if shared, err := p.shared(); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		} else if shared {
			return p.overwrite(data, false)
		}
	}
	err = p.write(bytes.NewReader(data), Attrs{})
	for _, fixed := range []error{unix.EBUSY, unix.EACCES, unix.EPERM, unix.EROFS} {
		if errors.Is(err, fixed) {
			if err2 := p.overwrite(data, true); err2 == nil || !errors.Is(err2, unix.ENOENT) {
				return err2
			}
		}
	}
	return err
}

// shared tells whether the file has other names, which somebody who owns only the directory cannot have planted.
func (p *Place) shared() (bool, error) {
	st, err := p.Stat()
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink < 2 {
		return false, err
	}
	var dir unix.Stat_t
	if err := unix.Fstat(p.dir, &dir); err != nil {
		return false, p.wrong("stat", err)
	}
	const others = 0o022
	return trusted(dir.Uid) && dir.Mode&others == 0 || dir.Uid == st.Uid && !trusted(dir.Uid), nil
}

// OpenToWrite opens a plain file that is there, to write to parts of it. A link in the place is followed.
func OpenToWrite(path string) (*os.File, error) {
	p, err := At(path, true)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.openToWrite()
}

func (p *Place) openToWrite() (*os.File, error) {
	fd, err := unix.Openat(p.dir, p.Name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, p.wrong("open", err)
	}
	f := os.NewFile(uintptr(fd), p.Path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: p.Path, Err: errors.New("it is no plain file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// overwrite puts data into the file itself; sole says that it may have no other name, which somebody can have planted.
func (p *Place) overwrite(data []byte, sole bool) error {
	f, err := p.openToWrite()
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && sole && st.Nlink > 1 {
		err = &os.PathError{Op: "open", Path: p.Path, Err: errors.New("it has other names, and cannot be replaced")}
	}
	if err == nil && len(data) > 0 {
		err = p.wrong("write", room(int(f.Fd()), int64(len(data))))
	}
	if err == nil {
		_, err = f.WriteAt(data, 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

// room makes sure that so many bytes can be written; where the file system cannot say so, it is not known.
func room(fd int, size int64) error {
	err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, size)
	if err == unix.ENOSPC || err == unix.EDQUOT || err == unix.EFBIG {
		return err
	}
	return nil
}

// AttrsOf are owner and mode of what stands at path; links are followed.
func AttrsOf(path string) (Attrs, error) {
	p, err := At(path, true)
	if err != nil {
		return Attrs{}, err
	}
	defer p.Close()
	st, err := p.Stat()
	if err != nil {
		return Attrs{}, err
	}
	mode := st.Mode & allBits
	return Attrs{Owner: &Owner{int(st.Uid), int(st.Gid)}, Mode: &mode}, nil
}
