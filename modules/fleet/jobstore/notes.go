package jobstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"brine/modules/host/packedfile"
	"brine/modules/host/wholefile"
	"brine/wire/payload"
)

// NotesFile is the name of the notes in cachedir.
const NotesFile = "jobs.notes"

// notesSize is the size beyond which the file is written anew, in bytes.
const notesSize = 1 << 20

// noteHead stands before each note: the length of what follows it and its CRC-32 (IEEE), 4 bytes each.
const noteHead = 8

// notes keep loads past the death of this process, and with sync past that of the machine, until a commit has stored them. Each
// is appended to one file, which is emptied when all are stored. Any number of goroutines may use them.
type notes struct {
	path string

	sync    bool // they outlive the machine's power, too
	syncing syncing

	mu   sync.Mutex
	f    *os.File
	size int64
	most int64           // the size beyond which the file is written anew
	left map[string]Load // noted, and in no commit yet
}

// openNotes opens the file and reads what a predecessor has left in it. What is damaged, and what comes after it, is
// what it was writing when it died: nobody was told of it.
func openNotes(path string, sync bool) (*notes, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}
	n := &notes{path: path, sync: sync, f: f, size: int64(len(b)), most: notesSize, left: map[string]Load{}}
	if sync {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return nil, errors.Join(fmt.Errorf("open notes: %w", err), f.Close())
		}
	}
	for len(b) > 0 {
		var l Load
		if l, b, err = nextNote(b); err != nil {
			break
		}
		n.left[l.JID] = l
	}
	return n, nil
}

// add notes one load.
func (n *notes) add(l Load) error {
	b, err := appendNote(nil, l)
	if err != nil {
		return err
	}
	if err := n.write(l, b); err != nil || !n.sync {
		return err
	}
	return n.syncing.wait(n.flush)
}

func (n *notes) write(l Load, b []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := n.f.Write(b); err != nil {
		return errors.Join(err, n.f.Truncate(n.size)) // nothing half, which would hide what comes after it
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
	case len(n.left) == 0 && n.size > 0:
		if err := n.f.Truncate(0); err != nil {
			return fmt.Errorf("empty notes: %w", err)
		}
		n.size = 0
	case n.size > n.most:
		return n.rewrite()
	}
	return nil
}

// rewrite makes a new file with what is left; n.mu is held.
func (n *notes) rewrite() error {
	var b []byte
	var err error
	for _, l := range n.left {
		if b, err = appendNote(b, l); err != nil {
			return err
		}
	}
	n.most = n.size + notesSize // until this succeeds, not with every commit
	if err := wholefile.Write(n.path, b, wholefile.Options{Sync: n.sync}); err != nil {
		return fmt.Errorf("write notes anew: %w", err)
	}
	f, err := os.OpenFile(n.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open notes: %w", err)
	}
	if n.sync {
		err = syncDir(filepath.Dir(n.path))
	}
	old := n.f
	n.f, n.size, n.most = f, int64(len(b)), int64(2*len(b)+notesSize)
	return errors.Join(err, old.Close())
}

func (n *notes) close() error { return n.f.Close() }

// appendNote packs a load behind b.
func appendNote(b []byte, l Load) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, noteHead)...)
	m := payload.M("jid", l.JID, "minions", l.Minions, "nocache", l.NoCache)
	if l.Load != nil {
		m.Set("load", l.Load)
	}
	b, err := payload.AppendBin(b, m)
	if err != nil {
		return nil, fmt.Errorf("pack note: %w", err)
	}
	body := b[start+noteHead:]
	binary.BigEndian.PutUint32(b[start:], uint32(len(body)))
	binary.BigEndian.PutUint32(b[start+4:], crc32.ChecksumIEEE(body))
	return b, nil
}

// nextNote reads the first note of b and returns what follows it.
func nextNote(b []byte) (l Load, rest []byte, err error) {
	if len(b) < noteHead || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-noteHead) {
		return l, nil, packedfile.ErrDamaged
	}
	body := b[noteHead : noteHead+int(binary.BigEndian.Uint32(b))]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(b[4:]) {
		return l, nil, packedfile.ErrDamaged
	}
	m, err := payload.UnmarshalBinMap(body)
	if err != nil {
		return l, nil, fmt.Errorf("%w: %w", packedfile.ErrDamaged, err)
	}
	l = Load{JID: m.Str("jid"), Minions: payload.Texts(m.Value("minions")), NoCache: m.Bool("nocache"), Announced: true}
	l.Load, _ = m.Value("load").(*payload.Map)
	if !validJID(l.JID) {
		return l, nil, packedfile.ErrDamaged
	}
	return l, b[noteHead+len(body):], nil
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

// takeNotes stores what a predecessor noted and could not store any more.
func (s *Store) takeNotes() error {
	var loads []Load
	var known []string
	for jid, l := range s.notes.left {
		if j, err := s.job(jid); err == nil && j == nil {
			loads = append(loads, l)
		} else {
			known = append(known, jid)
		}
	}
	if err := s.notes.stored(known); err != nil || len(loads) == 0 {
		return err
	}
	_, err := s.Commit(loads, nil)
	return err
}
