package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/states/run/journal"
	"brine/modules/states/run/low"
	"brine/wire/payload"
)

const jid = "20261126143000123456"

func chunks(n int) (out []*payload.Map) {
	for i := range n {
		id := fmt.Sprint("s", i)
		out = append(out, payload.M("state", "test", "fun", "nop", "name", id, "__id__", id, "__sls__", "t"))
	}
	return out
}

func returned(number int) *payload.Map {
	return payload.M("name", fmt.Sprint("s", number), "changes", payload.NewMap(0), "result", true, "comment", "done",
		"__run_num__", int64(number))
}

// written makes the journal of a run of three chunks, of which the first has ended and the second was begun.
func written(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	all := chunks(3)
	j, err := journal.Begin(dir, jid, payload.M("fun", "state.apply", "arg", []any{"t"}), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{j.Started(low.Tag(all[0])), j.Ended(low.Tag(all[0]), returned(0)),
		j.Started(low.Tag(all[1])), j.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAnswer: the answer of an interrupted run has a return for each chunk, and says what became of it.
func TestAnswer(t *testing.T) {
	dir := written(t)
	past, err := journal.Read(dir, jid)
	if err != nil {
		t.Fatal(err)
	}
	ret := past.Answer("The power failed.")
	var lines []string
	for tag, v := range ret.All() {
		m := v.(*payload.Map)
		lines = append(lines, fmt.Sprint(tag, " ", m.Value("result"), " ", m.Value("__run_num__"), " ",
			m.Value("__state_ran__"), " ", m.Str("comment")))
	}
	want := `test_|-s0_|-s0_|-nop true 0 <nil> done
test_|-s1_|-s1_|-nop false 1 <nil> The run was interrupted while this state was running; it may have done a part of its work. The power failed.
test_|-s2_|-s2_|-nop false 2 false This state was not run: the run was interrupted before it. The power failed.`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if done, all, flying := past.Left(); done != 1 || all != 3 || len(flying) != 1 || past.Finished {
		t.Errorf("got %d of %d, in flight %v, finished %v", done, all, flying, past.Finished)
	}
	info, err := os.Stat(filepath.Join(dir, journal.Folder, jid))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}

// TestTorn: wherever the file ends, what stands before is read, and no chunk that has not ended is told to have.
func TestTorn(t *testing.T) {
	dir := written(t)
	path := filepath.Join(dir, journal.Folder, jid)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size < len(whole); size += 7 {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		past, err := journal.Read(dir, jid)
		if err != nil {
			continue // not even its beginning is there
		}
		ret := past.Answer("")
		if ret.Len() != 3 || past.Results.Len() > 1 || past.Finished {
			t.Fatalf("%d of %d bytes: got %v", size, len(whole), ret)
		}
	}
}

// TestLive: the journals of runs that go on stay, however many there are.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		j, err := journal.Begin(dir, fmt.Sprintf("2026%04d", i), payload.NewMap(0), chunks(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
	}
	if _, err := journal.Read(dir, "20260000"); err != nil {
		t.Errorf("the first of 30 runs: %v", err)
	}
}

// TestOthers: a jid is never a path, journals of old runs go, and one that is not there is told.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	for i, odd := range []string{"../../x", ".", "..", "a/b", "n\x00l"} {
		j, err := journal.Begin(dir, odd, payload.NewMap(0), chunks(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Finished(), j.Close()); err != nil {
			t.Fatal(err)
		}
		found, err := os.ReadDir(filepath.Join(dir, journal.Folder))
		if err != nil || len(found) != i+1 {
			t.Fatalf("%q: %v, %v", odd, found, err)
		}
	}
	for i := range 40 {
		j, err := journal.Begin(dir, fmt.Sprintf("2026%04d", i), payload.NewMap(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadDir(filepath.Join(dir, journal.Folder))
	if err != nil || len(found) != 20 {
		t.Errorf("%d journals are there, %v", len(found), err)
	}
	if _, err := journal.Read(dir, "nosuch"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := journal.Remove(dir, "nosuch"); err != nil {
		t.Errorf("got %v", err)
	}
}
