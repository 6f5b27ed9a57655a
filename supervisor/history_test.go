package supervisor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"

	"github.com/google/go-cmp/cmp"
)

// die makes one actor of a fresh supervisor die n times with the given file, stops the supervisor and returns its
// history.
func die(t *testing.T, file string, n int) []stats.Death {
	t.Helper()
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock, HistoryFile: file})
	ref := add(t, s, script("a"))
	for range n {
		clock.Advance(time.Second) // so that no death is quick
		ref.Send(boom())
		incarnation(t, ref)
	}
	history := s.History()
	s.Stop(time.Minute)
	return history
}

func TestHistorySurvivesTheDaemon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deaths")
	first := die(t, file, 3)
	if len(first) != 3 || first[2].Incarnation != 3 || first[2].Stack == "" {
		t.Fatalf("got %+v", first)
	}
	second := die(t, file, 2)
	if diff := cmp.Diff(first, second[:3]); diff != "" || len(second) != 5 || second[3].Incarnation != 1 {
		t.Errorf("%d deaths (-first +second):\n%s", len(second), diff)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
}

// TestHistoryRemembers: a death that the tree did not see is at the right place by its time, and in the file.
func TestHistoryRemembers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deaths")
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock, HistoryFile: file})
	before := clock.Now()
	ref := add(t, s, script("a"))
	clock.Advance(time.Second)
	ref.Send(boom())
	incarnation(t, ref)
	s.Remember(stats.Death{Time: before, Reason: "process 7 ended", Path: s.Name(), Name: s.Name(), Status: -9})
	if h := s.History(); len(h) != 2 || h[0].Reason != "process 7 ended" || h[1].Name != "a" {
		t.Errorf("got %+v", h)
	}
	s.Stop(time.Minute)
	if raw, err := os.ReadFile(file); err != nil || !strings.Contains(string(raw), "process 7 ended") {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deaths")
	var last []stats.Death
	for range 3 {
		last = die(t, file, 250)
	}
	if len(last) != 200 || last[0].Incarnation != 51 || last[199].Incarnation != 250 {
		t.Errorf("got %d deaths, the first of incarnation %d", len(last), last[0].Incarnation)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n < 200 || n > 400 {
		t.Errorf("%d lines in the file", n)
	}
	if left, err := filepath.Glob(file + "*"); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHistoryOfADamagedFile(t *testing.T) {
	whole := func(n int) string {
		var b strings.Builder
		for i := range n {
			line, err := json.Marshal(stats.Death{Path: "test/old", Incarnation: i + 1})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", line)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, text string
		want       int // deaths that can still be read
	}{
		{"empty", "", 0},
		{"whole", whole(2), 2},
		{"torn tail", whole(3)[:len(whole(3))-20], 2},
		{"tail without its end of line", strings.TrimSuffix(whole(2), "\n"), 2},
		{"garbage between", whole(1) + "\x00\xff garbage\n[1,2]\n{}\n" + whole(1), 2},
		{"nothing but garbage", "\x00\x01\x02", 0},
		{"too many", whole(1000), 200},
		{"too long", strings.Repeat("x", 9<<20) + "\n" + whole(2), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "deaths")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := die(t, file, 1); len(got) != min(tt.want+1, 200) || got[len(got)-1].Path != "test/a" {
				t.Errorf("got %d deaths, want %d", len(got), tt.want+1)
			}
			if got := die(t, file, 1); len(got) != min(tt.want+2, 200) || got[len(got)-2].Path != "test/a" {
				t.Errorf("after it was repaired: got %d deaths, want %d", len(got), tt.want+2)
			}
			if info, err := os.Stat(file); err != nil || info.Size() > 1<<20 {
				t.Errorf("got %v, %v", info.Size(), err)
			}
		})
	}
}

// TestHistoryWithoutADisk: a daemon that cannot store its history says so once and continues.
func TestHistoryWithoutADisk(t *testing.T) {
	log := actortest.NewLog()
	dir := filepath.Join(t.TempDir(), "absent")
	s := actortest.Start(t, supervisor.Options{Logger: log.Logger(), HistoryFile: filepath.Join(dir, "deaths")})
	ref := add(t, s, script("a"))
	for range 3 {
		ref.Send(boom())
		incarnation(t, ref)
	}
	log.Await(t, "WARN deaths cannot be kept")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ref.Send(boom())
	incarnation(t, ref)
	s.Stop(time.Minute)
	if got := die(t, filepath.Join(dir, "deaths"), 0); len(got) != 4 {
		t.Errorf("got %d deaths, want those before the disk came back, too", len(got))
	}
}
