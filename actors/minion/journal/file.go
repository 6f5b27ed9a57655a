package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/wire/disk/recordlog"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// File is what a minion has to remember over its death: the jobs that have begun, and the returns that a
// master has not acknowledged. One file, to which records are appended; a later record of a job counts in place of
// the earlier ones. It is safe against the death of the process. One goroutine at a
// time may use it.
type File struct {
	path   string
	format recordlog.Format
	// sync lets write end when the records are on the disk itself, and so makes the file safe against the death of the
	// host, too. A record that a job is over does not wait: without it a return comes once more.
	sync bool
	f    *os.File
	size int64
	live map[string]*Entry
	used int64 // bytes of the records of live
	// patience is the size before which the file is not compacted, after an attempt that failed.
	patience int64
}

// Entry is the last record of a job.
type Entry struct {
	Key  string
	kind Kind
	Link string    // the master to answer
	at   time.Time // of the record
	off  int64
	len  int64 // of the whole record
	body int64 // of its body, at the end
}

// openFile reads the journal, and makes it when there is none. A damaged one is set aside, and another one with what
// is whole in it takes its place. The error tells of that, and the journal can be used all the same unless it is nil.
func openFile(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := openLocked(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	_ = jobfiles.Remove(path + jobfiles.TempSuffix) // of an older release that died while it wrote one anew
	j := &File{path: path, f: f, live: map[string]*Entry{}}
	found, err := recordlog.Scan(f, oldForm, func(at int64, body []byte) error {
		e, err := parse(body)
		if err == nil {
			e.off = at - recordlog.Overhead
			j.note(e)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), j.Close())
	}
	j.format, j.size = found.Format, found.End
	if damage := found.Damage(); damage != nil {
		return j.setAside(damage)
	}
	if !j.format.Headed() {
		_ = j.rewrite() // the old form does until it can be
	}
	return j, nil
}

// oldForm is the form of journals of releases that wrote no heads.
var oldForm = recordlog.Old(crc32.MakeTable(crc32.Castagnoli))

// setAside puts another file in the place of a damaged one. Where it cannot, the file is added to at its end, if
// anything of it can be read.
func (j *File) setAside(why error) (*File, error) {
	var kept string
	err := j.make(&kept)
	if err == nil {
		return j, fmt.Errorf("%s: %w; set aside as %s, %d jobs and returns that are whole are used", j.path, why, kept,
			len(j.live))
	}
	err = errors.Join(fmt.Errorf("%s: %w", j.path, why), err)
	if j.format == (recordlog.Format{}) {
		return nil, errors.Join(err, j.Close())
	}
	info, serr := j.f.Stat()
	if serr != nil {
		return nil, errors.Join(err, serr, j.Close())
	}
	j.size = info.Size()
	return j, err
}

func (j *File) note(e *Entry) {
	if old := j.live[e.Key]; old != nil {
		j.used -= old.len
		delete(j.live, e.Key)
	}
	if e.kind != Gone {
		j.live[e.Key] = e
		j.used += e.len
	}
}

// Write appends records in one piece. After an error the file is as before.
func (j *File) Write(now time.Time, records ...Record) error {
	var total int64
	for i := range records {
		total += records[i].size()
	}
	b := make([]byte, 0, total)
	for i := range records {
		b = j.format.Append(b, func(dst []byte) []byte { return records[i].append(dst, now) })
	}
	if n, err := j.f.WriteAt(b, j.size); err != nil {
		if n > 0 {
			err = errors.Join(err, j.f.Truncate(j.size))
		}
		return fmt.Errorf("journal: %w", err)
	}
	if j.sync && slices.ContainsFunc(records, func(r Record) bool { return r.Kind != Gone }) {
		if err := unix.Fdatasync(int(j.f.Fd())); err != nil {
			return errors.Join(fmt.Errorf("journal: sync: %w", err), j.f.Truncate(j.size))
		}
	}
	for i := range records {
		r := &records[i]
		j.note(&Entry{Key: r.Key, kind: r.Kind, Link: r.Link, at: now, off: j.size, len: r.size(),
			body: int64(len(r.Body))})
		j.size += r.size()
	}
	return nil
}

// ErrUnreadable means that the journal will never give a record back.
var ErrUnreadable = errors.New("the journal does not have it")

// read is the body of a job's last record. Errors but ErrUnreadable may pass.
func (j *File) read(key string) ([]byte, error) {
	e := j.live[key]
	if e == nil {
		return nil, fmt.Errorf("%w: no record of %s", ErrUnreadable, key)
	}
	b := make([]byte, e.len)
	if _, err := j.f.ReadAt(b, e.off); err == io.EOF { // it was cut
		return nil, fmt.Errorf("%w: record of %s: %w", ErrUnreadable, key, err)
	} else if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if _, ok := j.format.Body(b); !ok {
		return nil, fmt.Errorf("%w: record of %s: %w", ErrUnreadable, key, errDamaged)
	}
	return b[e.len-e.body:], nil
}

// Load is the map in the last record of a job.
func (j *File) Load(key string) (*payload.Map, error) {
	b, err := j.read(key)
	if err != nil {
		return nil, err
	}
	load, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, fmt.Errorf("%w: record of %s: %w", ErrUnreadable, key, err)
	}
	return load, nil
}

// List is what is of a kind, oldest first; of all masters where link is "".
func (j *File) List(kind Kind, link string) []*Entry {
	var all []*Entry
	for _, e := range j.live {
		if e.kind == kind && (link == "" || e.Link == link) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Entry) int { return int(a.off - b.off) })
	return all
}
