package reactor

import (
	"os"
	"path"
	"slices"
	"strings"

	"brine/wire/python/fnmatch"
)

// globFiles lists the files that a pattern of Python's glob.glob means, by name. Unlike Salt: in that order, where Salt
// has that of the directory.
func globFiles(pattern string) []string {
	if !fnmatch.HasMagic(pattern) {
		if _, err := os.Lstat(pattern); err != nil || pattern == "" {
			return nil
		}
		return []string{pattern}
	}
	dir, base := path.Split(pattern)
	dirs := []string{dir}
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" && fnmatch.HasMagic(trimmed) {
		dirs = globFiles(trimmed)
	}
	var out []string
	for _, d := range dirs {
		out = append(out, below(d, base)...)
	}
	slices.Sort(out)
	return out
}

// below lists what of a directory a pattern without slashes means; files whose names begin with a dot only if it does,
// too.
func below(dir, base string) (out []string) {
	if !fnmatch.HasMagic(base) {
		name := path.Join(dir, base)
		if _, err := os.Stat(name); err != nil {
			return nil
		}
		return []string{name}
	}
	at := dir
	if at == "" {
		at = "."
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	glob := fnmatch.Compile(base)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") || !glob.Match(name) {
			continue
		}
		out = append(out, path.Join(dir, name))
	}
	return out
}
