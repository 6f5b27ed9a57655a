package netapi

import (
	"testing"
	"time"
)

// TestSeenTokens: what was said last counts, a refusal for a minute, and no clock that goes back makes it longer.
func TestSeenTokens(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := NewSeenTokens()
	s.now = func() time.Time { return now }
	expect := func(what string, wantTaken, wantRefused bool) {
		t.Helper()
		if taken, refused := s.Look("f00"); taken != wantTaken || refused != wantRefused {
			t.Errorf("%s: %v, %v", what, taken, refused)
		}
	}
	expect("nothing", false, false)
	s.Note("f00", false)
	expect("refused", false, true)
	now = now.Add(-time.Second)
	expect("refused later", false, false)
	now = now.Add(time.Second + refusedCount)
	expect("refused long ago", false, false)
	s.Note("f00", true)
	now = now.Add(24 * time.Hour)
	expect("taken", true, false)
	s.Note("f00", false)
	expect("revoked", false, true)
	s.Note("f00", true)
	expect("taken again", true, false)
}

// TestDigests: a bounded number is kept, the last ones.
func TestDigests(t *testing.T) {
	s := digests{most: 3}
	for i := range 10 {
		s.add(digest{byte(i % 5)}, time.Time{})
	}
	for i, want := range []bool{false, false, true, true, true} {
		if _, got := s.at(digest{byte(i)}); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if s.drop(digest{4}); s.all.Len() != 2 || len(s.byID) != 2 {
		t.Errorf("%d, %d are kept", s.all.Len(), len(s.byID))
	}
}
