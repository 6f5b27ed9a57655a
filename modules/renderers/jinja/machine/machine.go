package machine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"brine/modules/host/webquery"
	"brine/modules/loader"
	"brine/modules/renderers/jinja/py"
	"brine/wire/payload"
)

// Machine is the machine this process runs on.
type Machine struct {
	MaxFiles int          // list_files refuses to list more; 0 means 100,000
	Opts     *payload.Map // of the process: http_request_timeout, proxy_host, ... for http_query
}

// maxAnswer is the most bytes of an answer to http_query; http_max_body may say less.
const maxAnswer = 8 << 20

// httpQuery asks a web server.
func (m Machine) httpQuery(ctx context.Context, at any, options *py.Dict) (any, error) {
	given, err := py.To(py.NewWork(ctx, 0, 0), options)
	if err != nil {
		return nil, err
	}
	if text, ok := py.Text(at); ok {
		at = text
	}
	out, err := webquery.Ask(ctx, webquery.Options{Name: "the filter 'http_query'", Opts: m.Opts, Most: maxAnswer}, at,
		given.(*payload.Map))
	var e *loader.Exception
	if errors.As(err, &e) {
		return nil, py.Errorf(e.Class, "%s", e.Message)
	}
	if err != nil {
		return nil, err
	}
	return py.From(out), nil
}

// Ask answers a filter: the arguments are those of Salt's signature, in its order.
func (m Machine) Ask(ctx context.Context, filter string, args []any) (any, error) {
	switch filter {
	case "http_query":
		options, _ := args[1].(*py.Dict)
		return m.httpQuery(ctx, args[0], options)
	case "get_uid":
		return uid(args[0])
	case "dns_check":
		return dnsCheck(ctx, args[0], args[1], args[2], args[3])
	case "which":
		if yes, err := py.Truth(args[0]); !yes || err != nil {
			return nil, err
		}
	}
	path, ok := py.Text(args[0])
	if !ok {
		return nil, noPath(filter, args[0])
	}
	if strings.ContainsRune(path, 0) {
		return nil, py.Errorf("ValueError", "embedded null byte")
	}
	switch filter {
	case "which":
		return which(path), nil
	case "is_empty":
		info, err := os.Stat(path)
		return err == nil && info.Size() == 0, nil
	case "is_text_file":
		return isText(path, args[1])
	case "is_bin_file":
		return isBinaryFile(path)
	case "file_hashsum":
		return hashOf(ctx, path, args[1])
	case "list_files":
		return m.list(ctx, path)
	}
	return nil, py.Errorf("NotImplementedError", "the filter '%s' is not there", filter)
}

// noPath is the error of a value that is no text.
func noPath(filter string, v any) error {
	u, undefined := v.(*py.Undefined)
	switch {
	case filter == "is_empty" || filter == "is_bin_file":
		return py.Errorf("TypeError", "stat: path should be string, bytes, os.PathLike or integer, not %s",
			py.TypeName(v))
	case undefined:
		return u.Err()
	}
	return py.Errorf("TypeError", "the filter '%s' wants a path, not %s", filter, py.TypeName(v))
}

// uid is the number of a user, nil for one who is not there.
func uid(name any) (any, error) {
	if name == nil {
		return int64(os.Geteuid()), nil
	}
	text, ok := py.Text(name)
	if !ok {
		return nil, py.Errorf("TypeError", "getpwnam() argument must be str, not %s", py.TypeName(name))
	}
	u, err := user.Lookup(text)
	if err != nil {
		return nil, nil
	}
	return strconv.ParseInt(u.Uid, 10, 64)
}

// which finds a program in PATH and in the folders where programs usually are.
func which(name string) any {
	if runs(name) {
		return name
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, dir := range append(dirs, "/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin") {
		if path := filepath.Join(os.ExpandEnv(dir), name); runs(path) {
			return path
		}
	}
	return nil
}

// runs says whether this is a file that this process may run.
func runs(path string) bool {
	info, err := os.Stat(path)
	const execute = 1
	return err == nil && info.Mode().IsRegular() && syscall.Access(path, execute) == nil
}

// list is a directory and all below it; links are followed, each directory is looked into once.
func (m Machine) list(ctx context.Context, top string) (any, error) {
	most := m.MaxFiles
	if most == 0 {
		most = 100_000
	}
	w := walk{ctx: ctx, most: most, seen: map[[2]uint64]bool{}, out: py.NewList(top)}
	if err := w.into(top, 0); err != nil {
		return nil, err
	}
	return w.out, nil
}

type walk struct {
	ctx  context.Context
	most int
	seen map[[2]uint64]bool // directories, by device and number
	out  *py.List
}

var errDeep = errors.New("directories lie in each other too deeply")

func (w *walk) into(dir string, depth int) error {
	if depth > 1000 {
		return errDeep
	}
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id := [2]uint64{uint64(st.Dev), uint64(st.Ino)}
		if w.seen[id] {
			return nil
		}
		w.seen[id] = true
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil // Salt lists what it can
	}
	entries, err := f.ReadDir(w.most - len(w.out.Items) + 1)
	f.Close()
	if err != nil && len(entries) == 0 {
		return nil
	}
	if len(w.out.Items)+len(entries) > w.most {
		return py.Errorf("OSError", "list_files: there are more than %d files", w.most)
	}
	var below []string
	for _, e := range entries {
		path := join(dir, e.Name())
		w.out.Items = append(w.out.Items, path)
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			below = append(below, path)
		}
	}
	for _, path := range below {
		if err := w.into(path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// join is os.path.join for a name.
func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") || dir == "" {
		return dir + name
	}
	return dir + "/" + name
}
