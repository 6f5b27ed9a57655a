package queue

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// segment is a part of the line: a file, or records in memory.
type segment struct {
	first, end     uint64 // numbers of its first record, and of the one behind its last
	size           int64
	oldest, newest time.Time
	path           string
	file           *os.File // nil: it is in memory
	held           []Item
	broken         bool // nothing more goes into it
}

// segmentSuffix ends the names of files of records: NUMBER.records
const segmentSuffix = ".records"

func createSegment(dir string, first uint64, sync bool) (*segment, error) {
	s := &segment{first: first, end: first, path: filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))}
	var err error
	if s.file, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	if sync {
		if err := syncDir(dir); err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	return s, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// append writes records, all or none.
func (s *segment) append(now time.Time, bodies [][]byte, sync bool) error {
	var b []byte
	for _, body := range bodies {
		b = appendRecord(b, now, body)
	}
	_, err := s.file.WriteAt(b, s.size)
	if err == nil && sync {
		err = s.file.Sync()
	}
	if err != nil {
		s.broken = true
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(len(b))
	s.came(now, len(bodies))
	return nil
}

// hold keeps records in memory.
func (s *segment) hold(now time.Time, bodies [][]byte) {
	for _, body := range bodies {
		s.held = append(s.held, Item{At: now, Body: body})
		s.size += recordSize(body)
	}
	s.came(now, len(bodies))
}

func (s *segment) came(now time.Time, n int) {
	if s.first == s.end {
		s.oldest = now
	}
	s.end += uint64(n)
	s.newest = now
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func (s *segment) remove() error { return errors.Join(s.close(), os.Remove(s.path)) }

// openSegments reads the files of a process before. Behind a record that is damaged, or not whole, the rest of its file is
// given up.
func (q *Queue) openSegments() (damaged int64, err error) {
	entries, err := os.ReadDir(q.opt.Dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		first, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue // not ours
		}
		s := &segment{first: first, end: first, path: filepath.Join(q.opt.Dir, e.Name())}
		if s.file, err = os.OpenFile(s.path, os.O_RDWR, 0); err != nil {
			return damaged, err
		}
		q.segs = append(q.segs, s)
		bad, err := s.scan()
		damaged += bad
		if err != nil {
			return damaged, err
		}
		q.bytes += s.size
		q.next = max(q.next, s.end)
	}
	slices.SortFunc(q.segs, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	return damaged, nil
}

// scan finds the end of a file's whole records, and cuts it there.
func (s *segment) scan() (damaged int64, err error) {
	info, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	buf := newReader(io.NewSectionReader(s.file, 0, info.Size()))
	for s.size < info.Size() {
		it, err := readRecord(buf, info.Size()-s.size)
		if err != nil {
			break
		}
		s.size += recordSize(it.Body)
		s.came(it.At, 1)
	}
	if damaged = info.Size() - s.size; damaged > 0 {
		err = s.file.Truncate(s.size)
	}
	return damaged, err
}

func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 64<<10) }
