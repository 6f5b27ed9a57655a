package minion

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// journalFile is what a minion has to remember over its death: the jobs that have begun, and the returns that a
// master has not acknowledged. One file, to which records are appended; a later record of a job counts in place of
// the earlier ones. It is safe against the death of the process. One goroutine at a
// time may use it.
type journalFile struct {
	path string
	// sync lets write end when the records are on the disk itself, and so makes the file safe against the death of the host,
	// too. A record that a job is over does not wait: without it a return comes once more.
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

// openJournal reads the journal. What is damaged, and what comes after it, is set aside in a file beside: mostly a
// record in which a process has died. The error tells of that, and the journal can be used all the same unless it is
// nil.
func openJournal(path string) (*journalFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := openLocked(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if err := removeIfThere(path + tmpSuffix); err != nil { // of a death in the middle of a rewrite
		return nil, errors.Join(fmt.Errorf("journal: %w", err), f.Close())
	}
	j := &journalFile{path: path, f: f, live: map[string]*journalEntry{}}
	in := bufio.NewReaderSize(f, 1<<16)
	var buf []byte
	for {
		e, err := nextJournal(in, &buf)
		switch {
		case err == io.EOF:
			return j, nil
		case err != nil:
			return j, j.setAside()
		}
		e.off = j.size
		j.size += e.len
		j.note(e)
	}
}

// nextJournal reads one record. buf is used again and again.
func nextJournal(in *bufio.Reader, buf *[]byte) (*journalEntry, error) {
	head, err := in.Peek(journalHead)
	if err != nil {
		if len(head) > 0 {
			err = errJournal
		}
		return nil, err
	}
	n := journalHead + int(binary.BigEndian.Uint32(head))
	if n > journalMost {
		return nil, errJournal
	}
	*buf = slices.Grow((*buf)[:0], min(n, 1<<16))
	for len(*buf) < n { // as far as there are bytes, so that a wrong length costs nothing
		part := slices.Grow(*buf, min(n-len(*buf), 1<<16))
		m, err := io.ReadFull(in, part[len(part):len(part)+min(n-len(part), 1<<16)])
		*buf = part[:len(part)+m]
		if err != nil {
			return nil, errJournal
		}
	}
	return parseJournal(*buf)
}

// setAside moves the damaged end of the file.
func (j *journalFile) setAside() error {
	err := fmt.Errorf("journal: %w at %d, the rest is set aside in %s.bad", errJournal, j.size, j.path)
	bad, openErr := os.OpenFile(j.path+".bad", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if openErr != nil {
		return errors.Join(err, openErr, j.f.Truncate(j.size))
	}
	_, copyErr := io.Copy(bad, io.NewSectionReader(j.f, j.size, 1<<62))
	return errors.Join(err, copyErr, bad.Close(), j.f.Truncate(j.size))
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
		b = records[i].append(b, now)
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
		j.note(&journalEntry{key: r.key, kind: r.kind, link: r.link, at: now, off: j.size, len: r.size(), body: int64(len(r.body))})
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
	if _, err := parseJournal(b); err != nil {
		return nil, fmt.Errorf("%w: record of %s: %w", errUnreadable, key, err)
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
