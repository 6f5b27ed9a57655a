package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const patience = time.Minute

// watched is a watcher of a directory that is called whenever files have changed.
func watched(t *testing.T, dirs ...string) (*watcher, func(what string)) {
	t.Helper()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	if more, err := w.want(dirs); err != nil || !more {
		t.Fatal(more, err)
	}
	return w, func(what string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if !w.changed(ctx) {
			t.Errorf("%s was not noticed", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatch: files are written in place or by rename, appear and go; a directory appears where none was.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	main, late := filepath.Join(dir, "master"), filepath.Join(dir, "a/b/master.d")
	must(t, os.WriteFile(main, []byte("a: 1\n"), 0o600))
	w, noticed := watched(t, dir, late)

	must(t, os.WriteFile(main, []byte("a: 2\n"), 0o600))
	noticed("a file that is written in place")
	must(t, os.WriteFile(main+".new", []byte("a: 3\n"), 0o600))
	must(t, os.Rename(main+".new", main))
	noticed("a file that takes the place of another")
	must(t, os.WriteFile(main, []byte("a: 4\n"), 0o600))
	noticed("a change of the file that took the place")
	must(t, os.Remove(main))
	noticed("a file that goes")

	must(t, os.MkdirAll(late, 0o700))
	noticed("a directory on the way")
	if more, err := w.want(w.wanted); !more || err != nil {
		t.Errorf("the directory that came is not watched: %v, %v", more, err)
	}
	must(t, os.WriteFile(filepath.Join(late, "x.conf"), []byte("b: 1\n"), 0o600))
	noticed("a file in a directory that came later")
	if more, err := w.want(w.wanted); more || err != nil {
		t.Errorf("nothing is new: %v, %v", more, err)
	}
}

// TestWatchConcerns: what happens beside the wanted directories is no change.
func TestWatchConcerns(t *testing.T) {
	w := &watcher{wanted: []string{"/etc/salt", "/etc/salt/master.d"}}
	for path, want := range map[string]bool{"/etc/salt/master": true, "/etc/salt/master.d": true, "/etc/salt/master.d/a.conf": true, "/etc/salt": true,
		"/etc": true, "/etc/passwd": false, "/etc/salt/pki/master": false, "/etc/sal": false} {
		if got := w.concerns(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
