package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// BackupDir is the folder of backups below the cache of a minion.
const BackupDir = "file_backup"

// Backup copies a file to CACHE/file_backup/PATH_STAMP, as private as the file itself: with its owner and its mode, in
// folders that only this user enters. It returns the path of the copy.
func Backup(path, cache string, now time.Time) (string, error) {
	in, a, err := open(path, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer in.Close()
	to := filepath.Join(cache, BackupDir, strings.TrimPrefix(path, "/")+"_"+stamp(now))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	p, err := At(to, false)
	if err != nil {
		return "", err
	}
	defer p.Close()
	fd, err := unix.Openat(p.dir, p.Name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return "", p.wrong("open", err)
	}
	out := os.NewFile(uintptr(fd), to)
	if err = errors.Join(fill(out, in, a), out.Close()); err != nil {
		return "", errors.Join(err, p.discard())
	}
	return to, nil
}

// Open opens a plain file that is there: flag is O_RDONLY, O_WRONLY or O_RDWR. A link in the place is followed.
func Open(path string, flag int) (*os.File, error) {
	f, _, err := open(path, flag)
	return f, err
}

// open opens a plain file, and tells its owner and mode.
func open(path string, flag int) (*os.File, Attrs, error) {
	p, err := At(path, true)
	if err != nil {
		return nil, Attrs{}, err
	}
	defer p.Close()
	fd, err := unix.Openat(p.dir, p.Name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, Attrs{}, p.wrong("open", err)
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errors.New("it is no plain file")
	}
	if err != nil {
		_ = f.Close()
		return nil, Attrs{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	mode := st.Mode & allBits
	return f, Attrs{Owner: &Owner{int(st.Uid), int(st.Gid)}, Mode: &mode}, nil
}

// stamp is the time of a backup in its name: Thu_Nov_26_13:55:14_123456_2026.
func stamp(t time.Time) string {
	return t.Format("Mon_Jan_02_15:04:05_") + fmt.Sprintf("%06d_%d", t.Nanosecond()/1000, t.Year())
}
