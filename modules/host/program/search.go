package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lookPath finds a program on the PATH of the environment it will run with, as execvpe does: the first file that
// can be executed, else the most telling error.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := "/bin:/usr/bin"
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	found := error(&fs.PathError{Op: "exec", Path: name, Err: syscall.ENOENT})
	for _, dir := range filepath.SplitList(path) {
		full := filepath.Join(dir, name)
		fi, err := os.Stat(full)
		switch {
		case err != nil || fi.IsDir():
		case fi.Mode()&0o111 == 0:
			found = &fs.PathError{Op: "exec", Path: name, Err: syscall.EACCES}
		case dir == "" || dir == ".":
			return "./" + name, nil
		default:
			return full, nil
		}
	}
	return "", found
}

// Which is salt.utils.path.which: the path itself when it can be executed, else the first hit on PATH and in the
// usual directories; "" when there is none.
func Which(name string) string { return WhichOn(os.Getenv("PATH"), name) }

// WhichOn is Which with another PATH.
func WhichOn(path, name string) string {
	if name == "" {
		return ""
	}
	if Executable(name) {
		return name
	}
	dirs := strings.Split(path, ":")
	known := map[string]bool{}
	for _, d := range dirs {
		known[d] = true
	}
	for _, d := range []string{"/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"} {
		if !known[d] {
			dirs = append(dirs, d)
		}
	}
	for _, d := range dirs {
		if full := filepath.Join(os.ExpandEnv(d), name); Executable(full) {
			return full
		}
	}
	return ""
}

// Executable tells whether there is a file that somebody may execute.
func Executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}

// Errno finds the error number behind an error of a start.
func Errno(err error) (syscall.Errno, bool) {
	var n syscall.Errno
	ok := errors.As(err, &n)
	return n, ok
}
