package fileserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// listTime is Salt's fileserver_list_cache_time where none is configured, in seconds.
const listTime = 20

// Configured returns the server that a configuration asks for (config.Master or config.Minion, the map of all options). With it
// may come an error that names the patterns which are none: the server works without them. Without a server the error tells
// which option is at fault. Unlike Salt: a backend that is not there is an error, and not left out in silence.
func Configured(opts *payload.Map) (*Server, error) {
	for _, name := range wordsOf(opts.Value("fileserver_backend")) {
		if name != backendRoots {
			return nil, fmt.Errorf("fileserver_backend: there is no backend %s here, only %s", payload.Show(name), backendRoots)
		}
	}
	roots, bad := NewRoots(RootsOptions{
		Envs: envsOf(opts), FollowSymlinks: opts.Bool("fileserver_followsymlinks"), IgnoreSymlinks: opts.Bool("fileserver_ignoresymlinks"),
		IgnoreRegex: wordsOf(opts.Value("file_ignore_regex")), IgnoreGlob: wordsOf(opts.Value("file_ignore_glob")),
		ListTime: seconds(opts, "fileserver_list_cache_time", listTime), MtimeFile: filepath.Join(opts.Str("cachedir"), backendRoots, "mtime_map"),
	})
	buffer, _ := opts.Int("file_buffer_size")
	s, err := New(Options{Backends: []Backend{roots}, HashType: strings.ToLower(opts.Str("hash_type")), Buffer: int(buffer)})
	if err != nil {
		return nil, errors.Join(err, bad)
	}
	return s, bad
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
		out[pytext.Str(env)] = list
	}
	return out
}

// wordsOf are the texts of an option that is a list, or one word.
func wordsOf(v any) []string {
	switch v := v.(type) {
	case []any:
		out := make([]string, 0, len(v))
		for _, w := range v {
			out = append(out, pytext.Str(w))
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
