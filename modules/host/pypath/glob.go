package pypath

import (
	"os"
	"slices"
	"strings"

	"brine/wire/python/fnmatch"
)

// Glob is glob.glob: the paths that fit a pattern. A name that begins with a dot fits only a pattern that does. Unlike
// Python's, the result is sorted.
func Glob(pattern string) []string {
	out := glob(pattern)
	slices.Sort(out)
	return out
}

func glob(pattern string) []string {
	dir, base := Split(pattern)
	if !fnmatch.HasMagic(pattern) {
		if base != "" && exists(pattern) || base == "" && isDir(dir) {
			return []string{pattern}
		}
		return nil
	}
	if dir == "" {
		return names(".", base)
	}
	dirs := []string{dir}
	if dir != pattern && fnmatch.HasMagic(dir) {
		dirs = glob(dir)
	}
	var out []string
	for _, d := range dirs {
		switch {
		case fnmatch.HasMagic(base):
			for _, name := range names(d, base) {
				out = append(out, Join(d, name))
			}
		case base == "" && isDir(d), base != "" && exists(Join(d, base)):
			out = append(out, Join(d, base))
		}
	}
	return out
}

// names are those in a directory that fit a pattern.
func names(dir, pattern string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	fits := fnmatch.Compile(pattern)
	var out []string
	for _, e := range entries {
		if hidden := strings.HasPrefix(e.Name(), "."); (!hidden || strings.HasPrefix(pattern, ".")) &&
			fits.Match(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
