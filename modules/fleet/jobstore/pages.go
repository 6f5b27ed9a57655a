package jobstore

import (
	"encoding/binary"
	"io"
)

// What bbolt's pages hold (go.etcd.io/bbolt, internal/common/page.go and bucket.go). A page begins with its number (8
// bytes), its kind (2), how many elements it has (2), and how many pages follow that belong to it (4).
const (
	branchFlag  = 0x01
	leafFlag    = 0x02
	elementSize = 16
	bucketFlag  = 0x01 // of an element of a leaf: its value is a bucket
	// of such a value: the number of its root page (8), a sequence (8); root 0: the page itself follows
	bucketHead = 16
)

// pages reads the pages of a file of jobs one by one, past those that are damaged. bbolt gives up at the first of them.
type pages struct {
	in   io.ReaderAt
	meta meta
	seen map[uint64]bool
	bad  int // pages that cannot be read
}

// page is one page with those that belong to it.
type page struct {
	flags uint16
	count int
	data  []byte
}

// read returns a page; not ok when what stands there says that it is another one.
func (p *pages) read(id uint64) (page, bool) {
	size := p.meta.pageSize
	b := make([]byte, size)
	if id < 2 || id >= p.meta.pages {
		return page{}, false
	}
	if _, err := p.in.ReadAt(b, int64(id*size)); err != nil {
		return page{}, false
	}
	pg, more, ok := parsePage(b, id)
	if !ok || more >= p.meta.pages-id {
		return page{}, false
	}
	if more > 0 {
		pg.data = make([]byte, (more+1)*size)
		if _, err := p.in.ReadAt(pg.data, int64(id*size)); err != nil {
			return page{}, false
		}
	}
	return pg, true
}

func parsePage(b []byte, id uint64) (pg page, more uint64, ok bool) {
	order := binary.NativeEndian
	if len(b) < pageHeader || order.Uint64(b) != id {
		return page{}, 0, false
	}
	pg = page{order.Uint16(b[8:]), int(order.Uint16(b[10:])), b}
	return pg, uint64(order.Uint32(b[12:])), true
}

// element is one of a leaf.
type element struct {
	flags      uint32
	key, value []byte
}

// elements are those of a leaf; not ok when one of them is outside of the page.
func (pg page) elements() (all []element, ok bool) {
	order := binary.NativeEndian
	for i := range pg.count {
		at := pageHeader + i*elementSize
		if at+elementSize > len(pg.data) {
			return all, false
		}
		e := pg.data[at:]
		from := uint64(at) + uint64(order.Uint32(e[4:]))
		keyEnd := from + uint64(order.Uint32(e[8:]))
		end := keyEnd + uint64(order.Uint32(e[12:]))
		if end > uint64(len(pg.data)) {
			return all, false
		}
		all = append(all, element{order.Uint32(e), pg.data[from:keyEnd], pg.data[keyEnd:end]})
	}
	return all, true
}

// children are the pages below a branch.
func (pg page) children() (ids []uint64, ok bool) {
	for i := range pg.count {
		at := pageHeader + i*elementSize
		if at+elementSize > len(pg.data) {
			return ids, false
		}
		ids = append(ids, binary.NativeEndian.Uint64(pg.data[at+8:]))
	}
	return ids, true
}

// walk shows the leaves below a page, in the order of their keys.
func (p *pages) walk(id uint64, leaf func(page) error) error {
	if p.seen[id] {
		p.bad++
		return nil
	}
	p.seen[id] = true
	pg, ok := p.read(id)
	if !ok {
		p.bad++
		return nil
	}
	switch pg.flags {
	case leafFlag:
		return leaf(pg)
	case branchFlag:
		below, ok := pg.children()
		if !ok {
			p.bad++
		}
		for _, child := range below {
			if err := p.walk(child, leaf); err != nil {
				return err
			}
		}
	default:
		p.bad++
	}
	return nil
}

// buckets shows the leaves of all buckets.
func (p *pages) buckets(leaf func(bucket string, pg page) error) error {
	return p.walk(p.meta.root, func(pg page) error {
		all, ok := pg.elements()
		if !ok {
			p.bad++
		}
		for _, e := range all {
			if e.flags&bucketFlag == 0 || len(e.value) < bucketHead {
				continue
			}
			each := func(pg page) error { return leaf(string(e.key), pg) }
			root := binary.NativeEndian.Uint64(e.value)
			if root != 0 {
				if err := p.walk(root, each); err != nil {
					return err
				}
				continue
			}
			if pg, _, ok := parsePage(e.value[bucketHead:], 0); ok {
				if err := each(pg); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// orphans shows leaves that are in use and that no walk has come to: the way to them is damaged.
func (p *pages) orphans(leaf func(page) error) error {
	free, ok := p.free()
	if !ok {
		p.bad++
	}
	for id := uint64(2); id < p.meta.pages; id++ {
		if p.seen[id] || free[id] {
			continue
		}
		if pg, ok := p.read(id); ok && pg.flags == leafFlag {
			p.seen[id] = true
			if err := leaf(pg); err != nil {
				return err
			}
		}
	}
	return nil
}

// free are the pages that the list of free pages names.
func (p *pages) free() (map[uint64]bool, bool) {
	out := map[uint64]bool{}
	if p.meta.freelist == noFreelist {
		return out, false
	}
	pg, ok := p.read(p.meta.freelist)
	if !ok || pg.flags != freelistFlag {
		return out, false
	}
	order := binary.NativeEndian
	n, at := uint64(pg.count), pageHeader
	if n == freelistLarge {
		n, at = order.Uint64(pg.data[at:]), at+8
	}
	for i := uint64(0); i < n && at+8 <= len(pg.data); i, at = i+1, at+8 {
		out[order.Uint64(pg.data[at:])] = true
	}
	return out, true
}
