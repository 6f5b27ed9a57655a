package queue

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
)

// segment is a part of the line: a file, or records in memory.
type segment struct {
	first, end     uint64 // numbers of its first record, and of the one behind its last
	size           int64  // of its records
	oldest, newest time.Time
	path           string
	log            *recordlog.Log // nil: it is in memory
	held           []Item
	broken         bool // nothing more goes into it
	holes          bool // what is whole in it is found by a search
}

// segmentSuffix ends the names of files of records: NUMBER.records
const segmentSuffix = ".records"

func createSegment(dir string, first uint64, sync bool) (s *segment, err error) {
	s = &segment{first: first, end: first, path: filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))}
	if s.log, err = recordlog.Create(s.path, recordlog.Options{Sync: sync}); err != nil {
		return nil, err
	}
	return s, nil
}

// append writes records, all or none.
func (s *segment) append(now time.Time, bodies [][]byte, sync bool) error {
	records := make([]recordlog.Body, len(bodies))
	for i, body := range bodies {
		records[i] = record(s.end+uint64(i), now, body)
	}
	size := s.log.Size()
	if _, err := s.log.Append(sync, records...); err != nil {
		s.broken = true
		return err
	}
	s.size += s.log.Size() - size
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
	if s.log == nil {
		return nil
	}
	return s.log.Close()
}

func (s *segment) remove() error {
	if s.path == "" {
		return nil
	}
	return errors.Join(s.close(), os.Remove(s.path))
}

// openSegments reads the files of a process before.
func (q *Queue) openSegments() error {
	entries, err := os.ReadDir(q.opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		first, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue // not ours
		}
		if err := q.openSegment(&segment{first: first, end: first, path: filepath.Join(q.opt.Dir,
			e.Name())}); err != nil {
			return err
		}
	}
	slices.SortFunc(q.segs, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	return nil
}

func (q *Queue) openSegment(s *segment) error {
	var damage, err error
	var older []Item
	opt := recordlog.Options{Sync: true, Older: func(at int64, body []byte) error {
		it, err := s.parseOlder(older, at, body)
		if err == nil {
			older = append(older, it)
		}
		return err
	}}
	if s.log, damage, err = recordlog.Open(s.path, opt, s.each(func(it Item) bool {
		s.count(it)
		return true
	})); err != nil {
		return err
	}
	whole := s.end > s.first || len(older) > 0
	if damage != nil {
		d := setaside.Damage{Path: s.path, Err: fmt.Errorf("%w: records for returners", damage)}
		if whole { // it goes when all have it; the other name stays
			d.Kept, err = setaside.Keep(s.path, q.opt.Dir, time.Now())
		} else {
			d.Kept, err = setaside.Move(s.path, time.Now())
		}
		d.Err = errors.Join(d.Err, err)
		q.opt.tell(d)
		s.broken, s.holes = true, true
	}
	if damage != nil && !whole {
		return s.close()
	}
	if s.log.IsOld() {
		s.takeOver(older)
	}
	q.segs = append(q.segs, s)
	q.next = max(q.next, s.end)
	if s.log == nil {
		q.memory += s.size
	} else {
		q.bytes += s.size
	}
	return nil
}

// count adds a record that stands there.
func (s *segment) count(it Item) {
	if s.size == 0 {
		s.oldest = it.At
	}
	s.size += recordSize(it.Body)
	s.end, s.newest = it.Seq+1, it.At
}

// each shows records of a file that are whole, until f has enough.
func (s *segment) each(f func(it Item) bool) recordlog.Each {
	enough := false
	return func(at int64, body []byte) error {
		it, err := parseRecord(body)
		if err != nil || enough || it.Seq < s.first {
			return err
		}
		it.seg, it.end = s.first, at+int64(len(body))
		enough = !f(it)
		return nil
	}
}

// parseOlder reads a record of a file of an older release: time (8 bytes), body. Its place in the line is its number,
// so that none counts behind one that is damaged.
func (s *segment) parseOlder(before []Item, at int64, body []byte) (Item, error) {
	next := int64(0)
	if n := len(before); n > 0 {
		next = before[n-1].end
	}
	if len(body) < 8 || at != next+recordlog.Overhead {
		return Item{}, errDamaged
	}
	return Item{Seq: s.first + uint64(len(before)), At: time.Unix(0, int64(binary.BigEndian.Uint64(body))),
		Body: bytes.Clone(body[8:]), end: at + int64(len(body))}, nil
}

// takeOver makes a file of today's form of the records of an older release. Where the disk does not take it, they are
// held in memory, and the file stays for the next process.
func (s *segment) takeOver(older []Item) {
	for _, it := range older {
		s.count(it)
	}
	s.broken, s.holes = false, false
	if err := s.log.Rewrite(func(put func(recordlog.Body) (int64, error)) error {
		for _, it := range older {
			if _, err := put(record(it.Seq, it.At, it.Body)); err != nil {
				return err
			}
		}
		return nil
	}, nil); err != nil && s.log.IsOld() {
		_ = s.log.Close()
		s.log, s.held = nil, older
	}
}
