package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"brine/wire/disk/wholefile"
)

// TestWrite: content and mode of what stands afterwards, and nothing beside it.
func TestWrite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077)) // the mode counts whatever the umask
	own := os.Getuid()
	for _, tt := range []struct {
		name   string
		before fs.FileMode // of the file that stood there; 0: none
		how    wholefile.Options
		want   fs.FileMode
		err    error
	}{
		{"new", 0, wholefile.Options{}, 0o600, nil},
		{"less what the umask forbids", 0, wholefile.Options{Mode: 0o644, Umask: true}, 0o600, nil},
		{"unfinished elsewhere", 0, wholefile.Options{Temp: t.TempDir()}, 0o600, nil},
		{"mode", 0, wholefile.Options{Mode: 0o644, Sync: true}, 0o644, nil},
		{"read only", 0, wholefile.Options{Mode: 0o400, UID: &own}, 0o400, nil},
		{"replaced", 0o640, wholefile.Options{Mode: 0o644}, 0o644, nil},
		{"replaced, keeps its mode", 0o640, wholefile.Options{Mode: 0o644, KeepMode: true}, 0o640, nil},
		{"nothing whose mode to keep", 0, wholefile.Options{Mode: 0o644, KeepMode: true}, 0o644, nil},
		{"taken", 0o640, wholefile.Options{New: true}, 0o640, fs.ErrExist},
		{"free", 0, wholefile.Options{New: true, Mode: 0o400}, 0o400, nil},
		{"nobody else writes", 0o640, wholefile.Options{Sole: true}, 0o600, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, want := filepath.Join(t.TempDir(), "file"), "new"
			if tt.before != 0 {
				put(t, path, "old", tt.before)
			}
			if err := wholefile.Write(path, []byte("new"), tt.how); !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if tt.err != nil {
				want = "old"
			}
			found(t, path, want, tt.want)
			alone(t, path)
		})
	}
}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func found(t *testing.T, path, want string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != want || info.Mode() != mode {
		t.Errorf("found %q with mode %s, %v; want %q with %s", text, info.Mode(), err, want, mode)
	}
}

// alone fails when anything lies beside path.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s was left", e.Name())
		}
	}
}

// TestLinks: a link is replaced, or followed where that is wanted; one that leads nowhere is a taken name.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		how   wholefile.Options
		there string // content behind the link afterwards
		link  bool   // the link still stands
	}{
		{"replaced", wholefile.Options{}, "old", false},
		{"followed", wholefile.Options{Follow: true}, "new", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "link")
			put(t, target, "old", 0o600)
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			if err := wholefile.Write(link, []byte("new"), tt.how); err != nil {
				t.Fatal(err)
			}
			found(t, target, tt.there, 0o600)
			if info, err := os.Lstat(link); err != nil || (info.Mode()&fs.ModeSymlink != 0) != tt.link {
				t.Errorf("the link is %v, %v", info.Mode(), err)
			}
		})
	}
	dangling := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(dangling, nil, wholefile.Options{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link that leads nowhere: %v, want %v", err, fs.ErrExist)
	}
}

// TestFailed: where the file cannot stand, an error says so and nothing is left.
func TestFailed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(folder, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(folder, []byte("x"), wholefile.Options{}); err == nil {
		t.Error("a folder was replaced")
	}
	alone(t, folder)
	if err := wholefile.Write(filepath.Join(folder, "missing", "file"), nil, wholefile.Options{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("in no folder: %v, want %v", err, fs.ErrNotExist)
	}
}

// TestSole: what a writer has left that was killed is taken over by the next.
func TestSole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path+wholefile.TempSuffix, "the longer half of another", 0o600)
	if err := wholefile.Write(path, []byte("new"), wholefile.Options{Sole: true}); err != nil {
		t.Fatal(err)
	}
	found(t, path, "new", 0o600)
	alone(t, path)
}

// TestCreate: a file under its own name, with nothing beside it; a name that is taken, by a link too, is left alone.
func TestCreate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	folder := t.TempDir()
	for _, tt := range []struct {
		name string
		how  wholefile.Options
		want fs.FileMode
	}{
		{"mode", wholefile.Options{Mode: 0o666, Sync: true}, 0o666},
		{"less what the umask forbids", wholefile.Options{Mode: 0o666, Umask: true}, 0o640},
		{"for the owner", wholefile.Options{}, 0o600},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := wholefile.Create(path, []byte("new"), tt.how); err != nil {
			t.Fatal(err)
		}
		found(t, path, "new", tt.want)
		alone(t, path)
		if err := wholefile.Create(path, []byte("again"), tt.how); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s, once more: %v, want %v", tt.name, err, fs.ErrExist)
		}
		found(t, path, "new", tt.want)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(filepath.Join(folder, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Create(link, nil, wholefile.Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link that leads nowhere: %v, want %v", err, fs.ErrExist)
	}
}
