package file

import (
	"errors"
	"fmt"
	"os"

	"brine/modules/host/environ"
	"brine/modules/host/plainfile"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// facts are the functions that tell what the system knows of a path.
func facts() []loader.Func {
	return []loader.Func{
		loader.Fn("stats", allStats, "Show owner, mode, size, times and kind of a path.", "file.stats /etc/passwd"),
		stat("get_uid", "uid", "Show the number of the user that a path is of."),
		stat("get_gid", "gid", "Show the number of the group that a path is of."),
		stat("get_user", "user", "Show the user that a path is of."),
		stat("get_group", "group", "Show the group that a path is of."),
		stat("get_mode", "mode", "Show the mode of a path."),
		loader.Fn("lstat", lstat, "Show what lstat tells of a path.", "file.lstat /path/to/file"),
		loader.Fn("statvfs", statvfs, "Show what statvfs tells of the file system that a path is on.",
			"file.statvfs /path/to/file"),
		loader.Fn("readdir", readdir, "List what is in a directory, and the directory and the one above it.",
			"file.readdir /path/to/dir/"),
		loader.Fn("readlink", readlink, "Show where a link leads.", "file.readlink /path/to/link"),
		loader.Fn("diskusage", diskUsage, "Show how many bytes a file has, or all files below a directory.",
			"file.diskusage /path/to/check"),
	}
}

// stat is a function that tells one thing of those that stats tells.
func stat(name, key, doc string) loader.Func {
	type followed struct {
		location
		Follow bool `arg:"follow_symlinks=True"`
	}
	return loader.Fn(name, func(c *loader.Call, a followed) (any, error) {
		m, err := stats(c, a.Path, nil, a.Follow)
		return m.Value(key), err
	}, doc, "file."+name+" /etc/passwd")
}

// summed is a path to tell all of, with a hash sum where a hash is named.
type summed struct {
	location
	HashType any  `arg:"hash_type=None"`
	Follow   bool `arg:"follow_symlinks=True"`
}

func allStats(c *loader.Call, a summed) (*payload.Map, error) {
	return stats(c, a.Path, a.HashType, a.Follow)
}

// stats is what file.stats tells, and what file.get_mode and its like take theirs from.
func stats(c *loader.Call, v, hashType any, follow bool) (*payload.Map, error) {
	name, err := path(c, v)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if !follow || unix.Stat(name, &st) != nil {
		if err := unix.Lstat(name, &st); err != nil {
			return nil, loader.ExecErr("Path not found: %s", name)
		}
	}
	out := payload.M("inode", int64(st.Ino), "uid", int64(st.Uid), "gid", int64(st.Gid),
		"group", groupName(int64(st.Gid)), "user", userName(int64(st.Uid)),
		"atime", seconds(st.Atim), "mtime", seconds(st.Mtim), "ctime", seconds(st.Ctim), "size", st.Size, "mode",
		fmt.Sprintf("%04o", st.Mode&0o7777))
	if python.Truth(hashType) {
		sum, err := hashOf(c, name, hashType)
		if err != nil {
			return nil, err
		}
		out.Set("sum", sum)
	}
	kind, ok := map[uint32]string{unix.S_IFDIR: "dir", unix.S_IFCHR: "char", unix.S_IFBLK: "block",
		unix.S_IFLNK: "link", unix.S_IFIFO: "pipe",
		unix.S_IFSOCK: "socket"}[st.Mode&unix.S_IFMT]
	if !ok {
		kind = "file"
	}
	target := pypath.Real
	if !follow {
		target = pypath.Abs
	}
	return out.Set("type", kind).Set("target", target(name)), nil
}

// seconds is a time as Python has it in st_mtime.
func seconds(t unix.Timespec) float64 { return float64(t.Sec) + 1e-9*float64(t.Nsec) }

func lstat(c *loader.Call, a location) (*payload.Map, error) { return lstatOf(c, a.Path) }

// lstatOf is what file.lstat tells; nothing of what is not there.
func lstatOf(c *loader.Call, v any) (*payload.Map, error) {
	name, err := absolute(c, v, "Path to file must be absolute.")
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil {
		return payload.NewMap(0), nil
	}
	return payload.M("st_atime", seconds(st.Atim), "st_ctime", seconds(st.Ctim), "st_gid", int64(st.Gid),
		"st_mode", int64(st.Mode),
		"st_mtime", seconds(st.Mtim), "st_nlink", int64(st.Nlink), "st_size", st.Size, "st_uid", int64(st.Uid)), nil
}

func statvfs(c *loader.Call, a location) (*payload.Map, error) {
	name, err := absolute(c, a.Path, "File path must be absolute.")
	if err != nil {
		return nil, err
	}
	var fs unix.Statfs_t
	if unix.Statfs(name, &fs) != nil {
		return nil, loader.ExecErr("Could not statvfs '%s'", name)
	}
	return payload.M("f_bavail", int64(fs.Bavail), "f_bfree", int64(fs.Bfree), "f_blocks", int64(fs.Blocks),
		"f_bsize", int64(fs.Bsize),
		"f_favail", int64(fs.Ffree), "f_ffree", int64(fs.Ffree), "f_files", int64(fs.Files), "f_flag",
		int64(fs.Flags)&^validFlags,
		"f_frsize", int64(fs.Frsize), "f_namemax", int64(fs.Namelen)), nil
}

// validFlags is ST_VALID of the kernel, which the C library takes out.
const validFlags = 0x20

func readdir(c *loader.Call, a location) (any, error) {
	name, err := absolute(c, a.Path, "Dir path must be absolute.")
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, loader.InvocErr("A valid directory was not specified: %s", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := []any{".", ".."}
	for _, e := range entries {
		out = append(out, e)
	}
	return out, nil
}

// link is a link, which is followed to its end or not.
type link struct {
	location
	Canonicalize bool `arg:"canonicalize=False"`
}

func readlink(c *loader.Call, a link) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	name = pypath.ExpandVars(name, environ.Of(c.Ctx).Get)
	if name == "" || name[0] != '/' {
		return nil, loader.InvocErr("Path to link must be absolute: %s", name)
	}
	target, err := os.Readlink(name)
	if err != nil {
		return nil, loader.InvocErr("A valid link was not specified: %s", name)
	}
	if a.Canonicalize {
		return pypath.Real(name), nil
	}
	return target, nil
}

// diskUsage counts a file with several names once.
func diskUsage(c *loader.Call, a location) (any, error) {
	name, ok := a.Path.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "stat: path should be string, bytes, os.PathLike or integer, not " +
			python.Type(a.Path)}
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return info.Size(), nil
	}
	total, seen := int64(0), map[uint64]bool{}
	err := walk(c.Ctx, name, 0, func(dir string, _, files []string, _ int) error {
		for _, file := range files {
			var st unix.Stat_t
			if unix.Stat(pypath.Join(dir, file), &st) == nil && !seen[st.Ino] {
				seen[st.Ino] = true
				total += st.Size
			}
		}
		return nil
	})
	return total, err
}

// hashOf is the sum of a file by the name of a hash.
func hashOf(c *loader.Call, name string, form any) (any, error) {
	text, ok := form.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "attribute name must be string, not '" + python.Type(form) + "'"}
	}
	sum, err := plainfile.Hash(c.Ctx, name, text)
	if errors.Is(err, plainfile.ErrForm) {
		return nil, loader.Raise("ValueError", "Invalid hash type: %s", text)
	}
	if err != nil {
		return nil, err
	}
	return sum, nil
}
