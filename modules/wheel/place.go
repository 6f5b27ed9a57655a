package wheel

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// place is a path below a directory that it does not lead out of.
type place struct {
	name string // as Python joins the two
	dir  string // the directory, without links
	rel  string // the path in it, without links as far as it is there
	end  bool   // a slash ends it
}

// placeIn joins a directory and a path. It is false for a path that leads out, by its words or by links.
func placeIn(dir, path string) (place, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil || strings.Contains(path, "\x00") {
		return place{}, false
	}
	name := path
	if !filepath.IsAbs(path) {
		name = strings.TrimSuffix(dir, "/") + "/" + path
	}
	rel, err := filepath.Rel(dir, filepath.Clean(name))
	if err != nil || !filepath.IsLocal(rel) {
		return place{}, false
	}
	top := resolved(dir)
	if rel, err = filepath.Rel(top, resolved(filepath.Join(dir, rel))); err != nil || !filepath.IsLocal(rel) {
		return place{}, false
	}
	return place{name: name, dir: top, rel: rel, end: path == "" || strings.HasSuffix(path, "/")}, true
}

// resolved follows the links of a path as far as it is there.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if link, err := os.Readlink(path); err == nil && filepath.IsAbs(link) { // it leads to nothing
		return filepath.Clean(link)
	} else if err == nil {
		return filepath.Join(resolved(filepath.Dir(path)), link)
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// open opens a plain file. It waits for no pipe, and follows no link that leads out, whenever that was put there.
func (p place) open() (*os.File, error) {
	if _, err := os.Lstat(p.name); err != nil { // "no/../file" is none where there is no folder "no"
		return nil, err
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// textBlock is how much of a file tells text from what is none, in bytes.
const textBlock = 512

// look reads a file.
func (r roots) look(name string, f *os.File, do func(name string, data []byte, text bool) error) error {
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return do(name, data, !plainfile.Binary(data[:min(len(data), textBlock)]))
}

// write puts data into the file, which keeps its mode. It is false for a path that leads out.
func (p place) write(data []byte) (bool, error) {
	root, err := os.OpenRoot(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(p.dir, 0o777); err == nil {
			root, err = os.OpenRoot(p.dir)
		}
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	info, err := root.Lstat(p.rel)
	switch {
	case p.rel == "." || p.end || err == nil && info.IsDir():
		return true, loader.Raise("IsADirectoryError", "%s", loader.OSErrorText(syscall.EISDIR, p.name))
	case err == nil && !info.Mode().IsRegular():
		return false, nil // a link that has come meanwhile, or no file at all
	}
	if info, err := root.Stat(filepath.Dir(p.rel)); err == nil && !info.IsDir() {
		return true, loader.Raise("FileExistsError", "%s", loader.OSErrorText(syscall.EEXIST, filepath.Dir(p.name)))
	}
	if err := root.MkdirAll(filepath.Dir(p.rel), 0o777); err != nil {
		return false, err
	}
	return true, p.replace(root, info, data)
}

// replace writes beside the place and moves the file there. info is of the file that stands there, or nil.
func (p place) replace(root *os.Root, info fs.FileInfo, data []byte) error {
	temp := filepath.Join(filepath.Dir(p.rel), wholefile.TempPrefix+rand.Text())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o666)
	if err != nil {
		return err
	}
	if info != nil {
		err = f.Chmod(info.Mode().Perm())
		if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
			err = errors.Join(err, f.Chown(int(st.Uid), int(st.Gid)))
		}
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, p.rel)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// listDirs lists directories as trees: a map for each directory, "f" for each file. It enters no links to directories.
func listDirs(c *loader.Call, dirs []string) (*payload.Map, error) {
	out := payload.NewMap(len(dirs))
	for _, dir := range dirs {
		tree := payload.NewMap(0)
		out.Set(dir, tree)
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // as Salt: what is not there has no files
		}
		err = listInto(c, root, ".", tree)
		if err = errors.Join(err, root.Close()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxDepth is how deep directories may lie in each other.
const maxDepth = 200

func listInto(c *loader.Call, root *os.Root, rel string, tree *payload.Map) error {
	if err := c.Ctx.Err(); err != nil {
		return err
	}
	if strings.Count(rel, "/") > maxDepth {
		return loader.ExecErr("directories lie in each other too deeply: %s", filepath.Join(root.Name(), rel))
	}
	entries, err := readDir(root, rel)
	if err != nil {
		return nil // as Salt: what cannot be read has no files
	}
	isDir := func(e fs.DirEntry) bool {
		if e.Type()&fs.ModeSymlink == 0 {
			return e.IsDir()
		}
		info, err := os.Stat(filepath.Join(root.Name(), rel, e.Name()))
		return err == nil && info.IsDir()
	}
	var files []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), wholefile.TempPrefix):
		case !isDir(e):
			files = append(files, e.Name())
		default:
			sub := payload.NewMap(0)
			tree.Set(e.Name(), sub)
			if e.Type()&fs.ModeSymlink == 0 {
				if err := listInto(c, root, filepath.Join(rel, e.Name()), sub); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range files {
		tree.Set(name, "f")
	}
	return nil
}

// readDir lists a directory in order.
func readDir(root *os.Root, rel string) ([]fs.DirEntry, error) {
	d, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, errors.Join(err, d.Close())
}
