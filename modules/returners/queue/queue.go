// Package queue keeps on disk what returners are to be given: one line of records, in their order, and for each reader,
// which is a returner, its own place in it. So one that is slow or away holds up no other, and what waits costs no
// memory. It knows neither events nor jobs, and calls nobody.
//
// The line is cut into files of records (recordlog), each with its number and its time. What is in them outlives the
// process; if Append is asked for it the power of the machine, too. A reader that takes records says so when it has
// them: what it took and did not say it finds again. Beyond MaxBytes and MaxAge the oldest records go, which Dropped is
// told of.
package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"brine/wire/disk/setaside"
)

// Options say where the records are, how many, and for whom.
type Options struct {
	Dir      string
	Readers  []string
	MaxBytes int64         // of all records on disk; 0: 64 MiB
	MaxAge   time.Duration // 0: no limit
	Memory   int64         // bytes of records that the disk does not take, for as long as it does not; 0: Append fails
	// Dropped is told of records that a reader will not get. It must not block, nor use the Queue. nil: nobody is.
	Dropped func(reader string, records uint64, why string)
	// Damaged is told of files that are damaged; of the records that stood there Dropped is told when their turn comes.
	// nil: nobody is.
	Damaged func(setaside.Damage)
}

func (o Options) tell(d setaside.Damage) {
	if o.Damaged != nil {
		o.Damaged(d)
	}
}

const defaultMaxBytes = 64 << 20

// Item is a record.
type Item struct {
	Seq  uint64
	At   time.Time
	Body []byte

	seg uint64 // number of the first record of its segment
	end int64  // where the next one begins in that
}

// ErrFull means that there is no room for a record, whatever else is dropped.
var ErrFull = errors.New("queue: no room")

// Queue is the line. Any number of goroutines may use it.
type Queue struct {
	opt     Options
	mu      sync.Mutex
	segs    []*segment // the last one takes what comes
	readers map[string]*reader
	next    uint64 // number of the next record
	bytes   int64  // on disk
	memory  int64
	failed  time.Time // when the disk did not take something
	closed  bool
	made    bool // the folder was there at the start, or since
}

// reader is the place of one returner.
type reader struct {
	name string
	next uint64 // number of the record that it gets next
	seg  uint64 // the segment that off is in, by its first record; nowhere: that is not known
	off  int64  // of that record
	path string
	file *os.File // holds next; nil: it cannot be made
	told uint64   // records before it that are lost were told of
}

// nowhere is the segment of an offset that is not known.
const nowhere = math.MaxUint64

// Open takes up what a process before has left, for readers that were there by then; a new one begins with what comes.
// A file that is damaged is kept beside, and the records in it that are whole are used. What cannot be made now, for
// the disk is full, is made later.
func Open(opt Options) (q *Queue, err error) {
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = defaultMaxBytes
	}
	q = &Queue{opt: opt, readers: map[string]*reader{}}
	q.made = os.MkdirAll(opt.Dir, 0o700) == nil
	if err = q.openSegments(); err == nil {
		err = q.openReaders()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("queue of returners: %w", err), q.Close())
	}
	q.trim()
	return q, nil
}

// openReaders opens their places, and forgets those of returners that are no longer meant.
func (q *Queue) openReaders() error {
	known := map[string]bool{}
	for _, name := range q.opt.Readers {
		if known[placeName(name)] {
			continue
		}
		known[placeName(name)] = true
		r := &reader{name: name, seg: nowhere, path: filepath.Join(q.opt.Dir, placeName(name))}
		q.readers[name] = r
		fresh, err := r.open()
		if errors.Is(err, errDamaged) {
			q.beginAgain(r, err)
		} else if err != nil {
			return err
		}
		q.next = max(q.next, r.next)
		if fresh {
			r.next = q.next
			_ = r.keep() // it is kept with the first record that the reader takes, if not now
		}
	}
	entries, err := os.ReadDir(q.opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == placeSuffix && !known[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(q.opt.Dir, e.Name())))
		}
	}
	return err
}

// beginAgain gives a reader whose place is damaged all that is there: better twice than not at all.
func (q *Queue) beginAgain(r *reader, why error) {
	if r.next = q.next; len(q.segs) > 0 {
		r.next = q.segs[0].first
	}
	kept, err := setaside.Move(r.path, time.Now())
	q.opt.tell(setaside.Damage{Path: r.path, Kept: kept, Err: errors.Join(fmt.Errorf("%w: it is not known what %s "+
		"has taken; it gets %d records, perhaps again", why, r.name, q.next-r.next), err)})
	_ = r.keep()
}

// Close closes the files. What was in memory only is gone.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	var all []error
	for _, s := range q.segs {
		all = append(all, s.close())
	}
	for _, r := range q.readers {
		if r.file != nil {
			all = append(all, r.file.Close())
		}
	}
	return errors.Join(all...)
}

// Append puts records at the end, all or none; with sync they are on the disk itself before it returns. Where the disk
// does not take them they are kept in memory, as far as there is room: err says so with kept true.
func (q *Queue) Append(now time.Time, sync bool, bodies ...[]byte) (kept bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, os.ErrClosed
	}
	var n int64
	for _, b := range bodies {
		n += recordSize(b)
	}
	if n > q.opt.MaxBytes {
		return false, fmt.Errorf("%w for %d bytes: %d is the most", ErrFull, n, q.opt.MaxBytes)
	}
	q.makeRoom(n)
	if q.failed.IsZero() || now.Sub(q.failed) >= diskPause || now.Before(q.failed) {
		if err = q.onDisk(now, sync, n, bodies); err == nil {
			q.failed = time.Time{}
			return true, nil
		}
		q.failed = now
	} else {
		err = errDiskRests
	}
	if q.memory+n > q.opt.Memory {
		return false, err
	}
	q.inMemory(now, n, bodies)
	return true, err
}

// diskPause is how long a disk that did not take something is let be.
const diskPause = time.Second

var errDiskRests = errors.New("queue of returners: the disk takes nothing")

// onDisk writes records to the last segment, or a new one.
func (q *Queue) onDisk(now time.Time, sync bool, n int64, bodies [][]byte) error {
	s := q.last()
	if s == nil || s.file == nil || s.size >= q.segmentSize() || s.broken || s.end != q.next {
		if !q.made {
			if err := os.MkdirAll(q.opt.Dir, 0o700); err != nil {
				return fmt.Errorf("queue of returners: %w", err)
			}
			q.made = true
		}
		var err error
		if s, err = createSegment(q.opt.Dir, q.next, sync); err != nil {
			return fmt.Errorf("queue of returners: %w", err)
		}
		q.segs = append(q.segs, s)
	}
	if err := s.append(now, bodies, sync); err != nil {
		if s.first == s.end { // nothing is in it
			q.segs = q.segs[:len(q.segs)-1]
			err = errors.Join(err, s.remove())
		}
		return fmt.Errorf("queue of returners: %w", err)
	}
	q.next = s.end
	q.bytes += n
	return nil
}

// inMemory keeps records that the disk has not taken.
func (q *Queue) inMemory(now time.Time, n int64, bodies [][]byte) {
	s := q.last()
	if s == nil || s.file != nil {
		s = &segment{first: q.next, end: q.next}
		q.segs = append(q.segs, s)
	}
	s.hold(now, bodies)
	q.next = s.end
	q.memory += n
}

func (q *Queue) last() *segment {
	if len(q.segs) == 0 {
		return nil
	}
	return q.segs[len(q.segs)-1]
}

// segmentSize is beyond what a file is followed by another.
func (q *Queue) segmentSize() int64 { return max(q.opt.MaxBytes/8, 4096) }

// makeRoom drops the oldest records for n bytes of new ones.
func (q *Queue) makeRoom(n int64) {
	for q.bytes+n > q.opt.MaxBytes && len(q.segs) > 0 {
		q.drop("more than so many bytes wait")
	}
}

// drop gives up the first segment.
func (q *Queue) drop(why string) {
	s := q.segs[0]
	for _, r := range q.readers {
		q.skip(r, s, why)
	}
	q.removeFirst()
}

// skip moves a reader behind a segment, and tells what it will not get.
func (q *Queue) skip(r *reader, s *segment, why string) {
	if r.next >= s.end {
		return
	}
	lost := s.end - max(r.next, s.first)
	r.next, r.seg = s.end, nowhere
	_ = r.keep() // where it cannot be kept, its records are not there either
	if q.opt.Dropped != nil && lost > 0 {
		q.opt.Dropped(r.name, lost, why)
	}
}

func (q *Queue) removeFirst() {
	s := q.segs[0]
	q.segs = q.segs[1:]
	if s.file == nil {
		q.memory -= s.size
		return
	}
	q.bytes -= s.size
	_ = s.remove() // it is read as taken when it is found again
}

// trim removes the segments that all readers have behind them.
func (q *Queue) trim() {
	for len(q.segs) > 0 {
		s := q.segs[0]
		for _, r := range q.readers {
			if r.next < s.end {
				return
			}
		}
		if len(q.segs) == 1 && s.file != nil && s.size < minTrim && !s.broken {
			return // a file for each record would cost more
		}
		q.removeFirst()
	}
}

const minTrim = 256 << 10

// Expire drops what is too old, by whole segments; one that takes records is closed when its first one is old enough.
func (q *Queue) Expire(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.opt.MaxAge <= 0 || q.closed {
		return
	}
	for len(q.segs) > 0 && q.segs[0].end > q.segs[0].first && now.Sub(q.segs[0].newest) > q.opt.MaxAge {
		q.drop("they are too old")
	}
	if s := q.last(); s != nil && s.end > s.first && now.Sub(s.oldest) > q.opt.MaxAge/8 {
		s.broken = true // nothing more goes into it
	}
}
