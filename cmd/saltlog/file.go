package saltlog

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// File is a log file that is reopened when its name leads to another file, as after logrotate.
type File struct {
	path string
	mode os.FileMode

	mu   sync.Mutex
	file *os.File
	info os.FileInfo
}

// OpenFile opens path for appending. It creates the file with mode if necessary.
func OpenFile(path string, mode os.FileMode) (*File, error) {
	f := &File{path: path, mode: mode}
	return f, f.open()
}

// open follows a symbolic link only if it belongs to root or to this process's user. A daemon opens its log as
// root, in a directory that may belong to the user it will run as.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, f.mode)
	if errors.Is(err, syscall.ELOOP) && ownLink(f.path) {
		file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, f.mode)
	}
	if err != nil {
		return fmt.Errorf("open log file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("open log file: %w", err)
	}
	f.file, f.info = file, info
	return nil
}

// Write appends one line.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(now, f.info) {
		old := f.file
		if err := f.open(); err == nil {
			old.Close()
		} // } // otherwise continue with the old file
	}
	return f.file.Write(line)
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// ownLink tells whether a symbolic link belongs to root or to this process's user.
func ownLink(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Geteuid())
}
