package minion

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/wire/disk/recordlog"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// journalFile is what a minion has to remember over its death: the jobs that have begun, and the returns that a
// master has not acknowledged. One file, to which records are appended; a later record of a job counts in place of
// the earlier ones. It is safe against the death of the process. One goroutine at a
// time may use it.
type journalFile struct {
	path   string
	format recordlog.Format
	// sync lets write end when the records are on the disk itself, and so makes the file safe against the death of the
	// host, too. A record that a job is over does not wait: without it a return comes once more.
	sync bool
	f    *os.File
	size int64
	live map[string]*journalEntry
	used int64 // bytes of the records of live
	// patience is the size before which the file is not compacted, after an attempt that failed.
	patience int64
}

// journalEntry is the last record of a job.
type journalEntry struct {
	key  string
	kind journalKind
	link string    // the master to answer
	at   time.Time // of the record
	off  int64
	len  int64 // of the whole record
	body int64 // of its body, at the end
}

// openJournal reads the journal, and makes it when there is none. A damaged one is set aside, and another one with what
// is whole in it takes its place. The error tells of that, and the journal can be used all the same unless it is nil.
func openJournal(path string) (*journalFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := openLocked(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	_ = removeIfThere(path + tmpSuffix) // of an older release that died while it wrote one anew
	j := &journalFile{path: path, f: f, live: map[string]*journalEntry{}}
	found, err := recordlog.Scan(f, oldJournal, func(at int64, body []byte) error {
		e, err := parseJournal(body)
		if err == nil {
			e.off = at - recordlog.Overhead
			j.note(e)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), j.close())
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

// oldJournal is the form of journals of releases that wrote no heads.
var oldJournal = recordlog.Old(crc32.MakeTable(crc32.Castagnoli))

// setAside puts another file in the place of a damaged one. Where it cannot, the file is added to at its end, if
// anything of it can be read.
func (j *journalFile) setAside(why error) (*journalFile, error) {
	var kept string
	err := j.make(&kept)
	if err == nil {
		return j, fmt.Errorf("%s: %w; set aside as %s, %d jobs and returns that are whole are used", j.path, why, kept,
			len(j.live))
	}
	err = errors.Join(fmt.Errorf("%s: %w", j.path, why), err)
	if j.format == (recordlog.Format{}) {
		return nil, errors.Join(err, j.close())
	}
	info, serr := j.f.Stat()
	if serr != nil {
		return nil, errors.Join(err, serr, j.close())
	}
	j.size = info.Size()
	return j, err
}

func (j *journalFile) note(e *journalEntry) {
	if old := j.live[e.key]; old != nil {
		j.used -= old.len
		delete(j.live, e.key)
	}
	if e.kind != journalGone {
		j.live[e.key] = e
		j.used += e.len
	}
}

// write appends records in one piece. After an error the file is as before.
func (j *journalFile) write(now time.Time, records ...journalRecord) error {
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
	if j.sync && slices.ContainsFunc(records, func(r journalRecord) bool { return r.kind != journalGone }) {
		if err := unix.Fdatasync(int(j.f.Fd())); err != nil {
			return errors.Join(fmt.Errorf("journal: sync: %w", err), j.f.Truncate(j.size))
		}
	}
	for i := range records {
		r := &records[i]
		j.note(&journalEntry{key: r.key, kind: r.kind, link: r.link, at: now, off: j.size, len: r.size(),
			body: int64(len(r.body))})
		j.size += r.size()
	}
	return nil
}

// errUnreadable means that the journal will never give a record back.
var errUnreadable = errors.New("the journal does not have it")

// read is the body of a job's last record. Errors but errUnreadable may pass.
func (j *journalFile) read(key string) ([]byte, error) {
	e := j.live[key]
	if e == nil {
		return nil, fmt.Errorf("%w: no record of %s", errUnreadable, key)
	}
	b := make([]byte, e.len)
	if _, err := j.f.ReadAt(b, e.off); err == io.EOF { // it was cut
		return nil, fmt.Errorf("%w: record of %s: %w", errUnreadable, key, err)
	} else if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if _, ok := j.format.Body(b); !ok {
		return nil, fmt.Errorf("%w: record of %s: %w", errUnreadable, key, errJournal)
	}
	return b[e.len-e.body:], nil
}

// load is the map in the last record of a job.
func (j *journalFile) load(key string) (*payload.Map, error) {
	b, err := j.read(key)
	if err != nil {
		return nil, err
	}
	load, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, fmt.Errorf("%w: record of %s: %w", errUnreadable, key, err)
	}
	return load, nil
}

// list is what is of a kind, oldest first; of all masters where link is "".
func (j *journalFile) list(kind journalKind, link string) []*journalEntry {
	var all []*journalEntry
	for _, e := range j.live {
		if e.kind == kind && (link == "" || e.link == link) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *journalEntry) int { return int(a.off - b.off) })
	return all
}
