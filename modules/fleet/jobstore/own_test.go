package jobstore

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestOwnJobsGoFirst: in a store that is full the jobs that a minion makes up take the place of its own, not of
// published jobs nor of another minion's few.
func TestOwnJobsGoFirst(t *testing.T) {
	const most = 1 << 20
	s, err := Open(Options{CacheDir: t.TempDir(), MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jid := func(kind, i int) string { return fmt.Sprintf("202601%02d%012d", kind, i) }
	ret := func(jid, id string) Return {
		return Return{JID: jid, ID: id, By: id, Load: payload.M("return", strings.Repeat("x", 1000), "fun",
			"test.ping")}
	}
	for i := range 300 {
		load := Load{JID: jid(1, i), Load: payload.M("fun", "test.ping"), Minions: []string{"honest"}, Announced: true}
		if _, err := s.Commit([]Load{load}, []Return{ret(jid(1, i), "honest")}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		if _, err := s.Commit([]Load{{JID: jid(2, i), By: "honest", Load: payload.M("fun", "schedule"),
			Announced: true}}, []Return{ret(jid(2, i), "honest")}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		group := make([]Return, 100)
		for k := range group {
			group[k] = ret(jid(3, 100*i+k), "thief")
		}
		if _, err := s.Commit(nil, group); err != nil {
			t.Fatal(err)
		}
	}
	for kind, n := range map[int]int{1: 300, 2: 10} {
		for i := range n {
			if got, err := s.GetJID(jid(kind, i)); err != nil || !got.Has("honest") {
				t.Fatalf("job %d of kind %d is gone: %v", i, kind, err)
			}
		}
	}
	if n, err := s.Bytes(); err != nil || n > most {
		t.Errorf("%d bytes, %v", n, err)
	}
	if got, err := s.GetJID(jid(3, 3999)); err != nil || !got.Has("thief") {
		t.Errorf("the last job of the minion: %v, %v", got, err)
	}
}

// TestPublishedIsNobodysOwn: a job of which a minion spoke before it was published is not that minion's.
func TestPublishedIsNobodysOwn(t *testing.T) {
	s, err := Open(Options{CacheDir: t.TempDir(), MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const jid = "20260101000000000001"
	if _, err := s.Commit(nil,
		[]Return{{JID: jid, ID: "thief", By: "thief", Load: payload.M("return", true)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit([]Load{{JID: jid, Load: payload.M("fun", "test.ping"), Announced: true}}, nil); err != nil {
		t.Fatal(err)
	}
	before, _ := s.Bytes()
	for i := range 30 {
		if _, err := s.Commit(nil, []Return{{JID: fmt.Sprintf("20260102%012d", i), ID: "thief", By: "thief",
			Load: payload.M("return", strings.Repeat("x", 50_000))}}); err != nil {
			t.Fatal(err)
		}
	}
	if load, err := s.GetLoad(jid); err != nil || load.Str("fun") != "test.ping" {
		t.Errorf("load %v, %v (%d bytes before)", load, err, before)
	}
}

// TestAsked: a job that somebody asked the master for is told with its load and its minions, one that a minion
// made up is not, in both layouts.
func TestAsked(t *testing.T) {
	own, err := Open(Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	files, err := OpenLocalCache(Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	const asked, noted = "20260101000000000001", "20260101000000000002"
	const made, taken, none = "20260101000000000003", "20260101000000000004", "20260101000000000009"
	job := func(jid string) Load {
		return Load{JID: jid, Load: payload.M("fun", "test.ping", "jid", jid), Minions: []string{"b", "a"}}
	}
	ret := func(jid string) Return {
		return Return{JID: jid, ID: "thief", By: "thief", Load: payload.M("return", true, "tgt", "thief")}
	}
	for _, s := range []interface {
		Commit(loads []Load, returns []Return) (Result, error)
		Note(l Load) error
		Asked(jid string) (*payload.Map, error)
	}{own, files} {
		if err := s.Note(job(noted)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit([]Load{job(asked)}, []Return{ret(asked), ret(made), ret(taken)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit([]Load{job(taken)}, nil); err != nil {
			t.Fatal(err)
		}
		for jid, want := range map[string]bool{asked: true, noted: true, made: false, taken: true, none: false} {
			load, err := s.Asked(jid)
			if err != nil || (load != nil) != want || want && (load.Str("fun") != "test.ping" ||
				len(MinionsOf(load)) != 2) {
				t.Errorf("%T: job %s: %v, %v", s, jid, load, err)
			}
		}
	}
}
