package recordlog

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// scanner goes through a file.
type scanner struct {
	in     io.ReaderAt
	size   int64
	each   func(at int64, body []byte) error
	found  Found
	any    bool  // a record was whole
	budget int64 // bytes that may still be summed up in search of a record
	buf    []byte
	window []byte // of the file, from at on
	at     int64
}

// Bounds of the search for a record behind a damaged one: somebody may have filled it with what looks like lengths.
const (
	searchTimes = 4
	searchLeast = 64 << 20
	windowSize  = 64 << 10
)

// run shows all records. What is between them is bad.
func (s *scanner) run() error {
	if s.found.Format.table == nil {
		s.bad(0, s.size)
		return nil
	}
	for at := s.found.Format.begin; at < s.size; {
		n, err := s.record(at)
		if err != nil {
			return err
		}
		if n > 0 {
			at += n
			s.found.End, s.any = at, true
			continue
		}
		next, err := s.search(at + 1)
		if err != nil {
			return err
		}
		s.bad(at, next)
		at = next
	}
	if !s.any && !s.found.Format.Headed() {
		s.found.Format, s.found.End = Format{}, 0
	}
	return nil
}

func (s *scanner) bad(from, to int64) {
	if last := len(s.found.Bad) - 1; last >= 0 && s.found.Bad[last].To == from {
		s.found.Bad[last].To = to
		return
	}
	s.found.Bad = append(s.found.Bad, Span{from, min(to, s.size)})
}

// record shows the record at a place, and tells how long it is; 0: there is none.
func (s *scanner) record(at int64) (int64, error) {
	head, err := s.look(at, before)
	if err != nil || len(head) < before {
		return 0, err
	}
	n, want := int64(binary.BigEndian.Uint32(head)), binary.BigEndian.Uint32(head[4:])
	if n > s.size-at-before {
		return 0, nil
	}
	body, err := s.body(at+before, n)
	if err != nil || s.found.Format.sum(body) != want || s.each(at+before, body) != nil {
		return 0, err
	}
	return before + n, nil
}

// body reads bytes that are all there.
func (s *scanner) body(at, n int64) ([]byte, error) {
	if n <= windowSize/2 {
		return s.look(at, int(n))
	}
	if int64(cap(s.buf)) < n {
		s.buf = make([]byte, n)
	}
	if _, err := s.in.ReadAt(s.buf[:n], at); err != nil && err != io.EOF {
		return nil, err
	}
	return s.buf[:n], nil
}

// look is a few bytes of the file, by way of the window.
func (s *scanner) look(at int64, n int) ([]byte, error) {
	if at < s.at || at+int64(n) > s.at+int64(len(s.window)) {
		if s.window == nil {
			s.window = make([]byte, windowSize)
		}
		got, err := s.in.ReadAt(s.window[:windowSize], at)
		if err != nil && err != io.EOF {
			s.window = s.window[:0]
			return nil, err
		}
		s.window, s.at = s.window[:got], at
	}
	from := int(at - s.at)
	return s.window[from:min(from+n, len(s.window))], nil
}

// search finds the next place where a whole record may be; the end of the file, if there is none.
func (s *scanner) search(from int64) (int64, error) {
	for at := from; at+before <= s.size && s.budget > 0; at++ {
		head, err := s.look(at, before)
		if err != nil {
			return 0, err
		}
		n := int64(binary.BigEndian.Uint32(head))
		if n > s.size-at-before {
			continue
		}
		sum, err := s.sumOf(at+before, n)
		if err != nil {
			return 0, err
		}
		if binary.BigEndian.Uint32(s.again(at)) == sum {
			return at, nil
		}
	}
	return s.size, nil
}

// again is the checksum that stands in a record, after the window has moved on.
func (s *scanner) again(at int64) []byte {
	b, err := s.look(at+4, 4)
	if err != nil || len(b) < 4 {
		return []byte{0, 0, 0, 0}
	}
	return b
}

// sumOf sums up bytes of the file without keeping them.
func (s *scanner) sumOf(at, n int64) (uint32, error) {
	s.budget -= n + before
	sum := s.found.Format.seed
	for n > 0 {
		b, err := s.look(at, int(min(n, windowSize/2)))
		if err != nil {
			return 0, err
		}
		if len(b) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		sum = crc32.Update(sum, s.found.Format.table, b)
		at, n = at+int64(len(b)), n-int64(len(b))
	}
	return sum, nil
}
