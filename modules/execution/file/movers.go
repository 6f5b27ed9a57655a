package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"brine/modules/host/plainfile"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// movers are the functions that link, copy and move.
func movers() []loader.Func {
	return []loader.Func{
		loader.Fn("symlink", runSymlink, "Make a symbolic link.", "file.symlink /path/to/file /path/to/link"),
		loader.Fn("link", runLink, "Make another name of a file (a hard link).", "file.link /path/to/file /path/to/link"),
		loader.Fn("rename", runRename, "Rename a file or a directory.", "file.rename /path/to/src /path/to/dst"),
		loader.Fn("copy", runCopy, "Copy a file, or a directory with recurse=True.",
			"file.copy /path/to/src /path/to/dst", "file.copy /path/to/src_dir /path/to/dst_dir recurse=True"),
		loader.Fn("move", runMove, "Move a file or a directory, to another file system too.",
			"file.move /path/to/src /path/to/dst"),
		loader.Fn("rmdir", runRmdir, "Remove a directory that is empty, or all empty ones below it.",
			"file.rmdir /tmp/foo/"),
	}
}

type symlinked struct {
	Source any  `arg:"src"`
	Path   any  `arg:"path"`
	Force  bool `arg:"force=False"`
	Atomic bool `arg:"atomic=False"`
	Follow bool `arg:"follow_symlinks=True"`
}

func runSymlink(c *loader.Call, a symlinked) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	target, err := raw(a.Source)
	if err != nil {
		return nil, err
	}
	if name == "" || name[0] != '/' {
		return nil, loader.InvocErr("Link path must be absolute: %s", name)
	}
	if err := Symlink(target, name, a.Force, a.Atomic, a.Follow); err != nil {
		return nil, err
	}
	return true, nil
}

// Symlink makes a link. force and atomic put it in the place of a link or a file; there is no moment without either.
func Symlink(target, name string, force, atomic, follow bool) error {
	there := func() bool {
		if follow {
			return exists(name)
		}
		_, err := os.Lstat(name)
		return err == nil
	}
	link := false
	if now, err := os.Readlink(name); err == nil {
		link = true
		if pypath.Norm(now) == pypath.Norm(target) {
			return nil
		}
		if !force && !atomic {
			return loader.ExecErr("Found existing symlink: %s", name)
		}
	}
	if there() && !force && !atomic {
		return loader.ExecErr("Existing path is not a symlink: %s", name)
	}
	err := safefile.Symlink(target, name, safefile.Attrs{}, link || there() || atomic, false)
	var number syscall.Errno
	switch {
	case err == nil:
		return nil
	case force && errors.As(err, &number) && number == syscall.EISDIR:
		return &fs.PathError{Op: "unlink", Path: name, Err: syscall.EISDIR}
	case errors.Is(err, safefile.ErrLink):
		return loader.ExecErr("Could not create '%s': %s", name, loader.Message(err))
	}
	return loader.ExecErr("Could not create '%s'", name)
}

type linked struct {
	Source any `arg:"src"`
	Path   any `arg:"path"`
}

func runLink(c *loader.Call, a linked) (any, error) {
	source, err := absolute(c, a.Source, "File path must be absolute.")
	if err != nil {
		return nil, err
	}
	name, err := raw(a.Path)
	if err != nil {
		return nil, err
	}
	if err := Link(source, name, false); err != nil {
		return nil, err
	}
	return true, nil
}

// Link makes another name of a file, over another file if that is wanted.
func Link(source, name string, over bool) error {
	err := safefile.Link(source, pypath.Abs(name), over)
	var number syscall.Errno
	if errors.As(err, &number) {
		err = errors.New(loader.OSErrorText(number, source) + " -> " + python.Repr(name))
	}
	if err != nil {
		return loader.ExecErr("Could not create '%s': %s", name, loader.Message(err))
	}
	return nil
}

type renamed struct {
	Source any `arg:"src"`
	Dest   any `arg:"dst"`
}

func runRename(c *loader.Call, a renamed) (any, error) {
	source, err := absolute(c, a.Source, "File path must be absolute.")
	if err != nil {
		return nil, err
	}
	dest, err := path(c, a.Dest)
	if err != nil {
		return nil, err
	}
	if err := safefile.Rename(source, pypath.Abs(dest)); err != nil {
		return nil, loader.ExecErr("Could not rename '%s' to '%s'%s", source, dest, whyNot(err))
	}
	return true, nil
}

// whyNot adds to an error of Salt's what Salt has no word for: a link that another user has made.
func whyNot(err error) string {
	if errors.Is(err, safefile.ErrLink) {
		return ": " + err.Error()
	}
	return ""
}

type copied struct {
	Source  any  `arg:"src"`
	Dest    any  `arg:"dst"`
	Recurse bool `arg:"recurse=False"`
	Replace bool `arg:"remove_existing=False"`
}

func runCopy(c *loader.Call, a copied) (any, error) {
	source, err := absolute(c, a.Source, "File path must be absolute.")
	if err != nil {
		return nil, err
	}
	dest, err := path(c, a.Dest)
	if err != nil {
		return nil, err
	}
	if !exists(source) {
		return nil, loader.ExecErr("No such file or directory '%s'", source)
	}
	before, err := standing(source, true)
	if err != nil {
		return nil, err
	}
	tree := isDir(dest) || isDir(source)
	if tree && !a.Recurse {
		return nil, loader.InvocErr("Cannot copy overwriting a directory without recurse flag set to true!")
	}
	if tree && a.Replace && exists(dest) {
		err = safefile.Remove(pypath.Abs(dest))
	}
	if err == nil && tree {
		err = CopyTree(c, source, pypath.Abs(dest), false)
	} else if err == nil {
		err = CopyFile(source, pypath.Abs(dest), safefile.Attrs{})
	}
	if err != nil {
		return nil, loader.ExecErr("Could not copy '%s' to '%s'%s", source, dest, whyNot(err))
	}
	own := Perms{User: int64(before.UID), Group: int64(before.GID), Mode: before.mode()}
	return true, own.Enforce(c, dest, NewRet())
}

// CopyFile copies what is in a file. A file that is new begins with a mode that only its owner may use.
func CopyFile(source, dest string, a safefile.Attrs) error {
	in, err := plainfile.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return safefile.WriteFrom(dest, in, a, true)
}

// CopyTree copies a directory with all that is in it, with modes and, where that is possible, owners. links says that
// links are copied as links; otherwise what they lead to is.
func CopyTree(c *loader.Call, source, dest string, links bool) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if !isDir(dest) {
		if err := MakeDirs(c, dest, nil, nil, nil); err != nil {
			return err
		}
		mode := uint32(0o700)
		if err := safefile.Mkdir(dest, safefile.Attrs{Mode: &mode}); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyInto(c, source+"/"+e.Name(), dest+"/"+e.Name(), links); err != nil {
			return err
		}
	}
	mode := uint32(info.Mode().Perm())
	return safefile.SetAttrs(dest, safefile.Attrs{Mode: &mode}, true)
}

func copyInto(c *loader.Call, source, dest string, links bool) error {
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if links {
			target, err := os.Readlink(source)
			if err != nil {
				return err
			}
			return safefile.Symlink(target, dest, safefile.Attrs{}, false, false)
		}
		if info, err = os.Stat(source); err != nil {
			return err
		}
	}
	if info.IsDir() {
		return CopyTree(c, source, dest, links)
	}
	mode := uint32(info.Mode().Perm())
	return CopyFile(source, dest, safefile.Attrs{Mode: &mode})
}

type moved struct {
	renamed
	RenameOnly bool `arg:"disallow_copy_and_unlink=False"`
}

func runMove(c *loader.Call, a moved) (any, error) {
	if a.RenameOnly {
		return runRename(c, a.renamed)
	}
	source, err := absolute(c, a.Source, "Source path must be absolute.")
	if err != nil {
		return nil, err
	}
	dest, err := absolute(c, a.Dest, "Destination path must be absolute.")
	if err != nil {
		return nil, err
	}
	if err := Move(c, source, dest); err != nil {
		return nil, loader.ExecErr("Unable to move '%s' to '%s': %s", source, dest, loader.Message(err))
	}
	return payload.M("result", true, "comment", fmt.Sprintf("'%s' moved to '%s'", source, dest)), nil
}

// Move renames, or copies to another file system and removes. A directory as the destination is moved into, as with
// Python's shutil.move.
func Move(c *loader.Call, source, dest string) error {
	if isDir(dest) {
		dest = pypath.Join(dest, pypath.Base(pypath.Norm(source)))
		if _, err := os.Lstat(dest); err == nil {
			return errors.New("Destination path '" + dest + "' already exists")
		}
	}
	err := safefile.Rename(source, dest)
	if !errors.Is(err, safefile.ErrOtherDisk) {
		return err
	}
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	if err := copyOver(c, source, dest, info); err != nil {
		return errors.Join(err, safefile.Remove(dest))
	}
	return safefile.Remove(source)
}

// copyOver copies a file with its owner, or a tree, to another file system.
func copyOver(c *loader.Call, source, dest string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || !ok {
		return copyInto(c, source, dest, true)
	}
	mode := st.Mode & 0o7777
	return CopyFile(source, dest, safefile.Attrs{Mode: &mode, Owner: &safefile.Owner{UID: int(st.Uid), GID: int(st.Gid)}})
}

type emptied struct {
	location
	Recurse   bool `arg:"recurse=False"`
	Verbose   bool `arg:"verbose=False"`
	OlderThan any  `arg:"older_than=None"`
}

func runRmdir(c *loader.Call, a emptied) (any, error) {
	name, err := absolute(c, a.Path, "File path must be absolute.")
	if err != nil {
		return nil, err
	}
	if !isDir(name) {
		return nil, loader.InvocErr("A valid directory was not specified: %s", name)
	}
	p := Pruning{Recurse: a.Recurse}
	if python.Truth(a.OlderThan) {
		if days, err := loader.ToInt(a.OlderThan); err == nil {
			p.Days = days
		}
	}
	if err := p.Run(c, name); err != nil {
		return nil, err
	}
	if !a.Verbose {
		return p.Result, nil
	}
	return payload.M("deleted", payload.AnyList(p.Deleted), "errors", p.Errors, "result", p.Result), nil
}

// Pruning removes empty directories.
type Pruning struct {
	Recurse bool
	Days    int64 // only those that have not changed for so long; 0: all

	Deleted []string
	Errors  []any // pairs of a path and a text
	Result  bool
}

// Run removes a directory if it is empty, and before it those below it if these are wanted.
func (p *Pruning) Run(c *loader.Call, name string) error {
	p.Errors = []any{}
	if p.Recurse {
		var below []string
		err := walk(c.Ctx, name, 0, func(dir string, dirs, _ []string, _ int) error {
			for _, sub := range dirs {
				below = append(below, pypath.Join(dir, sub))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, dir := range slices.Backward(below) {
			p.remove(dir)
		}
	}
	p.Result = p.Recurse && len(p.Errors) == 0
	switch tried, removed := p.remove(name); {
	case removed:
		p.Result = p.Result || !p.Recurse
	case tried:
		p.Result = false
	}
	return nil
}
