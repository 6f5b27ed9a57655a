package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/wire/disk/recordlog"
	"brine/wire/payload"
)

// File is what a minion has to remember over its death: the jobs that have begun, and the returns that a
// master has not acknowledged. A later record of a job counts in place of the earlier ones. One goroutine at a time may
// use it.
type File struct {
	log *recordlog.Log
	// sync lets write end when the records are on the disk itself, and so makes the file safe against the death of the
	// host, too. A record that a job is over does not wait: without it a return comes once more.
	sync bool
	live map[string]*Entry
	used int64 // bytes of the records of live
}

// Entry is the last record of a job.
type Entry struct {
	Key  string
	kind Kind
	Link string    // the master to answer
	at   time.Time // of the record
	off  int64     // where it stands in the file
	len  int64     // of the whole record
	body int64     // of its body, at the end
}

// openFile reads the journal, and makes it when there is none. A damaged one is set aside, and another one with what
// is whole in it takes its place. The error tells of that, and the journal can be used all the same unless it is nil.
func openFile(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	_ = jobfiles.Remove(path + jobfiles.TempSuffix) // of an older release that died while it wrote one anew
	j := &File{live: map[string]*Entry{}}
	log, damage, err := recordlog.Open(path, recordlog.Options{Lock: true}, func(at int64, body []byte) error {
		e, err := parse(body)
		if err == nil {
			e.off = at
			j.note(e)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j.log = log
	switch {
	case damage != nil:
		return j.setAside(damage)
	case log.IsOld():
		_ = j.rewrite() // the old form does until it can be
	}
	if err := log.Make(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return j, nil
}

// setAside puts another file in the place of a damaged one. Where it cannot, the file is added to at its end, if
// anything of it can be read.
func (j *File) setAside(why error) (*File, error) {
	fill, moved := j.rest()
	switch d, err := j.log.SetAside(why, fill, moved); {
	case err == nil:
		return j, fmt.Errorf("%s: %w; set aside as %s, %d jobs and returns that are whole are used", d.Path, why, d.Kept,
			len(j.live))
	case !j.log.IsReadable():
		return nil, errors.Join(fmt.Errorf("%s: %w", d.Path, d.Err), j.Close())
	default:
		return j, fmt.Errorf("%s: %w", d.Path, d.Err)
	}
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
	bodies := make([]recordlog.Body, len(records))
	for i := range records {
		bodies[i] = func(dst []byte) []byte { return records[i].append(dst, now) }
	}
	sync := j.sync && slices.ContainsFunc(records, func(r Record) bool { return r.Kind != Gone })
	at, err := j.log.Append(sync, bodies...)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for i := range records {
		r := &records[i]
		j.note(&Entry{Key: r.Key, kind: r.Kind, Link: r.Link, at: now, off: at, len: r.size(), body: int64(len(r.Body))})
		at += r.size()
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
	b, err := j.log.Read(e.off, int(e.len-head))
	switch {
	case errors.Is(err, recordlog.ErrLost):
		return nil, fmt.Errorf("%w: record of %s: %w", ErrUnreadable, key, err)
	case err != nil:
		return nil, fmt.Errorf("journal: %w", err)
	}
	return b[int64(len(b))-e.body:], nil
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
