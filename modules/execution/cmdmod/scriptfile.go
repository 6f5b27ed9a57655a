package cmdmod

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/host/program"
	"brine/modules/loader"
)

// scriptFile is a file that is there for one run of a command.
type scriptFile struct {
	path string
	as   *syscall.Credential // who has made it, and removes it; nil: this process's user
}

// makeScript puts content into a new file, to be run in dir by runas, or by this process's user for "". It has the mode
// 0500 unless plain is given, and belongs to who runs it. Unlike Salt: it is made with the rights of that user, and
// where he has none in dir among the temporary files; nothing is changed or given away by its name. In a directory that
// he, or anybody else, can change he could put another file in its place, or lead to another directory: a file for this
// process's own user is made among the temporary files then.
func makeScript(dir, ext, runas string, content io.Reader, plain bool) (*scriptFile, error) {
	owner, err := ownerOf(runas)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	mode := fs.FileMode(0o500)
	if plain {
		mode = 0o600
	}
	switch {
	case dir == "":
	case owner != nil:
		s := &scriptFile{as: owner}
		err := asUser(owner, func() (err error) { s.path, err = create(dir, ext, text, mode, nil); return err })
		if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
			return s, err
		}
		dir = ""
	case there(dir) && !ours(dir): // what is not there fails below, with Salt's error
		dir = ""
	}
	path, err := create(dir, ext, text, mode, owner)
	return &scriptFile{path: path}, err
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// ownerOf is the user who is to own a file, nil for the one this process runs as.
func ownerOf(runas string) (*syscall.Credential, error) {
	if runas == "" {
		return nil, nil
	}
	a, err := program.LookupAccount(runas, "")
	switch {
	case errors.Is(err, program.ErrNoUser):
		return nil, loader.ExecErr("User '%s' is not available", runas)
	case err != nil || a.Credential == nil || int(a.Credential.Uid) == os.Geteuid():
		return nil, err
	}
	return a.Credential, nil
}

// create makes the file. Whatever is done to it is done by its descriptor.
func create(dir, ext string, text []byte, mode fs.FileMode, owner *syscall.Credential) (path string, err error) {
	f, err := os.CreateTemp(dir, "__salt.tmp.*"+strings.ReplaceAll(ext, "*", "_"))
	if err != nil {
		return "", fmt.Errorf("make a temporary file: %w", err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil && owner != nil {
		err = f.Chown(int(owner.Uid), -1)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write a temporary file: %w", err)
	}
	return f.Name(), nil
}

// remove ends the file, with the rights it was made with.
func (s *scriptFile) remove() {
	if s.as == nil {
		_ = os.Remove(s.path) // its user may have removed it
		return
	}
	_ = asUser(s.as, func() error { return os.Remove(s.path) })
}

// ours tells whether nobody but root and this process's user can put something else in the place of what is made in a
// directory: on the way there are only directories and links of theirs that nobody else can write to.
func ours(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil || !safe("/") {
		return false
	}
	at, rest := "/", strings.Split(dir, "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		if !safe(next) {
			return false
		}
		target, err := os.Readlink(next)
		if err != nil { // a directory
			at = next
			continue
		}
		if links++; links > maxLinks {
			return false
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return true
}

const maxLinks = 40 // as the kernel

// safe tells whether a directory or a link belongs to root or this process's user, and nobody else can change what is
// in it.
func safe(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return false
	}
	link := info.Mode()&fs.ModeSymlink != 0
	return link || info.IsDir() && (info.Mode()&0o022 == 0 || info.Mode()&fs.ModeSticky != 0)
}
