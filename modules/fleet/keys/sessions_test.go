package keys

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSessionsAreOfAKey: a session counts for the public key it was made for, and for no other, in this process and in
// the next one.
func TestSessionsAreOfAKey(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	first := NewSessions(dir, time.Hour)
	defer first.Close()
	for _, id := range []string{"web1", "web2", "web3"} {
		if err := first.Create(id, "old key", "session of "+id, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions/web2"), []byte("of another master"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "session_keys/web3")); err != nil {
		t.Fatal(err)
	}
	second := NewSessions(dir, time.Hour)
	defer second.Close()
	for name, s := range map[string]*Sessions{"this process": first, "the next one": second} {
		for range 2 { // the second look is at what is remembered
			if key, ok := s.Session("web1", "old key", now); !ok || key != "session of web1" {
				t.Errorf("%s: the owner: %q, %v", name, key, ok)
			}
			if key, ok := s.Session("web1", "new key", now); ok {
				t.Errorf("%s: another key has the session %q", name, key)
			}
		}
		if !s.Foreign("web1", "new key") || s.Foreign("web1", "old key") {
			t.Errorf("%s: who is foreign to web1 is not told", name)
		}
		for _, id := range []string{"web2", "web3", "web4"} {
			if key, ok := s.Session(id, "old key", now); ok {
				t.Errorf("%s: %s has the session %q of which nobody knows the owner", name, id, key)
			}
			if s.Foreign(id, "new key") {
				t.Errorf("%s: the session of %s is foreign, and nobody knows the owner", name, id)
			}
		}
	}
	for _, name := range []string{"sessions/web1", "session_keys/web1"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := second.Create("web1", "new key", "another session", now); err != nil {
		t.Fatal(err)
	}
	if _, ok := first.Session("web1", "old key", now); ok {
		t.Error("the old owner has a session still")
	}
	if err := second.Remove("web1"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "session_keys")); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAcceptAnotherKey: another accepted key ends the session of the one before and asks for a new shared key; the same
// key does neither.
func TestAcceptAnotherKey(t *testing.T) {
	for _, tt := range []struct {
		name, denied string
		ended        bool
	}{
		{"another key", pem + "\n-----BEGIN", true},
		{"the same key", pem + "\n", false},
	} {
		m, cacheDir := newManager(t, nil)
		if err := m.Put(Denied, "web1", tt.denied); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Accept(match(t, m, "web1"), ForAccept(false, false, true)); err != nil {
			t.Fatal(err)
		}
		_, session := os.Stat(filepath.Join(cacheDir, "sessions/web1"))
		_, drop := os.Stat(filepath.Join(cacheDir, ".dfn"))
		if (session != nil) != tt.ended || (drop == nil) != tt.ended {
			t.Errorf("%s: session %v, request for a new key %v", tt.name, session, drop)
		}
	}
}

// BenchmarkSession is the look at a session that every request takes.
func BenchmarkSession(b *testing.B) {
	s, now := NewSessions(b.TempDir(), time.Hour), time.Now()
	defer s.Close()
	if err := s.Create("web1", pem, "a key string", now); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := s.Session("web1", pem, now); !ok {
			b.Fatal("no session")
		}
	}
}
