package file

import (
	"errors"
	"io/fs"
	"os"

	"brine/modules/host/pypath"
	"brine/modules/loader"

	"golang.org/x/sys/unix"
)

// kinds are the functions that tell whether there is something, and of what kind it is.
func kinds() []loader.Func {
	return []loader.Func{
		loader.Fn("file_exists", is(fs.FileMode.IsRegular), "Tell whether there is a file, or a link to one.",
			"file.file_exists /etc/passwd"),
		loader.Fn("directory_exists", is(fs.FileMode.IsDir), "Tell whether there is a directory, or a link to one.",
			"file.directory_exists /etc"),
		loader.Fn("path_exists_glob", pathExistsGlob, "Tell whether there is a path that fits a pattern.",
			"file.path_exists_glob '/etc/pam*/pass*'"),
		loader.Fn("is_link", isLink, "Tell whether a path is a link.", "file.is_link /path/to/link"),
		loader.Fn("is_hardlink", isHardLink, "Tell whether a file has more names than one.",
			"file.is_hardlink /path/to/link"),
		loader.Fn("access", access,
			"Tell whether this process may read (r), write (w) or run (x) a file, or whether it is there (f).",
			"file.access /path/to/file f"),
	}
}

func is(kind func(fs.FileMode) bool) func(*loader.Call, location) (any, error) {
	return func(c *loader.Call, a location) (any, error) {
		name, err := path(c, a.Path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(name)
		return err == nil && kind(info.Mode()), nil
	}
}

func pathExistsGlob(c *loader.Call, a location) (bool, error) {
	name, err := path(c, a.Path)
	return err == nil && len(pypath.Glob(name)) > 0, err
}

func isHardLink(c *loader.Call, a location) (any, error) {
	m, err := lstatOf(c, a.Path)
	if err != nil || m.Len() == 0 {
		return m, err
	}
	n, _ := m.Value("st_nlink").(int64)
	return n > 1, nil
}

// maybeLink is a path that may be a link.
type maybeLink struct {
	location
	NoStat bool `arg:"nostat=False"`
}

// isLink looks at the path, with nostat at the directory that it is in.
func isLink(c *loader.Call, a maybeLink) (any, error) {
	if a.NoStat {
		name, err := raw(a.Path)
		if err != nil {
			return nil, err
		}
		return linkIn(pypath.Dir(name), name)
	}
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, nil
}

func linkIn(dir, name string) (any, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if pypath.Join(dir, e.Name()) == name {
			return e.Type()&fs.ModeSymlink != 0, nil
		}
	}
	return false, nil
}

// withMode is a path and a mode of it.
type withMode struct {
	location
	Mode any `arg:"mode"`
}

func access(c *loader.Call, a withMode) (any, error) {
	name, err := absolute(c, a.Path, "Path to link must be absolute.")
	if err != nil {
		return nil, err
	}
	var bits uint32
	switch mode := a.Mode.(type) {
	case string:
		known := map[string]uint32{"f": unix.F_OK, "r": unix.R_OK, "w": unix.W_OK, "x": unix.X_OK}
		found, ok := known[mode]
		if !ok {
			return nil, loader.InvocErr("Invalid mode specified.")
		}
		bits = found
	case []any, interface{ Len() int }:
		return nil, notHashable(mode)
	default:
		n, ok := whole(mode)
		if !ok || n != unix.F_OK && n != unix.R_OK && n != unix.W_OK && n != unix.X_OK {
			return nil, loader.InvocErr("Invalid mode specified.")
		}
		bits = uint32(n)
	}
	return unix.Access(name, bits) == nil, nil
}

// devices are the functions that tell of devices and pipes.
func devices() []loader.Func {
	return []loader.Func{
		loader.Fn("is_chrdev", isNode(unix.S_IFCHR), "Tell whether a path is a character device.",
			"file.is_chrdev /dev/chr"),
		loader.Fn("is_blkdev", isNode(unix.S_IFBLK), "Tell whether a path is a block device.",
			"file.is_blkdev /dev/blk"),
		loader.Fn("is_fifo", isNode(unix.S_IFIFO), "Tell whether a path is a named pipe.", "file.is_fifo /dev/fifo"),
		loader.Fn("get_devmm", deviceNumbers, "Show the major and the minor number of a device.",
			"file.get_devmm /dev/chr").AsTuple(),
	}
}

// node is the path of a device or a pipe.
type node struct {
	Name any `arg:"name"`
}

func isNode(kind uint32) func(*loader.Call, node) (any, error) {
	return func(c *loader.Call, a node) (any, error) {
		st, err := statOf(c, a.Name)
		return err == nil && st != nil && st.Mode&unix.S_IFMT == kind, err
	}
}

func deviceNumbers(c *loader.Call, a node) ([]any, error) {
	st, err := statOf(c, a.Name)
	if err != nil || st == nil || st.Mode&unix.S_IFMT != unix.S_IFCHR && st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return []any{int64(0), int64(0)}, err
	}
	return []any{int64(unix.Major(uint64(st.Rdev))), int64(unix.Minor(uint64(st.Rdev)))}, nil
}

// statOf follows links; nil where there is nothing.
func statOf(c *loader.Call, v any) (*unix.Stat_t, error) {
	name, err := path(c, v)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err = unix.Stat(name, &st)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return &st, nil
}
