package file

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// makers are the functions that make directories, devices and pipes.
func makers() []loader.Func {
	return []loader.Func{
		loader.Fn("mkdir", runMkdir, "Make a directory, and those above it.", "file.mkdir /opt/jetty/context"),
		loader.Fn("makedirs", runMakeDirs, "Make the directories above a path.", "file.makedirs /opt/code/"),
		loader.Fn("makedirs_perms", runMakeDirsPerms, "Make a directory and those above it, with owner and mode.",
			"file.makedirs_perms /opt/code"),
		loader.Fn("mknod", runMknod, "Make a device (c, b) or a pipe (p).", "file.mknod /dev/chr c 180 31",
			"file.mknod /dev/blk b 8 999", "file.nknod /dev/fifo p"),
		loader.Fn("mknod_chrdev", nodeOf("c"), "Make a character device.", "file.mknod_chrdev /dev/chr 180 31"),
		loader.Fn("mknod_blkdev", nodeOf("b"), "Make a block device.", "file.mknod_blkdev /dev/blk 8 999"),
		loader.Fn("mknod_fifo", mknodFifo, "Make a named pipe.", "file.mknod_fifo /dev/fifo"),
	}
}

// umask is that of this process, which the kernel tells without changing it.
func umask() uint32 {
	const usual = 0o022
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return usual
	}
	_, rest, ok := strings.Cut(string(text), "\nUmask:\t")
	if !ok {
		return usual
	}
	line, _, _ := strings.Cut(rest, "\n")
	bits, err := strconv.ParseUint(line, 8, 32)
	if err != nil {
		return usual
	}
	return uint32(bits)
}

// MakeDirs makes the directories above a path that are not there, each with owner and mode. It does nothing where
// something else than a directory is in the way.
func MakeDirs(c *loader.Call, name string, user, group, mode any) error {
	dir := pypath.Norm(pypath.Dir(name))
	if exists(dir) {
		return nil
	}
	return makeAll(c, dir, user, group, NormalMode(mode))
}

// makeAll makes a directory, after those above it.
func makeAll(c *loader.Call, dir string, user, group, mode any) error {
	var missing []string
	for !isDir(dir) {
		missing = append(missing, dir)
		above := pypath.Dir(dir)
		if above == dir || above == "" {
			return loader.InvocErr("Recursive creation for path '%s' would result in an infinite loop. Please use an "+
				"absolute path.", above)
		}
		dir = above
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := Mkdir(c, missing[i], user, group, mode); err != nil {
			return err
		}
	}
	return nil
}

// Mkdir makes one directory with owner and mode; mode is as NormalMode writes it. A user or a group that is not there
// is left out, as with Salt.
func Mkdir(c *loader.Call, dir string, user, group, mode any) error {
	p := Perms{User: user, Group: group, Mode: mode}
	d, err := p.Differ(c, Standing{UID: os.Geteuid(), GID: -1})
	if err != nil {
		return err
	}
	err = safefile.Mkdir(dir, d.Attrs)
	if errors.Is(err, syscall.EPERM) && exists(dir) { // it may not be given away
		err = nil
	}
	return err
}

type directoryOf struct {
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode=None"`
}

type newDir struct {
	Path any `arg:"dir_path"`
	directoryOf
}

func runMkdir(c *loader.Call, a newDir) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	if dir := pypath.Norm(name); !isDir(dir) {
		err = makeAll(c, dir, a.User, a.Group, NormalMode(a.Mode))
	}
	return err == nil, err
}

type dirsAbove struct {
	location
	directoryOf
}

func runMakeDirs(c *loader.Call, a dirsAbove) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	switch dir := pypath.Norm(pypath.Dir(name)); {
	case isDir(dir):
		return "Directory '" + dir + "' already exists", nil
	case exists(dir):
		return "The path '" + dir + "' already exists and is not a directory", nil
	}
	return nil, MakeDirs(c, name, a.User, a.Group, a.Mode)
}

type dirPerms struct {
	Name  any `arg:"name"`
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode='0755'"`
}

func runMakeDirsPerms(c *loader.Call, a dirPerms) (any, error) {
	name, err := path(c, a.Name)
	if err != nil {
		return nil, err
	}
	return nil, MakeDirsPerms(c, name, a.User, a.Group, a.Mode)
}

// MakeDirsPerms makes a directory and those above it, each with owner and mode; it is an error if it is there.
func MakeDirsPerms(c *loader.Call, name string, user, group, mode any) error {
	name = pypath.Norm(name)
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	if !python.Truth(mode) {
		mode = nil
	}
	return makeAll(c, name, user, group, NormalMode(mode))
}

type namedNode struct {
	Name  any `arg:"name"`
	Kind  any `arg:"ntype"`
	Major any `arg:"major=0"`
	Minor any `arg:"minor=0"`
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode='0600'"`
}

func runMknod(c *loader.Call, a namedNode) (any, error) {
	name, err := path(c, a.Name)
	if err != nil {
		return nil, err
	}
	ret, err := Mknod(c, name, loader.Text(a.Kind), a, c.Opts().Value("test") == true)
	if err != nil {
		return nil, err
	}
	return asMap(name, ret), nil
}

func asMap(name string, ret *Ret) *payload.Map {
	return payload.M("name", name, "changes", ret.Changes, "comment", ret.Comment, "result", ret.Result)
}

// nodeKinds are what mknod makes, and how Salt calls them.
var nodeKinds = map[string]struct {
	bits uint32
	text string
}{"c": {unix.S_IFCHR, "Character device"}, "b": {unix.S_IFBLK, "Block device"}, "p": {unix.S_IFIFO, "Fifo pipe"}}

// Node is a device or a pipe that should be there.
type Node = namedNode

// Mknod makes a device or a pipe, and the directories above it.
func Mknod(c *loader.Call, name, kind string, a Node, test bool) (*Ret, error) {
	k, ok := nodeKinds[kind]
	if !ok {
		return nil, loader.InvocErr("Node type unavailable: '%s'. Available node types are character ('c'), block ('b'), "+
			"and pipe ('p').", kind)
	}
	ret := NewRet()
	ret.Result = false
	major, err1 := loader.ToInt(a.Major)
	minor, err2 := loader.ToInt(a.Minor)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if test {
		ret.Result = nil
		ret.Changes.Set("new", k.text+" "+name+" created.")
		return ret, nil
	}
	if err := MakeDirs(c, name, a.User, a.Group, nil); err != nil {
		return nil, err
	}
	p := Perms{User: a.User, Group: a.Group, Mode: NormalMode(a.Mode)}
	d, err := p.Differ(c, Standing{UID: os.Geteuid(), GID: -1})
	if err != nil {
		return nil, err
	}
	err = safefile.Mknod(name, k.bits, unix.Mkdev(uint32(major), uint32(minor)), d.Attrs)
	switch {
	case errors.Is(err, fs.ErrExist):
		ret.Comment = "File " + name + " exists and cannot be overwritten"
		return ret, p.Enforce(c, name, NewRet())
	case err != nil:
		return nil, err
	}
	ret.Result = true
	ret.Changes.Set("new", k.text+" "+name+" created.")
	return ret, nil
}

type device struct {
	Name  any `arg:"name"`
	Major any `arg:"major"`
	Minor any `arg:"minor"`
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode='0660'"`
}

func nodeOf(kind string) func(*loader.Call, device) (any, error) {
	return func(c *loader.Call, a device) (any, error) {
		return runMknod(c, namedNode{a.Name, kind, a.Major, a.Minor, a.User, a.Group, a.Mode})
	}
}

type pipe struct {
	Name  any `arg:"name"`
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode='0660'"`
}

func mknodFifo(c *loader.Call, a pipe) (any, error) {
	return runMknod(c, namedNode{a.Name, "p", int64(0), int64(0), a.User, a.Group, a.Mode})
}
