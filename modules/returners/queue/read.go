package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/url"
	"os"
	"time"
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
	var out []Item
	for _, s := range q.segs {
		if r.next >= s.end {
			continue
		}
		if r.next < s.first { // what was between is gone
			r.next, r.seg, r.off = s.first, s.first, 0
		}
		from := position{next: s.first}
		if r.seg == s.first {
			from = position{r.next, r.off}
		}
		err := s.walk(from, func(it Item) bool {
			if it.Seq < r.next {
				return true
			}
			if it.Seq >= end || len(out) >= most || len(out) > 0 && bytes < int64(len(it.Body)) {
				return false
			}
			bytes -= int64(len(it.Body))
			out = append(out, it)
			return true
		})
		switch {
		case err == nil && (len(out) == 0 || out[len(out)-1].Seq+1 < s.end): // its reader is in the midst of it
			return out, nil
		case err != nil && len(out) == 0:
			s.broken = true
			q.skip(r, s, fmt.Sprintf("their file is damaged: %v", err))
		case err != nil || len(out) >= most || bytes <= 0:
			return out, nil
		}
	}
	if len(out) == 0 && (len(q.segs) == 0 || r.next >= q.last().end) {
		r.next = q.next // there is nothing for it
	}
	return out, nil
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

// walk shows the records of a segment from a position on, until f has enough. A damaged one is an error.
func (s *segment) walk(p position, f func(Item) bool) error {
	if s.file == nil {
		for i := p.next - s.first; i < uint64(len(s.held)); i++ {
			it := s.held[i]
			if it.Seq, it.seg = s.first+i, s.first; !f(it) {
				return nil
			}
		}
		return nil
	}
	in := io.NewSectionReader(s.file, p.off, s.size-p.off)
	buf := newReader(in)
	for p.next < s.end {
		it, err := readRecord(buf, s.size-p.off)
		if err != nil {
			return err
		}
		p.off += recordSize(it.Body)
		it.Seq, it.seg, it.end = p.next, s.first, p.off
		p.next++
		if !f(it) {
			return nil
		}
	}
	return nil
}

// head is the beginning of a record: length (4), checksum of the rest (4), time (8), body.
const head = 16

func recordSize(body []byte) int64 { return int64(head + len(body)) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(b []byte, now time.Time, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(now.UnixNano()))
	b = append(b, body...)
	binary.BigEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:], castagnoli))
	return b
}

var errDamaged = errors.New("a record is damaged")

// readRecord reads one of at most room bytes.
func readRecord(in io.Reader, room int64) (Item, error) {
	var h [head]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return Item{}, errDamaged
	}
	n := int64(binary.BigEndian.Uint32(h[:]))
	if n > room-head {
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

// open reads the place of a reader. A damaged one is that of a new reader.
func (r *reader) open(path string) (fresh bool, err error) {
	if r.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return false, err
	}
	var b [12]byte
	if _, err := r.file.ReadAt(b[:], 0); err != nil || crc32.Checksum(b[:8], castagnoli) != binary.BigEndian.Uint32(b[8:]) {
		return true, nil
	}
	r.next = binary.BigEndian.Uint64(b[:])
	return false, nil
}

// keep writes the place: one write, which a killed process has done or not.
func (r *reader) keep() error {
	b := binary.BigEndian.AppendUint64(nil, r.next)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := r.file.WriteAt(b, 0); err != nil {
		return fmt.Errorf("queue of returners: place of %s: %w", r.name, err)
	}
	return nil
}
