package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"brine/modules/host/accounts"
	"brine/wire/disk/wholefile"
)

// target is a directory that is unpacked in.
type target struct {
	ctx   context.Context
	root  *os.Root
	as    *owner // who owns what is made; nil: what the archive says, or this process
	after []dirMode
}

type owner struct{ uid, gid int }

// dirMode is what a directory gets when all is in it.
type dirMode struct {
	name string
	mode fs.FileMode
	time time.Time
}

// attrs are what a member gets.
type attrs struct {
	mode  fs.FileMode
	owner *owner
	time  time.Time // zero: now
}

// clean is a name as the root takes it.
func clean(name string) string { return path.Clean(strings.TrimRight(name, "/")) }

// parents makes the directories that a member is in.
func (t *target) parents(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	for i, r := range dir + "/" {
		if r != '/' {
			continue
		}
		if err := t.mkdir(dir[:i], 0o777); err != nil {
			return err
		}
	}
	return nil
}

// mkdir makes one directory, unless it is there.
func (t *target) mkdir(name string, mode fs.FileMode) error {
	err := t.root.Mkdir(name, mode)
	switch {
	case err == nil:
		return t.give(name, t.as)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if info, err := t.root.Stat(name); err != nil || !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	return nil
}

// give gives a new member to its owner.
func (t *target) give(name string, to *owner) error {
	if to == nil || os.Geteuid() != 0 {
		return nil
	}
	return t.root.Lchown(name, to.uid, to.gid)
}

// directory makes a directory of the archive. Its mode comes last: it may forbid to write in it.
func (t *target) directory(name string, a attrs) error {
	if name = clean(name); name == "." {
		return nil
	}
	if err := t.parents(name); err != nil {
		return err
	}
	if err := t.mkdir(name, 0o700); err != nil {
		return err
	}
	t.after = append(t.after, dirMode{name, a.mode, a.time})
	return t.give(name, a.owner)
}

// finish gives the directories their modes, the last ones first.
func (t *target) finish() error {
	for i := len(t.after) - 1; i >= 0; i-- {
		d := t.after[i]
		dir, err := t.root.OpenFile(d.name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		err = errors.Join(dir.Chmod(d.mode), dir.Close())
		if err == nil && !d.time.IsZero() {
			err = t.root.Chtimes(d.name, d.time, d.time)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file puts a file in its place, whole, with its owner and its mode.
func (t *target) file(name string, from io.Reader, a attrs) (err error) {
	name = clean(name)
	if err := t.parents(name); err != nil {
		return err
	}
	if info, err := t.root.Lstat(name); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("Is a directory")}
	}
	temp := path.Join(path.Dir(name), wholefile.TempPrefix+rand.Text())
	f, err := t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = t.root.Remove(temp)
		}
	}()
	_, err = io.Copy(f, &stoppable{t.ctx, from})
	if err == nil && a.owner != nil && os.Geteuid() == 0 {
		err = f.Chown(a.owner.uid, a.owner.gid)
	}
	if err == nil {
		err = f.Chmod(a.mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !a.time.IsZero() {
		if err := t.root.Chtimes(temp, a.time, a.time); err != nil {
			return err
		}
	}
	return t.root.Rename(temp, name)
}

// stoppable ends a copy with its job.
type stoppable struct {
	ctx  context.Context
	from io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	return s.from.Read(p)
}

// symlink makes a link in the place of a file or another link.
func (t *target) symlink(name, to string, a attrs) error {
	if err := checkLink(name, to); err != nil {
		return err
	}
	return t.link(name, func(place string) error {
		if err := t.root.Symlink(to, place); err != nil {
			return err
		}
		return t.give(place, a.owner)
	})
}

// link makes a name in the place of a file or a link.
func (t *target) link(name string, create func(place string) error) error {
	name = clean(name)
	if err := t.parents(name); err != nil {
		return err
	}
	if info, err := t.root.Lstat(name); err == nil && !info.IsDir() {
		if err := t.root.Remove(name); err != nil {
			return err
		}
	}
	return create(name)
}

// owners finds the users and groups of an archive by their names, as far as this machine knows them.
type owners struct {
	ctx          context.Context
	users, grups map[string]int
}

func newOwners(ctx context.Context) *owners {
	return &owners{ctx, map[string]int{}, map[string]int{}}
}

func (o *owners) of(user, group string, uid, gid int) *owner {
	return &owner{o.find(o.users, user, uid, func() (int64, bool) {
		u, ok, err := accounts.UserNamed(o.ctx, "", user)
		return u.UID, ok && err == nil
	}), o.find(o.grups, group, gid, func() (int64, bool) {
		g, ok, err := accounts.GroupNamed(o.ctx, "", group)
		return g.GID, ok && err == nil
	})}
}

func (o *owners) find(known map[string]int, name string, otherwise int, ask func() (int64, bool)) int {
	if name == "" {
		return otherwise
	}
	id, asked := known[name]
	if !asked {
		id = -1
		if n, ok := ask(); ok {
			id = int(n)
		}
		known[name] = id
	}
	if id < 0 {
		return otherwise
	}
	return id
}
