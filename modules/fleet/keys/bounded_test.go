package keys

import (
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
