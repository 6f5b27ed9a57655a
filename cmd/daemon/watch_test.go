package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/config"
)

const patience = time.Minute

// watched returns a watcher of directories and a function that expects a change.
func watched(t *testing.T, dirs ...string) (*watcher, func(what string)) {
	t.Helper()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	if more, err := w.want(dirs, nil); err != nil || more != (len(dirs) > 0) {
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

// TestWatch: files are written in place or replaced, created and removed. A directory appears where none was.
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
	if more, err := w.want(w.wanted, nil); !more || err != nil {
		t.Errorf("the directory that came is not watched: %v, %v", more, err)
	}
	must(t, os.WriteFile(filepath.Join(late, "x.conf"), []byte("b: 1\n"), 0o600))
	noticed("a file in a directory that came later")
	if more, err := w.want(w.wanted, nil); more || err != nil {
		t.Errorf("nothing is new: %v, %v", more, err)
	}
}

// TestWatchLinks: the configuration directory is a link that changes its target, as deployments do it. A file
// in it is a link to a link.
func TestWatchLinks(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	for _, v := range []string{"v1", "v2", "store", "way"} {
		must(t, os.Mkdir(path(v), 0o700))
	}
	for _, v := range []string{"v1", "v2"} {
		must(t, os.Symlink("../way/master", path(v+"/master")))
	}
	must(t, os.Symlink(path("store/one"), path("way/master")))
	for _, f := range []string{"store/one", "store/two"} {
		must(t, os.WriteFile(path(f), []byte("log_level: info\n"), 0o600))
	}
	must(t, os.Symlink("v1", path("etc")))
	point := func(to, link string) {
		t.Helper()
		must(t, os.Symlink(to, path(link+".new")))
		must(t, os.Rename(path(link+".new"), path(link)))
	}
	w, noticed := watched(t)
	follow := func() {
		t.Helper()
		m, err := config.Loader{Path: path("etc/master"), Environ: func() []string { return nil }}.Master()
		must(t, err)
		_, err = w.want(m.Folders())
		must(t, err)
	}
	follow()
	must(t, os.WriteFile(path("store/one"), []byte("log_level: debug\n"), 0o600))
	noticed("a file behind two links")
	point(path("store/two"), "way/master")
	noticed("a link on the way that points elsewhere")
	follow()
	must(t, os.WriteFile(path("store/two"), []byte("log_level: debug\n"), 0o600))
	noticed("the file behind the new link")
	point("v2", "etc")
	noticed("a directory that is a link and points elsewhere")
	follow()
	must(t, os.Mkdir(path("v2/master.d"), 0o700))
	noticed("a directory in the new directory")
}

// TestWatchConcerns: an event outside the wanted directories is no change.
func TestWatchConcerns(t *testing.T) {
	w := &watcher{wanted: []string{"/etc/salt", "/etc/salt/master.d"}}
	for path, want := range map[string]bool{"/etc/salt/master": true, "/etc/salt/master.d": true,
		"/etc/salt/master.d/a.conf": true, "/etc/salt": true, "/etc": true, "/etc/passwd": false,
		"/etc/salt/pki/master": false, "/etc/sal": false} {
		if got := w.concerns(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
