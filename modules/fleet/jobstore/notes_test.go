package jobstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/host/packedfile"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// afterDeath opens the store as it would be found if the process had died now.
func afterDeath(t *testing.T, dir string) *Store {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{StoreFile, NotesFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return openStore(t, to)
}

func noted(t *testing.T, s *Store, jid string) Load {
	t.Helper()
	l := Load{JID: jid, Load: ping(jid).Set("tgt", "web*"), Minions: []string{"web2", "web1"}}
	if err := s.Note(l); err != nil {
		t.Fatal(err)
	}
	l.Announced = true
	return l
}

func checkNoted(t *testing.T, s *Store, jid, when string) {
	t.Helper()
	got := getLoad(t, s, jid)
	if got.Str("tgt") != "web*" || !payload.Equal(got.Value("Minions"), []any{"web1", "web2"}) {
		t.Errorf("%s: job %s is %v", when, jid, got)
	}
}

func notesLen(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, NotesFile))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestNote: a job that was noted is known before it is stored, and after the death of the process; no files are made
// for it, and no note is left when it is stored.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	l1, l2 := noted(t, s, jid1), noted(t, s, jid2)
	checkNoted(t, s, jid1, "noted")
	checkNoted(t, afterDeath(t, dir), jid2, "after death")
	commit(t, s, []Load{l1})
	checkNoted(t, s, jid1, "stored")
	next := afterDeath(t, dir)
	checkNoted(t, next, jid1, "stored, after death")
	checkNoted(t, next, jid2, "not stored, after death")
	commit(t, s, []Load{l2})
	if n := notesLen(t, dir); n != 0 {
		t.Errorf("%d bytes of notes when all is stored", n)
	}
	if exists(dir, "jobs") {
		t.Error("there is a directory of jobs")
	}
	if s.Note(Load{}) == nil {
		t.Error("a job without an id was noted")
	}
}

// TestNoteReturned: the first return of a job whose load came to no commit takes it from the note.
func TestNoteReturned(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	noted(t, s, jid1)
	commit(t, s, nil, answer(jid1, "web1", true))
	checkNoted(t, s, jid1, "returned")
	if n := notesLen(t, dir); n != 0 {
		t.Errorf("%d bytes of notes when all is stored", n)
	}
	if exists(dir, "jobs") {
		t.Error("there is a directory of jobs")
	}
}

// TestNotesRemoved: a job that was stored, removed and noted before a death does not come back.
func TestNotesRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	l1 := noted(t, s, jid1)
	noted(t, s, jid2) // keeps the file from being emptied
	commit(t, s, []Load{l1})
	if n := len(s.notes.left); n != 1 {
		t.Fatalf("%d notes are left", n)
	}
	next := afterDeath(t, dir)
	if _, known := next.notes.get(jid1); known {
		t.Error("a stored job is still noted")
	}
	if n := notesLen(t, filepath.Dir(next.file)); n != 0 {
		t.Errorf("%d bytes of notes after the start", n)
	}
}

// TestNotesRewritten: the file stays small while jobs come and go without end.
func TestNotesRewritten(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	s.notes.most = 10_000
	noted(t, s, jid1) // never stored
	for n := range 200 {
		jid := fmt.Sprintf("%020d", n)
		l := Load{JID: jid, Load: ping(jid).Set("arg", []any{strings.Repeat("x", 100)}), Announced: true}
		if err := s.Note(l); err != nil {
			t.Fatal(err)
		}
		if err := s.notes.stored([]string{jid}); err != nil {
			t.Fatal(err)
		}
		if n := notesLen(t, dir); n > 11_000 {
			t.Fatalf("%d bytes of notes", n)
		}
		if s.notes.most > notesSize { // it was written anew
			s.notes.most = 10_000
		}
	}
	checkNoted(t, afterDeath(t, dir), jid1, "after death")
}

// TestNotesDamaged: what a process was writing when it died takes nothing with it.
func TestNotesDamaged(t *testing.T) {
	b, err := appendNote(nil, Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1"}})
	if err != nil {
		t.Fatal(err)
	}
	more, err := appendNote(nil, Load{JID: jid2, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	spoiled := bytes.Clone(more)
	spoiled[len(spoiled)-1] ^= 1
	for _, tt := range []struct {
		name string
		b    []byte
		want int
	}{
		{"whole", append(bytes.Clone(b), more...), 2},
		{"torn head", append(bytes.Clone(b), more[:5]...), 1},
		{"torn", append(bytes.Clone(b), more[:len(more)-3]...), 1},
		{"spoiled", append(bytes.Clone(b), spoiled...), 1},
		{"zeros", append(bytes.Clone(b), make([]byte, 4096)...), 1},
		{"empty", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), NotesFile)
			if err := os.WriteFile(path, tt.b, 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := openNotes(path, false)
			if err != nil {
				t.Fatal(err)
			}
			defer n.close()
			if len(n.left) != tt.want {
				t.Fatalf("%d notes, want %d", len(n.left), tt.want)
			}
			if tt.want > 0 {
				want := Load{JID: jid1, Minions: []string{"web1"}, Announced: true}
				got := n.left[jid1]
				if !payload.Equal(got.Load, ping(jid1)) {
					t.Errorf("load is %v", got.Load)
				}
				got.Load = nil
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// FuzzNextNote reads notes of a spoiled file.
func FuzzNextNote(f *testing.F) {
	b, err := appendNote(nil, Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append(b, b[:20]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, rest, err := nextNote(b)
		if err != nil {
			if !errors.Is(err, packedfile.ErrDamaged) {
				t.Errorf("got %v, want packedfile.ErrDamaged", err)
			}
			return
		}
		if len(rest) >= len(b) {
			t.Error("it did not get shorter")
		}
		if _, err := appendNote(nil, l); err != nil {
			t.Errorf("a note that was read cannot be packed: %v", err)
		}
	})
}

// BenchmarkNote notes one job after another.
func BenchmarkNote(b *testing.B) {
	s := openStore(b, b.TempDir())
	n := 0
	for b.Loop() {
		jid := fmt.Sprintf("%020d", n)
		if err := s.Note(Load{JID: jid, Load: ping(jid), Minions: []string{"web2", "web1"}}); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
