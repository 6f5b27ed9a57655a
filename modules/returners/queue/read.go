package queue

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
)

// End is the number of the record that comes next.
func (q *Queue) End() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.next
}

// Next is the number of the record that a reader gets next; End, when it has all.
func (q *Queue) Next(name string) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.readers[name]; r != nil {
		return r.next
	}
	return q.next
}

// Bytes are those of all records that are kept, on disk and in memory.
func (q *Queue) Bytes() (disk, memory int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.memory
}

// Read shows a reader its next records, before the one with the number end: at most so many, and bytes as many, but for
// the first one, which may be larger.
func (q *Queue) Read(name string, end uint64, most int, bytes int64) ([]Item, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.readers[name]
	if r == nil {
		return nil, fmt.Errorf("queue of returners: %q reads nothing", name)
	}
	if q.closed {
		return nil, os.ErrClosed
	}
	t := taking{q: q, r: r, end: end, most: most, bytes: bytes}
	for _, s := range q.segs {
		if r.next >= s.end {
			continue
		}
		if len(t.out) == 0 && r.next < s.first { // what was between is gone
			q.lost(r, r.next, s.first)
			r.next, r.seg, r.off = s.first, s.first, 0
		}
		from := position{next: s.first}
		if r.seg == s.first {
			from = position{r.next, r.off}
		}
		err := s.walk(from, t.add)
		if err != nil && !s.holes && !s.older { // it was damaged meanwhile
			s.broken, s.holes = true, true
			q.opt.tell(setaside.Damage{Path: s.path, Err: fmt.Errorf("records for returners: %w", err)})
			err = s.walk(from, t.add)
		}
		switch {
		case len(t.out) > 0 && (t.full || t.next() < s.end): // its reader is in the midst of it
			return t.out, nil
		case err != nil && len(t.out) > 0:
			return t.out, nil
		case err != nil, len(t.out) == 0 && !t.full && end >= s.end: // the rest of it is no more
			s.broken = true
			q.lost(r, r.next, s.end)
			r.next, r.seg = s.end, nowhere
			_ = r.keep()
		case t.full:
			return t.out, nil
		}
	}
	if len(t.out) == 0 && (len(q.segs) == 0 || r.next >= q.last().end) {
		r.next = q.next // there is nothing for it
	}
	return t.out, nil
}

// taking is what a reader is shown.
type taking struct {
	q     *Queue
	r     *reader
	end   uint64
	most  int
	bytes int64
	out   []Item
	full  bool // there is more
}

// next is the number of the record that comes next.
func (t *taking) next() uint64 {
	if n := len(t.out); n > 0 {
		return t.out[n-1].Seq + 1
	}
	return t.r.next
}

func (t *taking) add(it Item) bool {
	if it.Seq < t.next() {
		return true
	}
	if it.Seq >= t.end || len(t.out) >= t.most || len(t.out) > 0 && t.bytes < int64(len(it.Body)) {
		t.full = true
		return false
	}
	if it.Seq > t.next() {
		t.q.lost(t.r, t.next(), it.Seq)
	}
	t.bytes -= int64(len(it.Body))
	t.out = append(t.out, it)
	return true
}

// lost tells of records that a reader does not get, once.
func (q *Queue) lost(r *reader, from, before uint64) {
	from = max(from, r.told)
	r.told = max(r.told, before)
	if q.opt.Dropped != nil && before > from {
		q.opt.Dropped(r.name, before-from, "their file is damaged")
	}
}

// Done says that a reader has a record, and all before it.
func (q *Queue) Done(name string, last Item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.readers[name]
	if r == nil || r.next > last.Seq || q.closed {
		return nil
	}
	r.next, r.seg, r.off = last.Seq+1, last.seg, last.end
	err := r.keep()
	q.trim()
	return err
}

// position is where a record begins.
type position struct {
	next uint64
	off  int64
}

// walk shows the records of a segment from a position on, until f has enough. A damaged one is an error, unless there
// are holes.
func (s *segment) walk(p position, f func(Item) bool) error {
	switch {
	case s.file == nil:
		for i := p.next - s.first; i < uint64(len(s.held)); i++ {
			it := s.held[i]
			if it.Seq, it.seg = s.first+i, s.first; !f(it) {
				return nil
			}
		}
		return nil
	case s.holes:
		_, err := s.each(func(it Item, _ int64) bool {
			it.Body = bytes.Clone(it.Body)
			return f(it)
		})
		return err
	}
	p.off = max(p.off, s.format.Begin())
	buf := bufio.NewReaderSize(io.NewSectionReader(s.file, p.off, s.tail-p.off), 64<<10)
	for p.next < s.end {
		it, n, err := s.readRecord(buf, s.tail-p.off)
		if err != nil {
			return err
		}
		p.off += n
		if s.older {
			it.Seq = p.next
		}
		it.seg, it.end = s.first, p.off
		p.next = it.Seq + 1
		if !f(it) {
			return nil
		}
	}
	return nil
}

// A record of the file is number (8 bytes), time (8), body.
const head = recordlog.Overhead + 16

func recordSize(body []byte) int64 { return int64(head + len(body)) }

func appendRecord(b []byte, seq uint64, now time.Time, body []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, seq)
	b = binary.BigEndian.AppendUint64(b, uint64(now.UnixNano()))
	return append(b, body...)
}

var errDamaged = errors.New("it is damaged")

// parseRecord reads a record, whose body is lent.
func parseRecord(b []byte) (Item, error) {
	if len(b) < 16 {
		return Item{}, errDamaged
	}
	return Item{Seq: binary.BigEndian.Uint64(b), At: time.Unix(0, int64(binary.BigEndian.Uint64(b[8:]))), Body: b[16:]},
		nil
}

// readRecord reads one of at most room bytes, and tells how many it took.
func (s *segment) readRecord(in io.Reader, room int64) (Item, int64, error) {
	if s.older {
		it, err := readOlder(in, room)
		return it, int64(olderHead + len(it.Body)), err
	}
	var h [recordlog.Overhead]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return Item{}, 0, errDamaged
	}
	n := int64(binary.BigEndian.Uint32(h[:]))
	if n > room-recordlog.Overhead {
		return Item{}, 0, errDamaged
	}
	b := append(h[:], make([]byte, n)...)
	if _, err := io.ReadFull(in, b[recordlog.Overhead:]); err != nil {
		return Item{}, 0, errDamaged
	}
	body, ok := s.format.Body(b)
	if !ok {
		return Item{}, 0, errDamaged
	}
	it, err := parseRecord(body)
	return it, int64(len(b)), err
}

// olderHead is what stood before a body in files of older releases: length (4), checksum of the rest (4), time (8).
const olderHead = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readOlder reads a record of an older release, of at most room bytes.
func readOlder(in io.Reader, room int64) (Item, error) {
	var h [olderHead]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return Item{}, errDamaged
	}
	n := int64(binary.BigEndian.Uint32(h[:]))
	if n > room-olderHead {
		return Item{}, errDamaged
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return Item{}, errDamaged
	}
	if crc32.Update(crc32.Checksum(h[8:], castagnoli), castagnoli, body) != binary.BigEndian.Uint32(h[4:]) {
		return Item{}, errDamaged
	}
	return Item{At: time.Unix(0, int64(binary.BigEndian.Uint64(h[8:]))), Body: body}, nil
}

// placeSuffix ends the names of the files of places.
const placeSuffix = ".place"

// placeName is the file of a reader's place: its name, of which nothing can leave the folder.
func placeName(reader string) string { return "r-" + url.PathEscape(reader) + placeSuffix }

// open reads the place of a reader. A reader without one is new; errDamaged: nobody knows where it was.
func (r *reader) open() (fresh bool, err error) {
	if r.file, err = os.OpenFile(r.path, os.O_RDWR, 0); errors.Is(err, fs.ErrNotExist) {
		r.file = nil
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var b [placeSize]byte
	if _, err := r.file.ReadAt(b[:], 0); err != nil || crc32.Checksum(b[:8], castagnoli) != binary.BigEndian.Uint32(
		b[8:]) {
		err := r.file.Close()
		r.file = nil
		return false, errors.Join(errDamaged, err)
	}
	r.next = binary.BigEndian.Uint64(b[:])
	return false, nil
}

const placeSize = 12

// keep writes the place: one write, which a killed process has done or not.
func (r *reader) keep() error {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, placeSize), r.next)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	err := error(nil)
	if r.file != nil {
		_, err = r.file.WriteAt(b, 0)
	} else if err = wholefile.Write(r.path, b, wholefile.Options{}); err == nil {
		r.file, err = os.OpenFile(r.path, os.O_RDWR, 0)
	}
	if err != nil {
		return fmt.Errorf("queue of returners: place of %s: %w", r.name, err)
	}
	return nil
}
