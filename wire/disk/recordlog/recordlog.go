// Package recordlog is the form of files to which records are appended: a head, then records with their length and a
// checksum. It finds damage, and every record before and behind it. It knows neither what is in a record nor who
// writes.
//
// The head says how the checksums of this file begin, by a number that nobody outside can know: what somebody else put
// into a record is never taken for a record when the one around it is damaged. It stands there twice, further apart
// than a page is long. A file is made with its head at once, so an empty one is damaged, too.
package recordlog

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	magic    = "BRINELG1"
	headSize = 16   // the magic, the number (4), the checksum of both (4)
	headGap  = 8192 // of the second head; no page of a disk or of memory that is damaged covers both
	before   = 8    // bytes before each record: its length (4), its checksum (4)
)

// Begin is where the first record is, in a file with a head; Overhead is what a record takes beside its body. Both are
// bytes.
const (
	Begin    = headGap + headSize
	Overhead = before
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Format is how the records of a file are written. The zero Format is none.
type Format struct {
	table *crc32.Table
	seed  uint32
	begin int64
}

// Old is the format of files of releases without heads, whose checksums are of that kind.
func Old(table *crc32.Table) Format { return Format{table: table} }

// Begin is where the first record is.
func (m Format) Begin() int64 { return m.begin }

// Headed tells whether the file has a head.
func (m Format) Headed() bool { return m.begin > 0 }

// Blank is the content of a file without records, and the format of what is appended to it.
func Blank() ([]byte, Format) {
	b := make([]byte, Begin)
	head := b[:headSize]
	copy(head, magic)
	_, _ = rand.Read(head[len(magic) : len(magic)+4]) // crypto/rand never fails
	binary.BigEndian.PutUint32(head[len(magic)+4:], crc32.Checksum(head[:len(magic)+4], castagnoli))
	copy(b[headGap:], head)
	m, _ := parseHead(head)
	return b, m
}

// New writes the head of a file that is empty, or whose content counts no more.
func New(f io.WriterAt) (Format, error) {
	b, m := Blank()
	for _, at := range []int64{0, headGap} { // no room is taken for what is between
		if _, err := f.WriteAt(b[at:at+headSize], at); err != nil {
			return Format{}, err
		}
	}
	return m, nil
}

func parseHead(b []byte) (Format, bool) {
	n := len(magic) + 4
	if len(b) < headSize || !bytes.HasPrefix(b, []byte(magic)) ||
		crc32.Checksum(b[:n], castagnoli) != binary.BigEndian.Uint32(b[n:]) {
		return Format{}, false
	}
	return Format{castagnoli, binary.BigEndian.Uint32(b[len(magic):]), Begin}, true
}

// Append puts a record behind dst. fill appends its body.
func (m Format) Append(dst []byte, fill func([]byte) []byte) []byte {
	at := len(dst)
	dst = fill(append(dst, make([]byte, before)...))
	body := dst[at+before:]
	binary.BigEndian.PutUint32(dst[at:], uint32(len(body)))
	binary.BigEndian.PutUint32(dst[at+4:], m.sum(body))
	return dst
}

// Body is the body of the record that b is.
func (m Format) Body(b []byte) (body []byte, ok bool) {
	if len(b) < before || m.table == nil {
		return nil, false
	}
	body = b[before:]
	return body, int(binary.BigEndian.Uint32(b)) == len(body) && m.sum(body) == binary.BigEndian.Uint32(b[4:])
}

func (m Format) sum(body []byte) uint32 { return crc32.Update(m.seed, m.table, body) }

// Span is a part of a file.
type Span struct{ From, To int64 }

// Found is what a file holds.
type Found struct {
	Format Format // the zero Format: it has no head that can be read, nor records of an older release
	End    int64  // behind the last whole record
	Bad    []Span // what is no record: damaged, or torn
	Empty  bool   // it has no bytes at all
}

// Damage is nil, or an error that says what is damaged and how much of it; it wraps ErrDamaged.
func (f Found) Damage() error {
	var n int64
	for _, s := range f.Bad {
		n += s.To - s.From
	}
	switch {
	case f.Empty:
		return fmt.Errorf("%w: it is empty, and what stood there is lost (unless an older release has left it so)",
			ErrDamaged)
	case f.Format.table == nil:
		return fmt.Errorf("%w: none of its %d bytes can be read", ErrDamaged, n)
	case n > 0:
		return fmt.Errorf("%w: %d bytes from %d on cannot be read, in %d places; the records around them are whole",
			ErrDamaged, n, f.Bad[0].From, len(f.Bad))
	}
	return nil
}

// ErrDamaged means that a file does not hold what was written to it.
var ErrDamaged = errors.New("the file is damaged")

// Scan shows the bodies of all whole records of a file in their order, and where each stands; a body is lent until each
// returns. One that each does not like is damaged, whatever its checksum. old is the format of files without a head.
// The error is one of reading.
func Scan(file *os.File, old Format, each func(at int64, body []byte) error) (Found, error) {
	info, err := file.Stat()
	if err != nil {
		return Found{}, err
	}
	s := &scanner{in: file, size: info.Size(), each: each}
	s.budget = searchTimes*s.size + searchLeast
	if s.size == 0 {
		return Found{Empty: true}, nil
	}
	if err := s.head(old); err != nil {
		return Found{}, err
	}
	if err := s.run(); err != nil {
		return Found{}, err
	}
	return s.found, nil
}

// head finds the format of the file.
func (s *scanner) head(old Format) error {
	for i, at := range []int64{0, headGap} {
		b := make([]byte, min(headSize, max(s.size-at, 0)))
		if _, err := s.in.ReadAt(b, at); err != nil && err != io.EOF {
			return err
		}
		m, ok := parseHead(b)
		switch {
		case ok && s.found.Format.table == nil:
			s.found.Format = m
			if i == 1 {
				s.bad(0, headSize)
			}
		case !ok && i == 1 && s.found.Format.table != nil:
			s.bad(headGap, Begin)
		}
	}
	if s.found.Format.Headed() && s.size < Begin { // it was cut before its first record
		s.found.Format, s.found.Bad = Format{}, nil
		return nil
	}
	if s.found.Format.table == nil {
		s.found.Format = old
	}
	s.found.End = s.found.Format.begin
	return nil
}
