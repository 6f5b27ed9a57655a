package gitfs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// local is a repository of this machine. Nothing is written there, and none of its hooks and programs runs.
type local struct{ objects *objects }

// openLocal opens a repository, or the one in the .git of a working tree.
func openLocal(dir string) (source, error) {
	for _, path := range []string{filepath.Join(dir, ".git"), dir, dir + ".git"} {
		info, err := os.Stat(filepath.Join(path, "objects"))
		if err == nil && info.IsDir() {
			return &local{openObjects(path)}, nil
		}
	}
	return nil, fmt.Errorf("%s is no git repository", dir)
}

func (l *local) Close() error { return l.objects.store.Close() }

func (l *local) refs(ctx context.Context) (refs, peeled map[string]plumbing.Hash, err error) {
	defer rescue(&err)
	refs, peeled = map[string]plumbing.Hash{}, map[string]plumbing.Hash{}
	iter, err := l.objects.store.IterReferences()
	if err != nil {
		return nil, nil, err
	}
	defer iter.Close()
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && ref.Name() != plumbing.HEAD && ctx.Err() == nil {
			refs[ref.Name().String()] = ref.Hash()
			if ref.Name().IsTag() {
				if h, _, _, err := l.objects.peel(ref.Hash()); err == nil && h != ref.Hash() {
					peeled[ref.Name().String()] = h
				}
			}
		}
		return ctx.Err()
	})
	return refs, peeled, err
}

// pack encodes objects as they are, without looking for likenesses among them.
func (l *local) pack(ctx context.Context, wants, haves []plumbing.Hash) (rc io.ReadCloser, err error) {
	defer rescue(&err)
	c := closure{ctx: ctx, objects: l.objects, seen: map[plumbing.Hash]bool{}}
	for _, h := range haves {
		if err := c.exclude(h); err != nil {
			return nil, err
		}
	}
	for _, h := range wants {
		if err := c.add(h); err != nil {
			return nil, err
		}
	}
	pr, pw := io.Pipe()
	go func() {
		err := func() (err error) {
			defer rescue(&err)
			buf := bufio.NewWriterSize(pw, 1<<16)
			_, err = packfile.NewEncoder(buf, l.objects.store, false).Encode(c.out, 0)
			return errors.Join(err, buf.Flush())
		}()
		pw.CloseWithError(err)
	}()
	return pr, nil
}

// closure collects objects with all that they stand on.
type closure struct {
	ctx     context.Context
	objects *objects
	seen    map[plumbing.Hash]bool
	out     []plumbing.Hash
}

// exclude marks a commit that the other side has, with its tree and all before it. One that is not here is none.
func (c *closure) exclude(h plumbing.Hash) error {
	if !c.objects.has(h) {
		return nil
	}
	err := c.add(h)
	c.out = nil
	return err
}

// add collects a commit, a tag, a tree or a blob. Histories are followed without recursion: they are long.
func (c *closure) add(start plumbing.Hash) error {
	queue := []plumbing.Hash{start}
	for len(queue) > 0 {
		h := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if c.seen[h] {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		obj, err := c.objects.store.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return fmt.Errorf("object %s: %w", h, err)
		}
		c.seen[h] = true
		c.out = append(c.out, h)
		if obj.Type() == plumbing.BlobObject {
			continue
		}
		data, kind, err := c.objects.read(plumbing.AnyObject, h)
		if err != nil {
			return err
		}
		next, err := c.below(kind, data)
		if err != nil {
			return fmt.Errorf("object %s: %w", h, err)
		}
		queue = append(queue, next...)
	}
	return nil
}

// below are the objects that one names. Files are collected without being looked at.
func (c *closure) below(kind plumbing.ObjectType, data []byte) ([]plumbing.Hash, error) {
	switch kind {
	case plumbing.CommitObject:
		tree, _ := field(data, "tree ")
		return append(parents(data), tree), nil
	case plumbing.TagObject:
		h, _ := field(data, "object ")
		return []plumbing.Hash{h}, nil
	}
	entries, err := rawTree(data)
	var out []plumbing.Hash
	for _, e := range entries {
		switch e.mode & modeKind {
		case modeModule:
		case modeDir:
			out = append(out, e.hash)
		default:
			if !c.seen[e.hash] {
				c.seen[e.hash] = true
				c.out = append(c.out, e.hash)
			}
		}
	}
	return out, err
}
