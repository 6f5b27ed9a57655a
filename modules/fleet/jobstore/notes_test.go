package jobstore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
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
	if n := notesLen(t, dir); n != recordlog.Begin {
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
	if n := notesLen(t, dir); n != recordlog.Begin {
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
	if n := notesLen(t, filepath.Dir(next.file)); n != recordlog.Begin {
		t.Errorf("%d bytes of notes after the start", n)
	}
}

// TestNotesRewritten: the file stays small while jobs come and go without end.
func TestNotesRewritten(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	s.notes.most = recordlog.Begin + 10_000
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
		if n := notesLen(t, dir); n > recordlog.Begin+11_000 {
			t.Fatalf("%d bytes of notes", n)
		}
		if s.notes.most > recordlog.Begin+notesSize { // it was written anew
			s.notes.most = recordlog.Begin + 10_000
		}
	}
	checkNoted(t, afterDeath(t, dir), jid1, "after death")
}

// TestNotesDamaged: what is damaged takes nothing with it, is told of and set aside, and the next process finds a whole
// file. Files of older releases are read as well.
func TestNotesDamaged(t *testing.T) {
	pack := func(l Load) []byte {
		b, err := packNote(l)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first, second := pack(Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1"}}),
		pack(Load{JID: jid2, NoCache: true})
	file := func(m recordlog.Format, head []byte) []byte {
		for _, body := range [][]byte{first, second} {
			head = m.Append(head, func(b []byte) []byte { return append(b, body...) })
		}
		return head
	}
	path := filepath.Join(t.TempDir(), "new")
	f, format, _, err := recordlog.Create(path, recordlog.Making{},
		func(func(func([]byte) []byte) (int64, int64, error)) error {
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	head, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, fresh := file(recordlog.Old(crc32.IEEETable), nil), file(format, head)
	spoiled, firstSpoiled := bytes.Clone(fresh), bytes.Clone(fresh)
	spoiled[len(spoiled)-1] ^= 1
	firstSpoiled[recordlog.Begin] ^= 1
	for _, tt := range []struct {
		name string
		b    []byte
		want []string
		told bool
	}{
		{"whole", fresh, []string{jid1, jid2}, false},
		{"of an older release", old, []string{jid1, jid2}, false},
		{"of an older release, torn", old[:len(old)-3], []string{jid1}, true},
		{"torn head", fresh[:len(fresh)-len(second)-3], []string{jid1}, true},
		{"torn", fresh[:len(fresh)-3], []string{jid1}, true},
		{"spoiled", spoiled, []string{jid1}, true},
		{"the first one spoiled", firstSpoiled, []string{jid2}, true},
		{"zeros", append(bytes.Clone(fresh), make([]byte, 4096)...), []string{jid1, jid2}, true},
		{"empty", nil, nil, true},
		{"noise", bytes.Repeat([]byte("noise"), 9000), nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), NotesFile)
			if err := os.WriteFile(path, tt.b, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, again := range []bool{false, true} {
				var told []setaside.Damage
				n, err := openNotes(path, false, func(d setaside.Damage) { told = append(told, d) })
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Sorted(maps.Keys(n.left)); !slices.Equal(got, tt.want) {
					t.Errorf("notes of %v, want %v", got, tt.want)
				}
				if want := tt.told && !again; (len(told) > 0) != want {
					t.Errorf("again %v: told of %v", again, told)
				}
				for _, d := range told {
					if b, err := os.ReadFile(d.Kept); err != nil || !bytes.Equal(b, tt.b) {
						t.Errorf("%s does not hold what was there: %v", d.Kept, err)
					}
				}
				if got := n.left[jid1]; got.JID != "" && (!payload.Equal(got.Load, ping(jid1)) ||
					!slices.Equal(got.Minions, []string{"web1"}) || !got.Announced) {
					t.Errorf("the load is %v", got)
				}
				if err := n.close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// FuzzParseNote reads notes that were not written by us.
func FuzzParseNote(f *testing.F) {
	b, err := packNote(Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseNote(b)
		if err != nil {
			if !errors.Is(err, packedfile.ErrDamaged) {
				t.Errorf("got %v", err)
			}
			return
		}
		if _, err := packNote(l); err != nil {
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
