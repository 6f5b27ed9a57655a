package gitfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"
)

// Limits of what is read of a repository.
const (
	maxMeta     = 64 << 20 // bytes of one commit, tag or tree
	maxBlob     = 1 << 30  // bytes of one file
	maxEntries  = 300_000  // names in all trees of a commit
	maxDepth    = 256      // folders within each other
	maxTagChain = 16       // tags of tags
	// bytes of a file up to which it is read whole; greater ones are streamed where the pack allows it
	inMemory    = 4 << 20
	objectCache = 4 << 20 // bytes of objects that one repository remembers
)

// objects reads the objects of a repository. It is not for two goroutines at a time.
type objects struct{ store *filesystem.Storage }

// openObjects opens the folder of a repository as git lays it out (with a folder objects in it).
func openObjects(dir string) *objects {
	return &objects{filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(objectCache),
		filesystem.Options{LargeObjectThreshold: inMemory})}
}

func (o *objects) has(h plumbing.Hash) bool { return o.store.HasEncodedObject(h) == nil }

// read returns a small object. A damaged pack is an error, whatever the library makes of it.
func (o *objects) read(kind plumbing.ObjectType, h plumbing.Hash) (data []byte, got plumbing.ObjectType, err error) {
	defer rescue(&err)
	obj, err := o.store.EncodedObject(kind, h)
	if err != nil {
		return nil, 0, fmt.Errorf("object %s: %w", h, err)
	}
	if obj.Size() > maxMeta {
		return nil, 0, fmt.Errorf("%w: object %s with %d bytes", errTooMuch, h, obj.Size())
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	data, err = io.ReadAll(io.LimitReader(r, maxMeta))
	return data, obj.Type(), err
}

// size is how many bytes a file has.
func (o *objects) size(h plumbing.Hash) (n int64, err error) {
	defer rescue(&err)
	return o.store.EncodedObjectSize(h)
}

// rescue makes an error of a panic of the library.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged repository: %v", p)
	}
}

// peel follows tags to what they mean, a commit as a rule.
func (o *objects) peel(h plumbing.Hash) (plumbing.Hash, plumbing.ObjectType, []byte, error) {
	for range maxTagChain {
		data, kind, err := o.read(plumbing.AnyObject, h)
		if err != nil || kind != plumbing.TagObject {
			return h, kind, data, err
		}
		next, ok := field(data, "object ")
		if !ok {
			return h, kind, nil, fmt.Errorf("tag %s means nothing", h)
		}
		h = next
	}
	return h, plumbing.InvalidObject, nil, errors.New("a tag of tags of tags without an end")
}

// field reads a hash from the first lines of a commit or a tag.
func field(data []byte, name string) (plumbing.Hash, bool) {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if len(line) == 0 {
			break
		}
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return plumbing.NewHash(string(rest)), plumbing.IsHash(string(rest))
		}
	}
	return plumbing.ZeroHash, false
}

// parents are those of a commit.
func parents(data []byte) (out []plumbing.Hash) {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if len(line) == 0 {
			break
		}
		if rest, ok := bytes.CutPrefix(line, []byte("parent ")); ok && plumbing.IsHash(string(rest)) {
			out = append(out, plumbing.NewHash(string(rest)))
		}
	}
	return out
}

// errNoCommit means that a tag means a file or a tree. It is no environment.
var errNoCommit = errors.New("a tag of what is no commit")

// treeOf is the tree of a commit, or of what a tag means.
func (o *objects) treeOf(h plumbing.Hash) (plumbing.Hash, error) {
	_, kind, data, err := o.peel(h)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, ok := field(data, "tree ")
	if kind != plumbing.CommitObject || !ok {
		return plumbing.ZeroHash, errNoCommit
	}
	return tree, nil
}

// Modes of entries of a tree, as git writes them.
const (
	modeDir    = 0o040000
	modeFile   = 0o100000
	modeLink   = 0o120000
	modeModule = 0o160000
	modeKind   = 0o170000
)

// entry is a name in a tree.
type entry struct {
	name string
	mode int64
	hash plumbing.Hash
}

// parseTree takes a tree apart. Names that lead elsewhere, or into the repository itself (.git), are no names.
func parseTree(data []byte) ([]entry, error) {
	out, err := rawTree(data)
	return slices.DeleteFunc(out, func(e entry) bool { return !validName(e.name) }), err
}

// rawTree takes a tree apart, with whatever names there are.
func rawTree(data []byte) ([]entry, error) {
	var out []entry
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		n, err := strconv.ParseInt(string(mode), 8, 32)
		if !ok || !ok2 || err != nil || len(rest) < 20 {
			return nil, errors.New("damaged tree")
		}
		var h plumbing.Hash
		copy(h[:], rest)
		data = rest[20:]
		out = append(out, entry{string(name), n, h})
	}
	return out, nil
}

func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !bytes.EqualFold([]byte(name), []byte(".git")) &&
		len(name) <= 255 && !bytes.ContainsAny([]byte(name), "/\x00")
}
