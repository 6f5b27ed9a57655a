package pillar

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// fileTreeParams are the arguments of file_tree (salt/pillar/file_tree.py).
var fileTreeParams = []loader.Param{loader.Opt("root_dir", nil), loader.Opt("follow_dir_links", false),
	loader.Opt("debug", false), loader.Opt("keep_newline", false), loader.Opt("render_default", nil),
	loader.Opt("renderer_blacklist", nil), loader.Opt("renderer_whitelist", nil), loader.Opt("template", false)}

// maxTree bounds what one tree may hold, in bytes. Salt has no bound.
const maxTree = 64 << 20

// fileTree makes keys of the files below ROOT/nodegroups/NAME and ROOT/hosts/ID.
func fileTree(e *extCall) (any, error) {
	none := payload.NewMap(0)
	root, _ := e.args["root_dir"].(string)
	if root == "" {
		e.log(slog.LevelError, "file_tree: no root_dir specified")
		return none, nil
	}
	switch e.args["keep_newline"].(type) {
	case bool, []any:
	default:
		e.log(slog.LevelError, "file_tree: keep_newline must be either True/False or a list of file globs. Skipping "+
			"this ext_pillar for root_dir %s", root)
		return none, nil
	}
	dirs := []string{root}
	if !filepath.IsAbs(root) {
		env := text(e.opts.Value("pillarenv"))
		if !e.envs.has(env) {
			e.log(slog.LevelError, "file_tree: root_dir is relative, and there are no pillar_roots of the pillarenv %q",
				env)
			return none, nil
		}
		dirs = nil
		for _, dir := range e.envs.dirs[env] {
			dirs = append(dirs, filepath.Join(dir, root))
		}
	}
	t := &tree{extCall: e, left: maxTree, keep: e.args["keep_newline"],
		follow: python.Truth(e.args["follow_dir_links"])}
	if e.args["template"] == true {
		t.render = renderers.New(e.rendererOptions(loader.StringList(e.args["renderer_blacklist"]),
			loader.StringList(e.args["renderer_whitelist"])))
	}
	out := payload.NewMap(0)
	for _, dir := range dirs {
		if err := t.root(dir, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tree reads one file_tree.
type tree struct {
	*extCall
	keep   any
	follow bool
	render *renderers.Set // nil: files are no templates
	left   int            // bytes that may still be read
}

// root puts the trees of the minion's node groups and its own over out.
func (t *tree) root(dir string, out *payload.Map) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.log(slog.LevelError, "file_tree: root_dir %s does not exist or is not a directory", dir)
		return nil
	}
	groups := t.opts.Map("nodegroups")
	entries, _ := os.ReadDir(filepath.Join(dir, "nodegroups")) // without it there are none
	for _, entry := range entries {
		if target, ok := groups.Get(entry.Name()); ok && t.means(target) {
			if err := t.dir(filepath.Join(dir, "nodegroups", entry.Name()), "", out, nil); err != nil {
				return err
			}
		}
	}
	if !filepath.IsLocal(t.q.ID) || strings.ContainsRune(t.q.ID, '/') {
		return nil
	}
	host := filepath.Join(dir, "hosts", t.q.ID)
	info, err := os.Stat(host)
	switch {
	case err != nil:
		return nil
	case !info.IsDir():
		t.log(slog.LevelError, "file_tree: %s exists, but is not a directory", host)
		return nil
	}
	return t.dir(host, "", out, nil)
}

// dir reads one directory: its directories first, then its files, each by name. above holds the directories that it
// lies in.
func (t *tree) dir(dir, prefix string, out *payload.Map, above []os.FileInfo) error {
	here, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	for _, up := range above {
		if os.SameFile(up, here) {
			return nil
		}
	}
	above = append(append([]os.FileInfo{}, above...), here)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.log(slog.LevelError, "file_tree: %s", err)
		return nil
	}
	var files, inside []os.DirEntry
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err != nil || !info.IsDir() {
			files = append(files, entry)
			continue
		}
		if _, ok := out.Value(entry.Name()).(*payload.Map); !ok {
			out.Set(entry.Name(), payload.NewMap(0))
		}
		if entry.Type()&os.ModeSymlink == 0 || t.follow {
			inside = append(inside, entry)
		}
	}
	for _, entry := range files {
		if err := t.file(dir, prefix, entry.Name(), out); err != nil {
			return err
		}
	}
	for _, entry := range inside {
		if err := t.dir(filepath.Join(dir, entry.Name()), filepath.Join(prefix, entry.Name()), out.Map(entry.Name()),
			above); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) file(dir, prefix, name string, out *payload.Map) error {
	path := filepath.Join(dir, name)
	content, err := t.read(path)
	if err != nil {
		t.log(slog.LevelError, "file_tree: Error reading %s: %s", path, err)
		return nil
	}
	if t.left -= len(content); t.left < 0 {
		return loader.ExecErr("file_tree: more than %d bytes", maxTree)
	}
	if n := len(content); n > 0 && content[n-1] == '\n' && !t.keeps(prefix, name) {
		content = content[:n-1]
	}
	if t.render == nil {
		out.Set(name, content)
		return nil
	}
	if wrong := python.UTF8Error(content); wrong != "" {
		return loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	v := any(payload.NewMap(0))
	if strings.TrimSpace(string(content)) != "" {
		v, err = t.render.Compile(t.ctx, text(t.args["render_default"]), renderers.Input{Template: renderers.InString,
			Data: string(content)})
	}
	if err == nil {
		out.Set(name, v)
	}
	return err
}

// read reads a regular file; it waits for no pipe.
func (t *tree) read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, loader.ExecErr("not a regular file")
	case info.Size() > int64(t.left):
		return nil, loader.ExecErr("the tree has more than %d bytes", maxTree)
	}
	return os.ReadFile(path)
}

// keeps tells whether the newline at the end of a file belongs to its value.
func (t *tree) keeps(prefix, name string) bool {
	if all, ok := t.keep.(bool); ok {
		return all
	}
	if prefix == "" {
		prefix = "."
	}
	for _, pattern := range t.keep.([]any) {
		if fnmatch.Match(python.Str(pattern), prefix+"/"+name) {
			return true
		}
	}
	return false
}
