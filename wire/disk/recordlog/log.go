package recordlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
)

// Log is an open file that one process appends records to. One goroutine at a time may use it; Flush is for all.
//
// A file that cannot be made, because the disk is full or is not there, is made with the first record that the disk
// takes.
type Log struct {
	path string
	opt  Options

	mu       sync.Mutex // guards f against Flush
	f        *os.File   // nil: it could not be made yet
	closed   bool
	format   Format
	size     int64 // where the next record goes
	patience int64 // the size before which it is not written anew, after an attempt that failed
	flushes  flushes
	buf      []byte
}

// Options say how the files of a Log are made.
type Options struct {
	Sync bool // a new file is on the disk, with its name, before it counts
	// Lock keeps other processes from the file as long as this one has it open: they get ErrTaken. A file system without
	// locks has no such guard.
	Lock bool
	// Older takes the records of a file that an older release has written; nil: they have the same form.
	Older Each
}

type (
	// Body appends the body of a record to what is there.
	Body = func([]byte) []byte
	// Contents puts the records of a file that is written anew. put tells where the body of one will stand.
	Contents = func(put func(Body) (at int64, err error)) error
)

// Nothing are the Contents of an empty file.
func Nothing(func(Body) (int64, error)) error { return nil }

// patient is how much a file grows until it is written anew again, after an attempt that failed.
const patient = 1 << 20

// Open opens a file and shows every whole record in it. Damage is an error that wraps ErrDamaged, or nil: then SetAside
// has to follow, and Rewrite where the Log IsOld. err means that the file cannot be opened or read.
func Open(path string, o Options, each Each) (l *Log, damage, err error) {
	l = Later(path, o)
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		_ = l.Make() // Append tries again
		return l, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open: %w", err)
	}
	found, err := Scan(f, each, o.Older)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read: %w", err), f.Close())
	}
	l.f, l.format, l.size = f, found.Format, found.End
	return l, found.Damage(), nil
}

// Later is a log whose file the first record makes, in the place of what is there.
func Later(path string, o Options) *Log { return &Log{path: path, opt: o} }

// Create makes a file without records in the place of what is there.
func Create(path string, o Options) (*Log, error) {
	l := Later(path, o)
	return l, l.Make()
}

// ErrTaken means that another process has the file.
var ErrTaken = errors.New("another process has it")

func lock(f *os.File) error {
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return ErrTaken
	}
	return nil
}

// open opens the file. One with a lock may lose its place to another between the opening and the lock, and one that is
// not there is made without taking the place of another.
func (l *Log) open() (*os.File, error) {
	for {
		f, err := os.OpenFile(l.path, os.O_RDWR, 0)
		if !l.opt.Lock {
			return f, err
		}
		if errors.Is(err, fs.ErrNotExist) {
			blank, _ := Blank()
			err = wholefile.Write(l.path, blank, wholefile.Options{New: true, Sync: l.opt.Sync})
			if err == nil || errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		var mine fs.FileInfo
		if err = lock(f); err == nil {
			mine, err = f.Stat()
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(l.path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// SetSync changes Options.Sync for files that are made from now on.
func (l *Log) SetSync(on bool) { l.opt.Sync = on }

// Path is where the file is.
func (l *Log) Path() string { return l.path }

// Size is how long the file is, in bytes.
func (l *Log) Size() int64 { return l.size }

// Used is how many of these are records.
func (l *Log) Used() int64 { return l.size - l.format.begin }

// IsOld says that the file has the form of an older release, until Rewrite or SetAside makes a new one.
func (l *Log) IsOld() bool { return l.format.table != nil && !l.format.Headed() }

// Make makes the file if it could not be made before.
func (l *Log) Make() error {
	if l.f != nil || l.closed {
		return nil
	}
	return l.Rewrite(Nothing, nil)
}

// Append puts records at the end, all or none, and tells where the body of the first one stands. With sync they are on
// the disk itself.
func (l *Log) Append(sync bool, bodies ...Body) (at int64, err error) {
	if err := l.Make(); err != nil {
		return 0, err
	}
	if l.closed {
		return 0, os.ErrClosed
	}
	b := l.buf[:0]
	for _, body := range bodies {
		b = l.format.Append(b, body)
	}
	if cap(b) <= keepBuffer {
		l.buf = b
	}
	_, err = l.f.WriteAt(b, l.size) // which tells of no bytes when the disk took some
	if err == nil && sync {
		err = syncData(l.f)
	}
	if err != nil {
		return 0, errors.Join(err, l.f.Truncate(l.size)) // nothing half stays
	}
	at = l.size + before
	l.size += int64(len(b))
	return at, nil
}

// keepBuffer is the largest buffer that is kept for the next records.
const keepBuffer = 64 << 10

func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// ErrLost means that a record will never be read again: it is damaged, or was cut.
var ErrLost = errors.New("the record is damaged")

// Read is the body of a record, by its place and its size. Errors but ErrLost may pass.
func (l *Log) Read(at int64, size int) ([]byte, error) {
	if l.f == nil {
		return nil, os.ErrClosed
	}
	b := make([]byte, before+size)
	if _, err := l.f.ReadAt(b, at-before); err == io.EOF {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	} else if err != nil {
		return nil, err
	}
	body, ok := l.format.Body(b)
	if !ok {
		return nil, ErrLost
	}
	return body, nil
}

// Walk shows the bodies of the records from a place on, where a record begins, until f has enough. A body is f's own. A
// record that is damaged is ErrLost.
func (l *Log) Walk(from int64, f func(at int64, body []byte) (more bool)) error {
	if l.f == nil {
		return nil
	}
	from = max(from, l.format.begin)
	in := bufio.NewReaderSize(io.NewSectionReader(l.f, from, l.size-from), 64<<10)
	for from < l.size {
		var head [before]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		n := int64(binary.BigEndian.Uint32(head[:])) + l.format.less
		if n > l.size-from-before {
			return ErrLost
		}
		b := append(head[:], make([]byte, n)...)
		if _, err := io.ReadFull(in, b[before:]); err != nil {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		body, ok := l.format.Body(b)
		if !ok {
			return ErrLost
		}
		if !f(from+before, body) {
			return nil
		}
		from += before + n
	}
	return nil
}

// Whole shows every whole record of a file that is damaged, as Open does.
func (l *Log) Whole(each Each) error {
	if l.f == nil {
		return nil
	}
	_, err := Scan(l.f, each, l.opt.Older)
	return err
}

// Flush returns when all that was appended before is on the disk. Any number of goroutines may call it: those who come
// together wait for one flush of the disk.
func (l *Log) Flush() error {
	return l.flushes.wait(func() error {
		for {
			l.mu.Lock()
			f := l.f
			l.mu.Unlock()
			if f == nil {
				return os.ErrClosed
			}
			if err := f.Sync(); !errors.Is(err, os.ErrClosed) { // else it was written anew meanwhile
				return err
			}
		}
	})
}

// Empty takes all records out of the file.
func (l *Log) Empty() error {
	switch {
	case l.f == nil || l.size == l.format.begin && l.format.Headed():
		return nil
	case !l.format.Headed():
		return l.Rewrite(Nothing, nil)
	}
	if err := l.f.Truncate(l.format.begin); err != nil {
		l.patience = l.size + patient
		return err
	}
	l.size, l.patience = l.format.begin, 0
	return nil
}

// Due says whether the file is longer than so many bytes and may be written anew: after an attempt that failed it has
// to grow first.
func (l *Log) Due(bytes int64) bool { return l.size > bytes && l.size >= l.patience }

// Rewrite makes a new file and takes it in place of this one, which moved hears of; moved may be nil. Where it fails,
// this one stays. It may take its place and have an error: then its name may not outlive the power of the machine.
func (l *Log) Rewrite(fill Contents, moved func()) error { return l.make(nil, fill, moved) }

// SetAside keeps a damaged file under another name, and puts another one in its place, as Rewrite does. Where it
// cannot, err says so: records are added at the end of the damaged one, or the next record makes a file if nothing in
// it could be read. The Damage tells of both.
func (l *Log) SetAside(why error, fill Contents, moved func()) (d setaside.Damage, err error) {
	d = setaside.Damage{Path: l.path, Err: why}
	if err = l.make(&d.Kept, fill, moved); err == nil {
		return d, nil
	}
	d.Err = errors.Join(why, err)
	if l.format == (Format{}) {
		d.Err = errors.Join(d.Err, l.release())
	} else if info, err := l.f.Stat(); err == nil {
		l.size = max(l.size, info.Size())
	}
	return d, err
}

// IsReadable says that the file is there, and that its form is known.
func (l *Log) IsReadable() bool { return l.f != nil && l.format.table != nil }

func (l *Log) make(kept *string, fill Contents, moved func()) error {
	how := making{Sync: l.opt.Sync, Lock: l.opt.Lock, Kept: kept}
	f, format, size, err := create(l.path, how, fill)
	if f == nil {
		l.patience = l.size + patient
		return fmt.Errorf("write %s anew: %w", filepath.Base(l.path), err)
	}
	old := l.f
	l.mu.Lock()
	l.f = f
	l.mu.Unlock()
	l.format, l.size, l.patience = format, size, 0
	if moved != nil {
		moved()
	}
	if old != nil {
		_ = old.Close() // it has no name any more
	}
	return err
}

// Intact says whether the file is as this process has left it: there, and as long.
func (l *Log) Intact() bool {
	if l.f == nil || l.Removed() {
		return false
	}
	info, err := l.f.Stat()
	return err == nil && info.Size() == l.size
}

// Removed says whether somebody has deleted the file.
func (l *Log) Removed() bool {
	if l.f == nil {
		return false
	}
	info, err := l.f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}

// Close closes the file. Nothing can be appended from then on.
func (l *Log) Close() error {
	l.closed = true
	return l.release()
}

// release lets go of the file.
func (l *Log) release() error {
	l.mu.Lock()
	f := l.f
	l.f = nil
	l.mu.Unlock()
	if f == nil {
		return nil
	}
	l.unlock(f)
	return f.Close()
}

// unlock lets go of the lock by itself: a child that is just being started has a copy of the descriptor until it runs
// its program, and a lock lasts as long as any copy of it.
func (l *Log) unlock(f *os.File) {
	if l.opt.Lock {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // a file system without locks has none to let go
	}
}

// flushes lets many wait for one flush. What came before a flush has begun is on the disk when it ends.
type flushes struct {
	mu    sync.Mutex
	next  *flushed // that has not begun
	under *flushed // that is under way
}

type flushed struct {
	over chan struct{}
	err  error
}

// wait returns what came of the first flush that begins from now on. One of those who wait for it makes it.
func (s *flushes) wait(flush func() error) error {
	s.mu.Lock()
	if s.next != nil {
		mine := s.next
		s.mu.Unlock()
		<-mine.over
		return mine.err
	}
	mine, before := &flushed{over: make(chan struct{})}, s.under
	s.next = mine
	s.mu.Unlock()
	if before != nil {
		<-before.over
	}
	s.mu.Lock()
	s.next, s.under = nil, mine
	s.mu.Unlock()
	mine.err = flush()
	s.mu.Lock()
	if s.under == mine {
		s.under = nil
	}
	s.mu.Unlock()
	close(mine.over)
	return mine.err
}
