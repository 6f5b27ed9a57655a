package gitfs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// listing is all that is in a tree, by its path. It is never changed.
type listing struct {
	tree    plumbing.Hash
	entries map[string]entry
	targets map[string]string // what links lead to
}

// list reads a tree whole. Names that are no UTF-8 are left out: they would break the lists of all.
func (o *objects) list(tree plumbing.Hash) (*listing, error) {
	l := &listing{tree: tree, entries: map[string]entry{}, targets: map[string]string{}}
	w := &walk{objects: o, listing: l, known: map[plumbing.Hash][]entry{}}
	return l, w.dir(tree, "", 0)
}

// walk goes through a tree. Folders of the same content are read once.
type walk struct {
	*objects
	*listing
	known map[plumbing.Hash][]entry
}

func (w *walk) names(tree plumbing.Hash) ([]entry, error) {
	if names, ok := w.known[tree]; ok {
		return names, nil
	}
	data, _, err := w.read(plumbing.TreeObject, tree)
	if err != nil {
		return nil, err
	}
	names, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", tree, err)
	}
	w.known[tree] = names
	return names, nil
}

func (w *walk) dir(tree plumbing.Hash, dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: more than %d folders lie within each other", errTooMuch, maxDepth)
	}
	names, err := w.names(tree)
	if err != nil {
		return err
	}
	l := w.listing
	for _, e := range names {
		if !utf8.ValidString(e.name) || e.mode&modeKind == modeModule {
			continue
		}
		if len(l.entries) >= maxEntries {
			return fmt.Errorf("%w: a commit with more than %d names", errTooMuch, maxEntries)
		}
		full := path.Join(dir, e.name)
		l.entries[full] = e
		switch e.mode & modeKind {
		case modeDir:
			if err := w.dir(e.hash, full, depth+1); err != nil {
				return err
			}
		case modeLink:
			target, _, err := w.read(plumbing.BlobObject, e.hash)
			if err != nil {
				return err
			}
			if len(target) <= 4096 && utf8.Valid(target) {
				l.targets[full] = string(target)
			}
		}
	}
	return nil
}

// maxLinks is how many links may lead to each other.
const maxLinks = 100

// find looks for a file. A link is followed where it leads to a file of the same tree; nothing leads out of it.
func (l *listing) find(name string) (entry, bool) {
	for range maxLinks {
		name = path.Clean(name)
		if strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") {
			return entry{}, false
		}
		e, ok := l.entries[name]
		if !ok || e.mode&modeKind == modeDir {
			return entry{}, false
		}
		if e.mode&modeKind != modeLink {
			return e, e.mode&modeKind == modeFile
		}
		target, ok := l.targets[name]
		if !ok || target == "" {
			return entry{}, false
		}
		name = path.Join(path.Dir(name), strings.TrimLeft(target, "/"))
	}
	return entry{}, false
}

// under adds what lies below a root to lists, behind a mountpoint.
func (l *listing) under(root, mount string, files, dirs map[string]bool, links map[string]string) {
	root = path.Clean("/" + root)[1:]
	if root != "" && l.entries[root].mode&modeKind != modeDir {
		return
	}
	for name, e := range l.entries {
		rel, ok := name, true
		if root != "" {
			rel, ok = strings.CutPrefix(name, root+"/")
		}
		if !ok {
			continue
		}
		rel = path.Join(mount, rel)
		if e.mode&modeKind == modeDir {
			dirs[rel] = true
			continue
		}
		files[rel] = true
		if target, ok := l.targets[name]; ok {
			links[rel] = target
		}
	}
	if mount != "" {
		dirs[mount] = true
	}
}

func sortedNames(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
