package filemod

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
	return append([]loader.Func{
		one("file_exists", "path", is(fs.FileMode.IsRegular), `Tell whether there is a file, or a link to one.

CLI Example:

    salt '*' file.file_exists /etc/passwd`),
		one("directory_exists", "path", is(fs.FileMode.IsDir), `Tell whether there is a directory, or a link to one.

CLI Example:

    salt '*' file.directory_exists /etc`),
		one("path_exists_glob", "path", func(c *loader.Call, a loader.Args) (any, error) {
			name, err := path(c, a.Get("path"))
			return err == nil && len(pypath.Glob(name)) > 0, err
		}, `Tell whether there is a path that fits a pattern.

CLI Example:

    salt '*' file.path_exists_glob '/etc/pam*/pass*'`),
		{Name: "file.is_link", Params: []loader.Param{loader.Req("path"), loader.Opt("nostat", false)}, Run: isLink,
			Doc: `Tell whether a path is a link.

CLI Example:

    salt '*' file.is_link /path/to/link`},
		one("is_hardlink", "path", func(c *loader.Call, a loader.Args) (any, error) {
			m, err := lstatOf(c, a.Get("path"))
			if err != nil || m.Len() == 0 {
				return m, err
			}
			n, _ := m.Value("st_nlink").(int64)
			return n > 1, nil
		}, `Tell whether a file has more names than one.

CLI Example:

    salt '*' file.is_hardlink /path/to/link`),
		{Name: "file.access", Params: []loader.Param{loader.Req("path"), loader.Req("mode")}, Run: access,
			Doc: `Tell whether this process may read (r), write (w) or run (x) a file, or whether it is there (f).

CLI Example:

    salt '*' file.access /path/to/file f`},
	}, devices()...)
}

func is(kind func(fs.FileMode) bool) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		name, err := path(c, a.Get("path"))
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(name)
		return err == nil && kind(info.Mode()), nil
	}
}

// isLink looks at the path, with nostat at the directory that it is in.
func isLink(c *loader.Call, a loader.Args) (any, error) {
	if a.Bool("nostat") {
		name, err := raw(a.Get("path"))
		if err != nil {
			return nil, err
		}
		return linkIn(pypath.Dir(name), name)
	}
	name, err := path(c, a.Get("path"))
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

func access(c *loader.Call, a loader.Args) (any, error) {
	name, err := absolute(c, a.Get("path"), "Path to link must be absolute.")
	if err != nil {
		return nil, err
	}
	var bits uint32
	switch mode := a.Get("mode").(type) {
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

func devices() []loader.Func {
	kind := func(want uint32) func(*loader.Call, loader.Args) (any, error) {
		return func(c *loader.Call, a loader.Args) (any, error) {
			st, err := statOf(c, a.Get("name"))
			return err == nil && st != nil && st.Mode&unix.S_IFMT == want, err
		}
	}
	return []loader.Func{
		one("is_chrdev", "name", kind(unix.S_IFCHR), `Tell whether a path is a character device.

CLI Example:

    salt '*' file.is_chrdev /dev/chr`),
		one("is_blkdev", "name", kind(unix.S_IFBLK), `Tell whether a path is a block device.

CLI Example:

    salt '*' file.is_blkdev /dev/blk`),
		one("is_fifo", "name", kind(unix.S_IFIFO), `Tell whether a path is a named pipe.

CLI Example:

    salt '*' file.is_fifo /dev/fifo`),
		{Name: "file.get_devmm", Params: []loader.Param{loader.Req("name")}, Tuple: true,
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				st, err := statOf(c, a.Get("name"))
				if err != nil || st == nil || st.Mode&unix.S_IFMT != unix.S_IFCHR && st.Mode&unix.S_IFMT != unix.S_IFBLK {
					return []any{int64(0), int64(0)}, err
				}
				return []any{int64(unix.Major(uint64(st.Rdev))), int64(unix.Minor(uint64(st.Rdev)))}, nil
			}, Doc: `Show the major and the minor number of a device.

CLI Example:

    salt '*' file.get_devmm /dev/chr`},
	}
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
