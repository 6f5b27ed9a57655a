package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/disk/recordlog"

	"golang.org/x/sys/unix"
)

var journalTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func openAt(t testing.TB, path string) *File {
	t.Helper()
	j, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func writeTo(t testing.TB, j *File, records ...Record) {
	t.Helper()
	if err := j.Write(journalTime, records...); err != nil {
		t.Fatal(err)
	}
}

func keys(entries []*Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Key)
	}
	return strings.Join(all, " ")
}

// TestJournal writes records and finds them again, in this process and the next.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "jobs.journal")
	j := openAt(t, path)
	writeTo(t, j, Record{Begun, "1", "m", []byte("one")}, Record{Begun, "2", "m",
		[]byte("two")})
	writeTo(t, j, Record{Returned, "1", "m", []byte("uno")}, Record{Returned, "3", "n", nil})
	writeTo(t, j, Record{Gone, "unknown", "", nil}, Record{Gone, "3", "", nil})
	for range 2 {
		if got := keys(j.List(Begun, "")); got != "2" {
			t.Errorf("begun: %q", got)
		}
		if got := keys(j.List(Returned, "m")); got != "1" {
			t.Errorf("returns for m: %q", got)
		}
		if got := keys(j.List(Returned, "n")); got != "" {
			t.Errorf("returns for n: %q", got)
		}
		if b, err := j.read("1"); err != nil || string(b) != "uno" || !j.live["1"].at.Equal(journalTime) {
			t.Errorf("read: %q, %v, %v", b, err, j.live["1"].at)
		}
		if _, err := j.read("3"); !errors.Is(err, ErrUnreadable) {
			t.Errorf("a record that is gone: %v", err)
		}
		j.Close()
		j = openAt(t, path)
	}
}

// TestJournalDamage cuts and spoils a journal at many bytes, and empties it: what is whole before and behind is there,
// and what comes afterwards. The damaged file is kept as it was.
func TestJournalDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	ends := []int64{j.size}
	for _, key := range []string{"first", "second", "third"} {
		writeTo(t, j, Record{Returned, key, "m", []byte("body of " + key)})
		ends = append(ends, j.size)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	check := func(what string, b []byte, from, to int64, damaged bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "jobs.journal")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, key := range []string{"first", "second", "third"} {
			if ends[i+1] <= from || ends[i] >= to {
				want = append(want, key)
			}
		}
		d, err := openFile(path)
		if d == nil || damaged != errors.Is(err, recordlog.ErrDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
		if got := keys(d.List(Returned, "")); got != strings.Join(want, " ") {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
		for key := range d.live {
			if b, err := d.read(key); err != nil || string(b) != "body of "+key {
				t.Errorf("%s: %s is %q, %v", what, key, b, err)
			}
		}
		if aside, err := filepath.Glob(path + ".damaged-*"); err != nil || (len(aside) == 1) != damaged {
			t.Errorf("%s: set aside as %v, %v", what, aside, err)
		} else if damaged {
			if kept, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(kept, b) {
				t.Errorf("%s: what was set aside is not what was there: %v", what, err)
			}
		}
		writeTo(t, d, Record{Returned, "later", "m", nil})
		d.Close()
		again := openAt(t, path)
		if got := keys(again.List(Returned, "")); got != strings.Join(append(want, "later"), " ") {
			t.Errorf("%s: what came after is not there: %s", what, got)
		}
		again.Close()
	}
	check("emptied", nil, 0, int64(len(whole)), true)
	check("noise", bytes.Repeat([]byte("noise"), 3000), 0, int64(len(whole)), true)
	for i := ends[0]; i < int64(len(whole)); i += 5 {
		spoilt := bytes.Clone(whole)
		spoilt[i] ^= 0x10
		check(fmt.Sprintf("cut at %d", i), whole[:i], i, int64(len(whole)), !slices.Contains(ends, i))
		check(fmt.Sprintf("spoilt at %d", i), spoilt, i, i+1, true)
	}
}

// TestJournalOlder reads the journal of a release that wrote no heads, and makes it one with a head.
func TestJournalOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	var b []byte
	for _, key := range []string{"1", "2"} {
		r := Record{Returned, key, "m", []byte("body")}
		b = oldForm.Append(b, func(dst []byte) []byte { return r.append(dst, journalTime) })
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j := openAt(t, path)
	if got := keys(j.List(Returned, "")); got != "1 2" || !j.format.Headed() {
		t.Errorf("got %s", got)
	}
}

// TestJournalCompact keeps the file small, and what counts in it.
func TestJournalCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	body := bytes.Repeat([]byte("x"), 10000)
	writeTo(t, j, Record{Returned, "stays", "m", []byte("here")})
	for i := range 1000 {
		key := fmt.Sprint(i)
		writeTo(t, j, Record{Begun, key, "m", body}, Record{Returned, key, "m", body})
		writeTo(t, j, Record{Gone, key, "", nil})
		if err := j.compact(); err != nil {
			t.Fatal(err)
		}
		if j.size > 3*slack {
			t.Fatalf("%d bytes after %d jobs", j.size, i)
		}
	}
	if b, err := j.read("stays"); err != nil || string(b) != "here" {
		t.Errorf("what counts: %q, %v", b, err)
	}
	j.Close()
	j = openAt(t, path)
	if b, err := j.read("stays"); err != nil || string(b) != "here" || len(j.live) != 1 {
		t.Errorf("in the next process: %q, %v", b, err)
	}
	writeTo(t, j, Record{Begun, "big", "m", bytes.Repeat(body, 200)}, Record{Gone, "big",
		"", nil}, Record{Gone, "stays", "", nil})
	if err := j.compact(); err != nil || j.size != recordlog.Begin {
		t.Errorf("an empty journal has %d bytes: %v", j.size, err)
	}
}

// TestJournalFull takes nothing of a record that could not be written.
func TestJournalFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	writeTo(t, j, Record{Begun, "1", "m", nil})
	size := j.size
	j.f.Close()
	if err := j.Write(journalTime, Record{Begun, "2", "m", nil}); err == nil || j.size != size ||
		j.live["2"] != nil {
		t.Errorf("a write that failed: %v, size %d, %v", err, j.size, j.live)
	}
	if _, err := openFile(filepath.Join(path, "below")); err == nil {
		t.Error("a journal below a file was opened")
	}
}

// TestJournalTaken keeps a second process away, also after the file was replaced, and lets it in afterwards.
func TestJournalTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	for range 2 {
		if second, err := openFile(path); second != nil || !errors.Is(err, errTaken) {
			t.Errorf("a second process: %v, %v", second, err)
		}
		if err := j.rewrite(); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	openAt(t, path)
}

// TestJournalCopied: a copy of the descriptor, as a child has it until it runs its program, holds no lock for long.
func TestJournalCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	dup, err := unix.Dup(int(j.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAt(t, path).Close(); err != nil {
		t.Error(err)
	}
}

// TestJournalDeleted makes the file anew, with its directory and all that counts.
func TestJournalDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache", "jobs.journal")
	j := openAt(t, path)
	writeTo(t, j, Record{Returned, "1", "m", []byte("uno")})
	if j.removed() {
		t.Error("removed too early")
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if !j.removed() {
		t.Error("nobody saw it")
	}
	if err := j.rewrite(); err != nil {
		t.Fatal(err)
	}
	writeTo(t, j, Record{Returned, "2", "m", nil})
	j.Close()
	j = openAt(t, path)
	if b, err := j.read("1"); err != nil || string(b) != "uno" || keys(j.List(Returned, "")) != "1 2" {
		t.Errorf("afterwards: %q, %v, %q", b, err, keys(j.List(Returned, "")))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestJournalGrows does not try to compact a journal again and again where there is no room for the copy.
func TestJournalGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j := openAt(t, path)
	if err := os.Mkdir(path+".new", 0o700); err != nil { // where the copy should be
		t.Fatal(err)
	}
	writeTo(t, j, Record{Returned, "stays", "m", nil})
	failures, body := 0, make([]byte, slack/4)
	for range 12 {
		writeTo(t, j, Record{Begun, "1", "m", body}, Record{Gone, "1", "", nil})
		if j.compact() != nil {
			failures++
		}
	}
	if failures != 3 {
		t.Errorf("%d attempts", failures)
	}
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	writeTo(t, j, Record{Begun, "1", "m", append(body, make([]byte, slack)...)},
		Record{Gone, "1", "", nil})
	if err := j.compact(); err != nil || j.size > recordlog.Begin+100 || keys(j.List(Returned, "")) != "stays" {
		t.Errorf("%v, %d bytes", err, j.size)
	}
}

// TestRecordSize refuses what could not be read again.
func TestRecordSize(t *testing.T) {
	for _, tt := range []struct {
		key, link, body int
		want            error
	}{
		{1 << 16, 1, 1, errSize},
		{1, 1 << 16, 1, errSize},
		{1, 1, most, errSize},
		{1<<16 - 1, 1<<16 - 1, 1 << 20, nil},
	} {
		if err := checkSizes(tt.key, tt.link, tt.body); !errors.Is(err, tt.want) {
			t.Errorf("%d, %d, %d bytes: %v", tt.key, tt.link, tt.body, err)
		}
	}
	if r := (Record{Key: strings.Repeat("x", 1<<16)}); r.check() == nil {
		t.Error("a record with a long key")
	}
}

// FuzzJournal opens journals of any content.
func FuzzJournal(f *testing.F) {
	r := Record{Returned, "key", "link", []byte("body")}
	whole := oldForm.Append(nil, func(dst []byte) []byte { return r.append(dst, journalTime) })
	blank, format := recordlog.Blank()
	f.Add(format.Append(blank, func(dst []byte) []byte { return r.append(dst, journalTime) }))
	f.Add(whole)
	f.Add(append(whole, whole...))
	f.Add(whole[:len(whole)-1])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "jobs.journal")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := openFile(path)
		if j == nil || err != nil && !errors.Is(err, recordlog.ErrDamaged) {
			t.Fatalf("%v", err)
		}
		defer j.Close()
		for key := range j.live {
			if _, err := j.read(key); err != nil {
				t.Errorf("a live record: %v", err)
			}
		}
		writeTo(t, j, Record{Returned, "last", "m", []byte("x")})
		j.Close()
		if again := openAt(t, path); again.live["last"] == nil || len(again.live) != len(j.live) {
			t.Errorf("%d live records in the next process, want %d", len(again.live), len(j.live))
		}
	})
}

// BenchmarkJournal is what one job costs: that it has begun, its return, that the master has it.
func BenchmarkJournal(b *testing.B) {
	j := openAt(b, filepath.Join(b.TempDir(), "jobs.journal"))
	body := make([]byte, 300)
	for b.Loop() {
		writeTo(b, j, Record{Begun, "1", "m", body})
		writeTo(b, j, Record{Returned, "1", "m", body})
		writeTo(b, j, Record{Gone, "1", "", nil})
		if err := j.compact(); err != nil {
			b.Fatal(err)
		}
	}
}
