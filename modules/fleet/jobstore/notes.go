package jobstore

import (
	"fmt"
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
	told func(setaside.Damage)
	sync bool // they outlive the machine's power, too

	mu   sync.Mutex
	log  *recordlog.Log
	most int64           // the size beyond which the file is written anew
	left map[string]Load // noted, and in no commit yet
}

// openNotes opens the file and reads what a predecessor has left in it. What of it is damaged is told of.
func openNotes(path string, sync bool, told func(setaside.Damage)) (*notes, error) {
	n := &notes{sync: sync, told: told, most: notesSize, left: map[string]Load{}}
	log, damage, err := recordlog.Open(path, recordlog.Options{Sync: sync}, n.read)
	if err != nil {
		return nil, fmt.Errorf("notes: %w", err)
	}
	n.log = log
	switch {
	case damage != nil:
		d, _ := log.SetAside(fmt.Errorf("%w: jobs of which only a note was left", damage), n.rest, n.grown)
		told(d)
	case log.IsOld():
		_ = n.rewrite() // the old form holds until it can be
	}
	return n, nil
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
	return n.log.Flush()
}

func (n *notes) write(l Load, body []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := n.log.Append(false, func(dst []byte) []byte { return append(dst, body...) })
	if err == nil {
		n.left[l.JID] = l
	}
	return err
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
	case n.log.Due(n.most):
		return n.rewrite()
	case len(n.left) == 0:
		if err := n.log.Empty(); err != nil {
			return fmt.Errorf("empty notes: %w", err)
		}
	}
	return nil
}

// rewrite makes a new file with what is left; n.mu is held, if anybody knows n.
func (n *notes) rewrite() error { return n.log.Rewrite(n.rest, n.grown) }

// grown says when the file is written anew again.
func (n *notes) grown() { n.most = 2*n.log.Size() + notesSize }

// rest puts what is left into a new file.
func (n *notes) rest(put func(recordlog.Body) (int64, error)) error {
	for _, l := range n.left {
		body, err := packNote(l)
		if err == nil {
			_, err = put(func(b []byte) []byte { return append(b, body...) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *notes) close() error { return n.log.Close() }

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
