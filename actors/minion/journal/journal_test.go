package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/payload"
)

// New is a Journal without an actor system.
func testJournal(t *testing.T, path string) (*journal, *actortest.Log) {
	t.Helper()
	log := actortest.NewLog()
	j := &journal{opt: Options{Path: path, Clock: actortest.NewClock(), Log: log.Logger()}}
	if err := j.open(); err != nil {
		t.Fatal(err)
	}
	return j, log
}

// flushed writes records as the actor does, and tells the error that each was told.
func (j *journal) flushed(records ...Record) (errs []error) {
	for _, r := range records {
		j.waiting = append(j.waiting, &Write{Record: r, then: func(err error) { errs = append(errs, err) }})
	}
	j.flush()
	return errs
}

// TestJournalOwes remembers what was acknowledged while the disk was full, says so once, and says when it is over.
func TestJournalOwes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j, log := testJournal(t, path)
	writeTo(t, j.file, Record{Returned, "1", "m", nil}, Record{Returned, "2", "m", nil})
	whole := j.file.f
	broken, err := os.Open(path) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	j.file.f = broken
	for _, r := range []Record{{Kind: Gone, Key: "1"}, {Kind: Begun, Key: "3"},
		{Kind: Gone, Key: "3"}} {
		if errs := j.flushed(r); len(errs) != 1 || errs[0] == nil {
			t.Errorf("record of %s: %v", r.Key, errs)
		}
	}
	if got := keys(j.file.List(Returned, "")); got != "2" {
		t.Errorf("what counts: %q", got)
	}
	j.file.f = whole
	if errs := j.flushed(Record{Returned, "4", "m", nil}); len(errs) != 1 || errs[0] != nil {
		t.Errorf("when there is room: %v", errs)
	}
	for _, text := range []string{textNoJournal, textJournalAgain} {
		if n := strings.Count(strings.Join(log.Lines(), "\n"), text); n != 1 {
			t.Errorf("%q said %d times", text, n)
		}
	}
	if err := errors.Join(broken.Close(), j.file.Close()); err != nil {
		t.Fatal(err)
	}
	if got := keys(openAt(t, path).List(Returned, "")); got != "2 4" {
		t.Errorf("in the next process: %q", got)
	}
}

// TestJournalOwesClosed remembers what was acknowledged while the file could not be opened.
func TestJournalOwesClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j, _ := testJournal(t, path)
	j.flushed(Record{Returned, "1", "m", nil}, Record{Returned, "2", "m", nil})
	other := j.file
	j.file = nil
	for _, key := range []string{"1", "unknown"} {
		if errs := j.flushed(Record{Kind: Gone, Key: key}); len(errs) != 1 ||
			!errors.Is(errs[0], errTaken) {
			t.Errorf("while another has it: %v", errs)
		}
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if errs := j.flushed(Record{Returned, "3", "m", nil}); len(errs) != 1 || errs[0] != nil {
		t.Errorf("when it can be opened: %v", errs)
	}
	if got := keys(j.file.List(Returned, "")); got != "2 3" {
		t.Errorf("what counts: %q", got)
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := keys(openAt(t, path).List(Returned, "")); got != "2 3" {
		t.Errorf("in the next process: %q", got)
	}
}

// TestJournalDeletedWhileOpen goes on in a new file.
func TestJournalDeletedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j, _ := testJournal(t, path)
	j.flushed(Record{Returned, "1", "m", nil})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	j.opt.Clock.(*actortest.Clock).Advance(time.Second)
	j.flushed(Record{Returned, "2", "m", nil})
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := keys(openAt(t, path).List(Returned, "")); got != "1 2" {
		t.Errorf("in the next process: %q", got)
	}
}

// TestJournalReads tells what is lost from what may be had later, and lets those who ask for a list wait for the file.
func TestJournalReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j, _ := testJournal(t, path)
	body, err := payload.MarshalBin(payload.M("jid", "1"))
	if err != nil {
		t.Fatal(err)
	}
	j.flushed(Record{Returned, "1", "m", body}, Record{Returned, "2", "m", []byte{0xc1}})
	if ret, err := j.read("1"); err != nil || ret.JID() != "1" {
		t.Errorf("a return: %v, %v", ret, err)
	}
	for _, key := range []string{"2", "3"} {
		if _, err := j.read(key); !errors.Is(err, ErrUnreadable) {
			t.Errorf("record %s: %v", key, err)
		}
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	j.file = nil
	if _, err := j.read("1"); err == nil || errors.Is(err, ErrUnreadable) {
		t.Errorf("a journal that is not open: %v", err)
	}
	listed := -1
	j.onList(&List{Link: "m", Done: func(all []Spooled) { listed = len(all) }})
	if listed >= 0 {
		t.Error("a journal that is not open has been listed")
	}
	if j.flushed(Record{Kind: Gone, Key: "2"}); listed != 2 {
		t.Errorf("%d returns listed", listed)
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestJournalSync: with journal_fsync every file that is written to waits for the disk, a new one in the place of the
// old too.
func TestJournalSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.journal")
	j, _ := testJournal(t, path)
	if j.file.sync {
		t.Error("it waits for the disk without being asked to")
	}
	j.onStopping()
	j.opt.Sync = true
	if err := j.open(); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if errs := j.flushed(Record{Returned, testJID(i), "m", []byte("x")}, Record{Gone,
			testJID(i - 1), "", nil}); errs[0] != nil || errs[1] != nil {
			t.Fatal(errs)
		}
		if err := j.file.rewrite(); err != nil {
			t.Fatal(err)
		}
		if !j.file.sync {
			t.Error("the new file does not wait")
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	j.looked = time.Time{}
	if errs := j.flushed(Record{Returned, testJID(9), "m", []byte("x")}); errs[0] != nil || !j.file.sync {
		t.Errorf("after it was deleted: %v", errs)
	}
	j.onStopping()
	if again := openAt(t, path); len(again.live) != 2 {
		t.Errorf("%d records", len(again.live))
	}
}

func testJID(n int) string { return fmt.Sprintf("20260102030405%06d", n) }
