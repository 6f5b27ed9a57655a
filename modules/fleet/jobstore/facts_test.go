package jobstore

import (
	"errors"
	"testing"
	"time"

	"brine/wire/disk/packedfile"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// facts reads the pieces of a job as text.
func facts(t *testing.T, s *Store, jid string) (out []string) {
	t.Helper()
	pieces, _, err := s.Facts(jid)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		out = append(out, string(p))
	}
	return out
}

func TestFacts(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, err := Open(Options{CacheDir: dir, Keep: time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ret := answer(jid1, "a", "value")
	ret.Facts = []byte("of a")
	if _, err := s.Commit([]Load{{JID: jid1, Load: ping(jid1), Minions: []string{"a", "b"}},
		{JID: jid1, Facts: []byte("one")}, {JID: jid1, Facts: []byte("two")}, {JID: jid2, Facts: []byte("of no job")}},
		[]Return{ret, answer(jid1, "b", 1)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "of a"}, facts(t, s, jid1)); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	if _, written, _ := s.Facts(jid1); !written[0].Equal(now) || !written[2].IsZero() {
		t.Errorf("written %v", written)
	}
	if got := facts(t, s, jid2); got != nil {
		t.Errorf("facts of a job that is not stored: %q", got)
	}

	// The returns are what they were, and the first one stays.
	got, err := s.GetJID(jid1)
	if err != nil || got.Len() != 2 || got.Map("a").Str("return") != "value" {
		t.Errorf("returns %v, %v", got, err)
	}
	if found, _, err := s.Pending(Search{Most: 10, Stop: func() bool { return false }}); err != nil || len(found) != 0 {
		t.Errorf("outstanding %v, %v", found, err)
	}
	if _, err := s.Commit([]Load{{JID: jid2, Load: ping(jid2), Minions: []string{"a", "b"}},
		{JID: jid2, Facts: []byte("x")}}, []Return{answer(jid2, "a", 1)}); err != nil {
		t.Fatal(err)
	}
	if found, _, err := s.Pending(Search{Most: 10, Stop: func() bool {
		return false
	}}); err != nil || len(found) != 1 || found[0].Silent[0] != "b" {
		t.Errorf("outstanding %v, %v", found, err)
	}
	ret.Facts = []byte("other facts")
	for _, tt := range []struct {
		ret  Return
		want Why
	}{{ret, Repeated}, {answer(jid1, "a", "value"), Repeated}, {answer(jid1, "a", "other"), Differing}} {
		res, err := s.Commit(nil, []Return{tt.ret})
		if err != nil || len(res.Extras) != 1 || res.Extras[0].Why != tt.want {
			t.Errorf("got %+v, %v, want %v", res, err, tt.want)
		}
	}
	if diff := cmp.Diff([]string{"one", "two", "of a"}, facts(t, s, jid1)); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}

	// They go with their job, and nothing is left of them.
	if n, err := s.Clean(now.Add(2 * time.Hour)); n != 2 || err != nil {
		t.Errorf("cleaned %d, %v", n, err)
	}
	if got := facts(t, s, jid1); got != nil {
		t.Errorf("left: %q", got)
	}
	if n, err := s.Bytes(); n != 0 || err != nil {
		t.Errorf("%d bytes are left, %v", n, err)
	}
}

// TestDamagedFacts: a value that ends before its facts do is damage, not a panic.
func TestDamagedFacts(t *testing.T) {
	s, err := Open(Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, value := range []string{"\xc1", "\xc1\x00\x00\x00", "\xc1\x00\x00\x00\x09abc", "\xc1\xff\xff\xff\xffabc"} {
		err := s.update(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketReturns).Put(returnKey(jid1, "a"), []byte(value))
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Facts(jid1); !errors.Is(err, packedfile.ErrDamaged) {
			t.Errorf("facts of %q: %v", value, err)
		}
		if _, err := s.GetJID(jid1); !errors.Is(err, packedfile.ErrDamaged) {
			t.Errorf("return of %q: %v", value, err)
		}
	}
}
