package jobstore

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestOwnJobsGoFirst: in a store that is full the jobs that a minion makes up take the place of its own, not of published jobs
// nor of another minion's few.
func TestOwnJobsGoFirst(t *testing.T) {
	const most = 1 << 20
	s, err := Open(Options{CacheDir: t.TempDir(), MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jid := func(kind, i int) string { return fmt.Sprintf("202601%02d%012d", kind, i) }
	ret := func(jid, id string) Return {
		return Return{JID: jid, ID: id, By: id, Load: payload.M("return", strings.Repeat("x", 1000), "fun", "test.ping")}
	}
	for i := range 300 {
		load := Load{JID: jid(1, i), Load: payload.M("fun", "test.ping"), Minions: []string{"honest"}, Announced: true}
		if _, err := s.Commit([]Load{load}, []Return{ret(jid(1, i), "honest")}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		if _, err := s.Commit([]Load{{JID: jid(2, i), By: "honest", Load: payload.M("fun", "schedule"), Announced: true}}, []Return{ret(jid(2, i), "honest")}); err != nil {
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
	if _, err := s.Commit(nil, []Return{{JID: jid, ID: "thief", By: "thief", Load: payload.M("return", true)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit([]Load{{JID: jid, Load: payload.M("fun", "test.ping"), Announced: true}}, nil); err != nil {
		t.Fatal(err)
	}
	before, _ := s.Bytes()
	for i := range 30 {
		if _, err := s.Commit(nil, []Return{{JID: fmt.Sprintf("20260102%012d", i), ID: "thief", By: "thief", Load: payload.M("return", strings.Repeat("x", 50_000))}}); err != nil {
			t.Fatal(err)
		}
	}
	if load, err := s.GetLoad(jid); err != nil || load.Str("fun") != "test.ping" {
		t.Errorf("load %v, %v (%d bytes before)", load, err, before)
	}
}
