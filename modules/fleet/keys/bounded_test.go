package keys

import (
	"path/filepath"
	"testing"
	"time"
)

// stuckFiles hang until they are let go.
type stuckFiles struct{ begun, release chan struct{} }

func (f stuckFiles) Lines(path string) []string {
	f.begun <- struct{}{}
	<-f.release
	return []string{path}
}

func (f stuckFiles) Names(string) []string { return []string{"x"} }

// TestBounded: a read that hangs is given up, none is begun beside it, and when it has come back all is as before.
func TestBounded(t *testing.T) {
	files := stuckFiles{make(chan struct{}, 10), make(chan struct{})}
	told := 0
	b := &Bounded{Files: files, Limit: time.Millisecond, Hangs: func(string) { told++ }}
	if lines, known := b.Lines("a"); known || lines != nil {
		t.Fatalf("what hangs is known: %q", lines)
	}
	if _, known := b.Lines("a"); known {
		t.Error("another one of that file")
	}
	if _, known := b.Names("d"); known {
		t.Error("another one of a directory")
	}
	<-files.begun
	if len(files.begun) != 0 || told != 1 {
		t.Errorf("%d more reads were begun, %d told of", len(files.begun), told)
	}
	close(files.release)
	b.Limit = time.Minute
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if lines, known := b.Lines("b"); known {
			if len(lines) != 1 || lines[0] != "b" {
				t.Errorf("got %q", lines)
			}
			return
		}
	}
	t.Error("nothing is read any more")
}

// TestAutosignHangs: a folder of stubs that hangs holds no sign-in up, is told of once, and a stub that was there
// counts when the folder is back, once.
func TestAutosignHangs(t *testing.T) {
	s, dir := newStore(t, map[string]string{"minions_autosign/new": ""})
	a, told := s.ForAuth(time.Hour), []string{}
	t.Cleanup(a.Close)
	a.limit, a.Hangs = time.Millisecond, func(path string) { told = append(told, path) }
	begun, release, take := make(chan struct{}, 10), make(chan struct{}), a.take
	a.take = func(id string) (bool, error) {
		begun <- struct{}{}
		<-release
		return take(id)
	}
	for range 3 {
		if a.TakeAutosign("new") || a.TakeAutosign("other") {
			t.Fatal("a stub that nobody has seen counts")
		}
	}
	<-begun
	if len(begun) != 0 || len(told) != 1 || told[0] != filepath.Join(dir, "minions_autosign") {
		t.Errorf("%d more looks were begun, told of %q", len(begun), told)
	}
	close(release)
	a.limit = time.Minute
	for end := time.Now().Add(time.Minute); !a.TakeAutosign("new"); {
		if time.Now().After(end) {
			t.Fatal("the stub was lost")
		}
	}
	if a.TakeAutosign("new") {
		t.Error("it counts twice")
	}
}
