package fileserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Times where none are configured, in seconds: Salt's fileserver_list_cache_time and roots_update_interval.
const (
	listTime   = 20
	updateTime = 60
)

// Kind is a kind of backend: its name as fileserver_backend has it once the configuration is loaded (minionfs, not
// minion), and what makes one of a configuration. A backend with an error works, as far as the error does not say;
// without a backend the error tells which option is at fault, unless it is ErrLeftOut: then the others do without it.
type Kind struct {
	Name string
	Make func(opts *payload.Map) (Backend, error)
}

// ErrLeftOut means that a backend is asked for and cannot work with the other options.
var ErrLeftOut = errors.New("left out")

// kinds are those of this package.
func kinds() []Kind { return []Kind{{backendRoots, makeRoots}, {backendMinions, makeMinions}} }

// Configured returns the server that a configuration asks for (config.Master or config.Minion, the map of all options),
// with the backends in the order of fileserver_backend; more are kinds of backends of other packages. With it may come
// an error that names what is left out, as patterns that are none: the server works without them. Without a server the
// error tells which option is at fault. Unlike Salt: a backend that is not there is an error, and not left out in
// silence.
func Configured(opts *payload.Map, more ...Kind) (*Server, error) {
	list, bad := backendsOf(opts, append(kinds(), more...))
	if list == nil {
		return nil, bad
	}
	buffer, _ := opts.Int("file_buffer_size")
	s, err := New(Options{Backends: list, HashType: strings.ToLower(opts.Str("hash_type")), Buffer: int(buffer),
		Pace: map[string]time.Duration{backendRoots: seconds(opts, "roots_update_interval", updateTime)}})
	if err != nil {
		return nil, errors.Join(err, bad)
	}
	return s, bad
}

// backendsOf makes the backends that are asked for; none at all are an error.
func backendsOf(opts *payload.Map, known []Kind) (list []Backend, bad error) {
	names := []string{backendRoots}
	if opts.Has("fileserver_backend") {
		names = wordsOf(opts.Value("fileserver_backend"))
	}
	for i, name := range names {
		at := slices.IndexFunc(known, func(k Kind) bool { return k.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("fileserver_backend: there is no backend %s here, only %s", payload.Show(name),
				namesOf(known))
		}
		if slices.Contains(names[:i], name) {
			continue
		}
		b, err := known[at].Make(opts)
		if b == nil && err != nil && !errors.Is(err, ErrLeftOut) {
			return nil, err
		}
		if bad = errors.Join(bad, err); b != nil {
			list = append(list, b)
		}
	}
	if list == nil {
		return nil, errors.Join(bad, fmt.Errorf("fileserver_backend: %s leaves no backend",
			payload.Show(strings.Join(names, ", "))))
	}
	return list, bad
}

func namesOf(known []Kind) string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.Name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func makeRoots(opts *payload.Map) (Backend, error) {
	return NewRoots(RootsOptions{
		Envs: envsOf(opts), FollowSymlinks: opts.Bool("fileserver_followsymlinks"),
		IgnoreSymlinks: opts.Bool("fileserver_ignoresymlinks"), IgnoreRegex: wordsOf(opts.Value("file_ignore_regex")),
		IgnoreGlob: wordsOf(opts.Value("file_ignore_glob")), ListTime: seconds(opts, "fileserver_list_cache_time",
			listTime), MtimeFile: filepath.Join(opts.Str("cachedir"), backendRoots, "mtime_map"),
	})
}

func makeMinions(opts *payload.Map) (Backend, error) {
	if !opts.Bool("file_recv") {
		return nil, fmt.Errorf("fileserver_backend: %s is %w: minions may push no files (file_recv)", backendMinions,
			ErrLeftOut)
	}
	return NewMinions(MinionsOptions{
		Dir: filepath.Join(opts.Str("cachedir"), "minions"), Env: opts.Str("minionfs_env"),
		Mount: opts.Str("minionfs_mountpoint"), Whitelist: wordsOf(opts.Value("minionfs_whitelist")),
		Blacklist: wordsOf(opts.Value("minionfs_blacklist")), IgnoreRegex: wordsOf(opts.Value("file_ignore_regex")),
		IgnoreGlob: wordsOf(opts.Value("file_ignore_glob")),
	})
}

// envsOf reads file_roots.
func envsOf(opts *payload.Map) map[string][]string {
	out := map[string][]string{}
	roots := opts.Map("file_roots")
	if roots == nil {
		return out
	}
	for env, dirs := range roots.All() {
		list := []string{}
		for _, dir := range wordsOf(dirs) {
			if abs, err := filepath.Abs(dir); err == nil {
				list = append(list, abs)
			}
		}
		out[python.Str(env)] = list
	}
	return out
}

// wordsOf are the texts of an option that is a list, or one word.
func wordsOf(v any) []string {
	switch v := v.(type) {
	case []any:
		out := make([]string, 0, len(v))
		for _, w := range v {
			out = append(out, python.Str(w))
		}
		return out
	case string:
		if v != "" {
			return []string{v}
		}
	}
	return nil
}

func seconds(opts *payload.Map, key string, otherwise float64) time.Duration {
	n := otherwise
	switch v := opts.Value(key).(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	return time.Duration(n * float64(time.Second))
}
