package keys

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestAuthKeys(t *testing.T) {
	s, dir := newStore(t, nil)
	a := s.ForAuth(time.Hour)
	t.Cleanup(a.Close)
	if st, _, err := a.Get("web1"); st != "" || err != nil {
		t.Errorf("unknown id: %q %v", st, err)
	}
	for _, state := range []string{"pending", "accepted", "rejected"} {
		if err := a.Put("web1", state, pem); err != nil {
			t.Fatal(err)
		}
		st, pub, err := a.Get("web1")
		if st != state || pub != pem || err != nil {
			t.Errorf("%s: got %q %q %v", state, st, pub, err)
		}
		if _, ok := a.Accepted("web1"); ok != (state == "accepted") {
			t.Errorf("%s counts as accepted: %v", state, ok)
		}
	}
	if err := a.Put("web1", "nonsense", pem); err == nil {
		t.Error("a state that is none was taken")
	}
	writeFile(t, filepath.Join(dir, "minions_autosign/new"), "")
	if !a.TakeAutosign("new") || a.TakeAutosign("new") || a.TakeAutosign("../minions/x") {
		t.Error("an autosign stub counts once, and only its own")
	}
}

// shimMove moves a key as the salt-key of 3008 does: it is nowhere before it is in its new place.
func shimMove(t *testing.T, dir, to, id string, meanwhile func()) {
	t.Helper()
	for _, st := range []Status{Pending, Rejected, Accepted} {
		if err := os.Remove(filepath.Join(dir, string(st), id)); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	meanwhile()
	path := filepath.Join(dir, to, id)
	writeFile(t, path+".tmp", pem)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Error(err)
	}
}

// What an operator decides stands, whenever a sign-in comes that takes the key for a new one.
func TestSignInLeavesDecisions(t *testing.T) {
	s, dir := newStore(t, map[string]string{"minions/other": pem, "minions_rejected/other": pem})
	a := s.ForAuth(0)
	t.Cleanup(a.Close)
	pend := func() {
		if err := a.Put("web1", Pending.State(), pem); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		for _, to := range []Status{Accepted, Rejected} {
			for name, move := range map[string]func(){
				"before": func() { shimMove(t, dir, string(to), "web1", pend) },
				"after":  func() { shimMove(t, dir, string(to), "web1", func() {}); pend() },
			} {
				move()
				if st, pub, err := a.Get("web1"); st != to.State() || pub != pem || err != nil {
					t.Errorf("%s, pending stored %s: got %q %q %v", to.State(), name, st, pub, err)
				}
				if _, ok := a.Accepted("web1"); ok != (to == Accepted) {
					t.Errorf("%s, pending stored %s: accepted is %v", to.State(), name, ok)
				}
				if s.Has(Pending, "web1") {
					t.Errorf("%s, pending stored %s: it is pending as well", to.State(), name)
				}
			}
		}
	}
}

// The same with sign-ins that come all the time.
func TestSignInsDuringMoves(t *testing.T) {
	s, dir := newStore(t, map[string]string{"minions_pre/web1": pem, "minions/x": pem, "minions_rejected/x": pem})
	a := s.ForAuth(0)
	t.Cleanup(a.Close)
	signIn := func() (state string) {
		state, _, err := a.Get("web1")
		if err == nil && state == "" {
			err = a.Put("web1", Pending.State(), pem)
		}
		if err != nil {
			t.Error(err)
		}
		return state
	}
	pended := 0
	for i := range 200 {
		done := make(chan struct{})
		var minion sync.WaitGroup
		minion.Go(func() {
			for {
				if signIn() == "" {
					pended++
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
		to := []Status{Accepted, Rejected}[i%2]
		shimMove(t, dir, string(to), "web1", runtime.Gosched)
		close(done)
		minion.Wait()
		if st := signIn(); st != to.State() {
			t.Errorf("move %d to %s: it is %q", i, to.State(), st)
		}
	}
	t.Logf("%d sign-ins saw no key", pended)
}

// The cached key of an accepted minion must not outlive what real salt-key does to the file.
func TestAcceptedSeesEveryChange(t *testing.T) {
	s, dir := newStore(t, map[string]string{"minions/web1": "one"})
	a := s.ForAuth(0)
	t.Cleanup(a.Close)
	path := filepath.Join(dir, "minions/web1")
	old := time.Now().Add(-time.Hour)
	check := func(want string, wantOK bool) {
		t.Helper()
		for range 2 { // the second time from the cache
			if pub, ok := a.Accepted("web1"); pub != want || ok != wantOK {
				t.Errorf("got %q %v, want %q %v", pub, ok, want, wantOK)
			}
		}
	}
	check("one", true)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	check("one", true)
	writeFile(t, filepath.Join(dir, "minions_rejected/web1"), "one")
	check("", false)
	if err := os.Remove(filepath.Join(dir, "minions_rejected/web1")); err != nil {
		t.Fatal(err)
	}
	check("one", true)
	writeFile(t, path+".tmp", "two")
	if err := os.Chtimes(path+".tmp", old, old); err != nil { // another file of the same size and age
		t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
	check("two", true)
	for i := range 20 { // in place, faster than any clock
		text := string(rune('a' + i))
		writeFile(t, path, text)
		check(text, true)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("", false)
}

func TestSessions(t *testing.T) {
	dir := t.TempDir()
	s := NewSessions(dir, time.Hour)
	t.Cleanup(s.Close)
	now := time.Now().Truncate(time.Second)
	if _, ok := s.Session("web1", pem, now); ok {
		t.Error("a session out of nothing")
	}
	if err := s.Create("web1", pem, "key one", now); err != nil {
		t.Fatal(err)
	}
	if err := s.Create("web1", pem, "key two", now); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id   string
		at   time.Time
		want bool
	}{{"web1", now, true}, {"web1", now.Add(time.Hour), true}, {"web1", now.Add(61 * time.Minute), false},
		{"../sessions/web1", now, false}} {
		if key, ok := s.Session(tt.id, pem, tt.at); ok != tt.want || ok && key != "key two" {
			t.Errorf("Session(%s, +%v): %q %v", tt.id, tt.at.Sub(now), key, ok)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "sessions/web1"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("session file: %v %v", info, err)
	}
	for range 2 {
		if err := s.Remove("web1"); err != nil {
			t.Error(err)
		}
	}
	if _, ok := s.Session("web1", pem, now); ok {
		t.Error("a removed session goes on")
	}
	if s.Create("../x", pem, "k", now) == nil || s.Remove("..") == nil {
		t.Error("an id outside the folder was taken")
	}
}

func TestRuleFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "autosign.conf")
	writeFile(t, path, "  web*  \n# db1\n\nlast")
	for _, tt := range []struct {
		mode       os.FileMode
		permissive bool
		want       []string
	}{
		{0o644, false, []string{"web*", "# db1", "", "last"}},
		{0o664, false, nil},
		{0o664, true, []string{"web*", "# db1", "", "last"}},
		{0o666, true, nil},
	} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		if got := (RuleFiles{Permissive: tt.permissive}).Lines(path); !slices.Equal(got, tt.want) {
			t.Errorf("mode %o, permissive %v: %q", tt.mode, tt.permissive, got)
		}
	}
	writeFile(t, filepath.Join(dir, "sub/x"), "")
	if got := (RuleFiles{}).Names(dir); !slices.Equal(got, []string{"autosign.conf"}) {
		t.Errorf("Names: %q", got)
	}
	if (RuleFiles{}).Lines(dir) != nil || (RuleFiles{}).Names(path) != nil {
		t.Error("a folder has lines, or a file has names")
	}
}
