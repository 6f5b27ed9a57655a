package jobstore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// NotesFile is the name of the notes in cachedir.
const NotesFile = "jobs.notes"

// notesSize is the size beyond which the file is written anew, in bytes.
const notesSize = 1 << 20

// notes keep loads past the death of this process, and with sync past that of the machine, until a commit has stored
// them. Each is appended to one file, which is emptied when all are stored. Any number of goroutines may use them.
type notes struct {
	path string
	told func(setaside.Damage)

	sync    bool // they outlive the machine's power, too
	syncing syncing

	mu     sync.Mutex
	f      *os.File // nil: it cannot be made; each note tries again
	format recordlog.Format
	size   int64
	most   int64           // the size beyond which the file is written anew
	left   map[string]Load // noted, and in no commit yet
}

// openNotes opens the file and reads what a predecessor has left in it. What of it is damaged is told of. A file that
// cannot be made now is made with a later note.
func openNotes(path string, sync bool, told func(setaside.Damage)) (*notes, error) {
	n := &notes{path: path, sync: sync, told: told, most: notesSize, left: map[string]Load{}}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = n.rewrite()
		return n, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}
	found, err := recordlog.Scan(f, recordlog.Old(crc32.IEEETable), n.read)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read notes: %w", err), f.Close())
	}
	n.f, n.format, n.size = f, found.Format, found.End
	if err := found.Damage(); err != nil {
		err = n.damaged(fmt.Errorf("%w: jobs of which only a note was left", err))
		return n, err
	}
	if !n.format.Headed() {
		_ = n.rewrite() // the old form holds until it can be
	}
	return n, nil
}

// damaged puts the file aside and begins another one with the notes that are whole. Where that fails the file is added
// to at its end, if it can be read at all.
func (n *notes) damaged(why error) error {
	d := setaside.Damage{Path: n.path, Err: why}
	err := n.make(recordlog.Making{Sync: n.sync, Kept: &d.Kept})
	d.Err = errors.Join(why, err)
	n.told(d)
	if err == nil {
		return nil
	}
	if n.format == (recordlog.Format{}) {
		err := n.f.Close()
		n.f = nil
		return err
	}
	info, err := n.f.Stat()
	if err == nil {
		n.size = info.Size()
	}
	return err
}

// read takes one note of a predecessor.
func (n *notes) read(_ int64, body []byte) error {
	l, err := parseNote(body)
	if err == nil {
		n.left[l.JID] = l
	}
	return err
}

// add notes one load.
func (n *notes) add(l Load) error {
	b, err := packNote(l)
	if err != nil {
		return err
	}
	if err := n.write(l, b); err != nil || !n.sync {
		return err
	}
	return n.syncing.wait(n.flush)
}

func (n *notes) write(l Load, body []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.f == nil {
		if err := n.rewrite(); err != nil {
			return err
		}
	}
	b := n.format.Append(nil, func(dst []byte) []byte { return append(dst, body...) })
	if _, err := n.f.WriteAt(b, n.size); err != nil {
		return errors.Join(err, n.f.Truncate(n.size)) // nothing half
	}
	n.size += int64(len(b))
	n.left[l.JID] = l
	return nil
}

// flush waits for the disk.
func (n *notes) flush() error {
	for {
		n.mu.Lock()
		f := n.f
		n.mu.Unlock()
		if f == nil {
			return os.ErrClosed
		}
		if err := f.Sync(); !errors.Is(err, os.ErrClosed) { // else it was written anew meanwhile
			return err
		}
	}
}

// syncing lets many wait for one flush. What came before a flush has begun is on the disk when it ends.
type syncing struct {
	mu    sync.Mutex
	next  *flushed // that has not begun
	under *flushed // that is under way
}

type flushed struct {
	over chan struct{}
	err  error
}

// wait returns what came of the first flush that begins from now on. One of those who wait for it makes it.
func (s *syncing) wait(flush func() error) error {
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

// get returns a load that is in no commit yet.
func (n *notes) get(jid string) (Load, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l, ok := n.left[jid]
	return l, ok
}

// stored forgets loads that a commit has stored.
func (n *notes) stored(jids []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, jid := range jids {
		delete(n.left, jid)
	}
	switch {
	case n.f == nil:
	case len(n.left) == 0 && !n.format.Headed(), n.size > n.most:
		return n.rewrite()
	case len(n.left) == 0 && n.size > n.format.Begin():
		if err := n.f.Truncate(n.format.Begin()); err != nil {
			return fmt.Errorf("empty notes: %w", err)
		}
		n.size = n.format.Begin()
	}
	return nil
}

// rewrite makes a new file with what is left; n.mu is held, if anybody knows n.
func (n *notes) rewrite() error { return n.make(recordlog.Making{Sync: n.sync}) }

func (n *notes) make(how recordlog.Making) error {
	n.most = n.size + notesSize // until this succeeds, not with every commit
	f, format, size, err := recordlog.Create(n.path, how, func(put func(func([]byte) []byte) (int64, int64,
		error)) error {
		for _, l := range n.left {
			body, err := packNote(l)
			if err == nil {
				_, _, err = put(func(b []byte) []byte { return append(b, body...) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if f == nil {
		return fmt.Errorf("write notes anew: %w", err)
	}
	old := n.f
	n.f, n.format, n.size, n.most = f, format, size, 2*size+notesSize
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	return err
}

func (n *notes) close() error {
	if n.f == nil {
		return nil
	}
	return n.f.Close()
}

// packNote packs a load.
func packNote(l Load) ([]byte, error) {
	m := payload.M("jid", l.JID, "minions", l.Minions, "nocache", l.NoCache)
	if l.Load != nil {
		m.Set("load", l.Load)
	}
	b, err := payload.MarshalBin(m)
	if err != nil {
		return nil, fmt.Errorf("pack note: %w", err)
	}
	return b, nil
}

// parseNote reads a load.
func parseNote(body []byte) (l Load, err error) {
	m, err := payload.UnmarshalBinMap(body)
	if err != nil {
		return l, fmt.Errorf("%w: %w", packedfile.ErrDamaged, err)
	}
	l = Load{JID: m.Str("jid"), Minions: payload.Texts(m.Value("minions")), NoCache: m.Bool("nocache"), Announced: true}
	l.Load, _ = m.Value("load").(*payload.Map)
	if !validJID(l.JID) {
		return l, packedfile.ErrDamaged
	}
	return l, nil
}

// Note keeps a load past the death of this process until a Commit has stored it. Unlike Announce it writes no files
// for Salt's tools.
func (s *Store) Note(l Load) error {
	if !validJID(l.JID) {
		return fmt.Errorf("note job %q: the job id cannot be stored", l.JID)
	}
	l.Announced = true
	if err := s.notes.add(l); err != nil {
		return fmt.Errorf("note job %s: %w", l.JID, err)
	}
	return nil
}

// takeNotes stores what a predecessor noted and could not store any more. Where the disk does not take it now, it waits
// in Left.
func (s *Store) takeNotes() error {
	var known []string
	for jid, l := range s.notes.left {
		if j, err := s.job(jid); err != nil || j == nil {
			s.left = append(s.left, l)
		} else {
			known = append(known, jid)
		}
	}
	slices.SortFunc(s.left, func(a, b Load) int { return strings.Compare(a.JID, b.JID) })
	if err := s.notes.stored(known); err != nil || len(s.left) == 0 {
		return err
	}
	if _, err := s.Commit(s.left, nil); err == nil {
		s.left = nil
	}
	return nil
}

// Left are the loads that a predecessor noted and that are in no commit yet. Whoever commits is to commit them, now or
// when the disk has room: until then they are known by their notes.
func (s *Store) Left() []Load { return s.left }
