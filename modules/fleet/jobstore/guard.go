package jobstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"

	"brine/wire/disk/packedfile"
)

// guarded runs f and turns a panic into an error: bbolt answers a damaged page with an assertion or, when the
// file is shorter than it should be, with a memory fault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", packedfile.ErrDamaged, r)
		}
	}()
	return f()
}

// Layout of bbolt's two meta pages (go.etcd.io/bbolt, internal/common/meta.go), behind a page header of 16 bytes.
const (
	pageHeader  = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2
)

// checkFile compares the size of a file with the number of pages its newest meta page speaks of. bbolt
// maps the file into memory without looking, and would fault on the missing part.
func checkFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	newest, _ := newestMeta(f)
	switch {
	case info.Size() == 0: // it gets its name when it is whole
		return fmt.Errorf("%w: it is empty", packedfile.ErrDamaged)
	case newest.pages == 0:
		return fmt.Errorf("%w: it is no job store", packedfile.ErrDamaged)
	case newest.pages > uint64(info.Size())/newest.pageSize:
		return fmt.Errorf("%w: it has %d bytes and should have %d", packedfile.ErrDamaged, info.Size(),
			newest.pages*newest.pageSize)
	}
	return nil
}

// newestMeta is the meta page that counts; the zero meta when there is none. whole says that both can be read.
func newestMeta(f io.ReaderAt) (newest meta, whole bool) {
	whole = true
	for _, at := range []int64{0, int64(os.Getpagesize())} {
		m, err := readMeta(f, at)
		if err != nil {
			whole = false
		} else if m.txid >= newest.txid {
			newest = m
		}
	}
	return newest, whole
}

// meta is what matters of a meta page.
type meta struct{ pageSize, root, freelist, pages, txid uint64 }

var errNoMeta = errors.New("no meta page")

func readMeta(f io.ReaderAt, at int64) (meta, error) {
	b := make([]byte, pageHeader+metaSize)
	if _, err := f.ReadAt(b, at); err != nil {
		return meta{}, err
	}
	b = b[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	order := binary.NativeEndian
	m := meta{uint64(order.Uint32(b[8:])), order.Uint64(b[16:]), order.Uint64(b[32:]), order.Uint64(b[40:]),
		order.Uint64(b[48:])}
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[56:]) != sum.Sum64() ||
		m.pageSize == 0 {
		return meta{}, errNoMeta
	}
	return m, nil
}
