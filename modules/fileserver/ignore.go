package fileserver

import (
	"errors"
	"fmt"

	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// ignore are the names that are not served.
type ignore struct {
	regexps []*re.Pattern
	globs   []*fnmatch.Pattern
}

func newIgnore(regexps, globs []string) (ig *ignore, err error) {
	ig = &ignore{}
	for _, pattern := range regexps {
		re, bad := re.CompileSearch(pattern)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("file_ignore_regex: %w", bad))
			continue
		}
		ig.regexps = append(ig.regexps, re)
	}
	for _, pattern := range globs {
		ig.globs = append(ig.globs, fnmatch.Compile(pattern))
	}
	return ig, err
}

// has tells whether a path is not served. A pattern that takes too long for it hides it: what was to be kept back is
// not given away.
func (ig *ignore) has(path string) bool {
	for _, re := range ig.regexps {
		if ok, err := re.Match(path); ok || err != nil {
			return true
		}
	}
	for _, g := range ig.globs {
		if g.Match(path) {
			return true
		}
	}
	return false
}
