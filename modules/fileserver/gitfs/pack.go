package gitfs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Limits say how much one fetch may bring.
type Limits struct {
	Pack     int64 // bytes of one pack as it is sent
	Unpacked int64 // bytes of all objects in it
	Object   int64 // bytes of one object
	Refs     int   // references of a remote
	Spare    int64 // bytes of packs that may stand beside twice what a whole clone took, before all is fetched anew
}

// defaultLimits are far above what trees for a file server have.
var defaultLimits = Limits{Pack: 2 << 30, Unpacked: 16 << 30, Object: maxBlob, Refs: 50_000, Spare: 64 << 20}

// errTooMuch means that a remote sends more than a limit allows.
var errTooMuch = errors.New("the remote sends more than is taken")

// bounded reads no more than so many bytes, and nothing once ctx has ended.
type bounded struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left <= 0 {
		return 0, errTooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// takePack writes a pack into a folder of objects, with its index, and only when all of it is sound: no object and no
// sum of objects is greater than the limits, also where a delta only claims so. Everything happens in the calling
// goroutine.
func takePack(ctx context.Context, dir string, r io.Reader, lim Limits) (err error) {
	defer rescue(&err)
	packs := filepath.Join(dir, "objects", "pack")
	if err := os.MkdirAll(packs, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(packs, "tmp_pack_")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	n, err := io.Copy(f, &bounded{ctx, r, lim.Pack})
	if err != nil || n == 0 {
		return errors.Join(err, errIf(n == 0, packfile.ErrEmptyPackfile))
	}
	if err := weigh(ctx, f, lim); err != nil {
		return err
	}
	return index(ctx, f, packs)
}

func errIf(cond bool, err error) error {
	if cond {
		return err
	}
	return nil
}

// weigh reads a pack once and holds what its objects say of themselves to the limits.
func weigh(ctx context.Context, f *os.File, lim Limits) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := packfile.NewScanner(f)
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	var sum int64
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := s.NextObjectHeader()
		if err != nil {
			return err
		}
		size := h.Length
		if size > lim.Object || size < 0 {
			return fmt.Errorf("%w: an object of %d bytes", errTooMuch, size)
		}
		head := &prefix{}
		n, _, err := s.NextObject(head)
		if err != nil {
			return err
		}
		if !h.Type.Valid() || h.Type == 5 || n != size { // 5 is kept free by git
			return fmt.Errorf("damaged pack: an object of kind %d with %d bytes instead of %d", h.Type, n, size)
		}
		if h.Type.IsDelta() {
			_, n := binary.Uvarint(head.b)
			target, m := binary.Uvarint(head.b[max(n, 0):])
			if n <= 0 || m <= 0 || target > uint64(lim.Object) {
				return fmt.Errorf("%w: a delta that makes %d bytes", errTooMuch, target)
			}
			size += int64(target)
		}
		if sum += size; sum > lim.Unpacked {
			return fmt.Errorf("%w: objects of more than %d bytes", errTooMuch, lim.Unpacked)
		}
	}
	return nil
}

// prefix keeps the first bytes of what is written to it.
type prefix struct{ b []byte }

func (p *prefix) Write(b []byte) (int, error) {
	if room := 32 - len(p.b); room > 0 {
		p.b = append(p.b, b[:min(room, len(b))]...)
	}
	return len(b), nil
}

// index writes the index beside a pack, and gives both their names, the pack last: without it the index is not looked
// at.
func index(ctx context.Context, f *os.File, packs string) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(f), w, watcher{ctx})
	if err != nil {
		return err
	}
	sum, err := parser.Parse()
	if err != nil {
		return err
	}
	idx, err := w.Index()
	if err != nil {
		return err
	}
	base := filepath.Join(packs, "pack-"+sum.String())
	out, err := os.OpenFile(base+".idx", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(out)
	_, err = idxfile.NewEncoder(buf).Encode(idx)
	if err = errors.Join(err, buf.Flush(), out.Sync(), out.Close(), f.Sync()); err != nil {
		return err
	}
	return os.Rename(f.Name(), base+".pack")
}

// watcher ends the work on a pack when ctx has ended.
type watcher struct{ ctx context.Context }

func (w watcher) OnHeader(uint32) error { return nil }
func (w watcher) OnInflatedObjectHeader(plumbing.ObjectType, int64, int64) error {
	return w.ctx.Err()
}
func (w watcher) OnInflatedObjectContent(plumbing.Hash, int64, uint32, []byte) error { return nil }
func (w watcher) OnFooter(plumbing.Hash) error                                       { return nil }
