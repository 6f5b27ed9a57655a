package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/host/safefile"
)

// stranger is a user that no test is run by.
const stranger = 54321

// needsRoot skips a test that gives files away.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to other users")
	}
}

// must ends the test with an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func mode(m uint32) *uint32 { return &m }

// found fails unless a file has a text, and nothing is beside the names that are expected.
func found(t *testing.T, path, want string, beside ...string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s has %q, %v; want %q", path, text, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		if e.Name() != filepath.Base(path) && !strings.Contains(strings.Join(beside, " "), e.Name()) {
			t.Errorf("%s was left beside %s", e.Name(), path)
		}
	}
}

// TestWrite: a file keeps owner and mode unless others are wanted, and a new one has those of the system.
func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before fs.FileMode // 0: there is no file
		attrs  safefile.Attrs
		want   fs.FileMode
	}{
		{"new", 0, safefile.Attrs{}, 0o644},
		{"new, with a mode", 0, safefile.Attrs{Mode: mode(0o600)}, 0o600},
		{"new, runs as its owner", 0, safefile.Attrs{Mode: mode(0o4755)}, 0o755 | fs.ModeSetuid},
		{"kept", 0o640, safefile.Attrs{}, 0o640},
		{"changed", 0o640, safefile.Attrs{Mode: mode(0o444)}, 0o444},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if tt.before != 0 {
				must(t, os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, tt.before))
			}
			must(t, safefile.Write(path, []byte("new"), tt.attrs, true))
			found(t, path, "new")
			if info, err := os.Stat(path); err != nil || info.Mode() != tt.want {
				t.Errorf("mode %s, %v; want %s", info.Mode(), err, tt.want)
			}
		})
	}
}

// TestWriteThroughLinks: own links are followed, or replaced; what is no file stays what it is.
func TestWriteThroughLinks(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/a", 0o755), os.Symlink("a", dir+"/b"), os.WriteFile(dir+"/a/file", []byte("old"), 0o644),
		os.Symlink(dir+"/b/file", dir+"/link"), os.Symlink("new", dir+"/a/dangling"))
	must(t, safefile.Write(dir+"/link", []byte("1"), safefile.Attrs{}, true))
	found(t, dir+"/a/file", "1", "dangling")
	must(t, safefile.Write(dir+"/b/dangling", []byte("2"), safefile.Attrs{}, true))
	found(t, dir+"/a/new", "2", "dangling", "file")
	must(t, safefile.Write(dir+"/link", []byte("3"), safefile.Attrs{}, false))
	found(t, dir+"/link", "3", "a", "b")
	found(t, dir+"/a/file", "1", "dangling", "new")
	if err := safefile.Write(dir+"/a", nil, safefile.Attrs{}, true); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	must(t, syscall.Mkfifo(dir+"/pipe", 0o600))
	if err := safefile.Write(dir+"/pipe", nil, safefile.Attrs{}, true); err == nil {
		t.Error("a pipe was replaced")
	}
	must(t, os.Symlink("loop", dir+"/loop"))
	if err := safefile.Write(dir+"/loop/x", nil, safefile.Attrs{}, true); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
}

// TestPlantedLinks: links of another user lead only to what is that user's.
func TestPlantedLinks(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	secret := dir + "/etc/shadow"
	must(t, os.Mkdir(dir+"/etc", 0o755), os.WriteFile(secret, []byte("old"), 0o600), os.MkdirAll(dir+"/home/own", 0o755),
		os.Chown(dir+"/home", stranger, stranger), os.Chown(dir+"/home/own", stranger, stranger),
		os.Symlink(dir+"/etc", dir+"/home/d"), os.Lchown(dir+"/home/d", stranger, stranger),
		os.Symlink("../etc/shadow", dir+"/home/f"), os.Lchown(dir+"/home/f", stranger, stranger),
		os.Symlink("own", dir+"/home/fine"), os.Lchown(dir+"/home/fine", stranger, stranger))
	attrs := safefile.Attrs{Mode: mode(0o666), Owner: &safefile.Owner{UID: stranger, GID: -1}}
	for name, err := range map[string]error{
		"write":     safefile.Write(dir+"/home/d/shadow", []byte("x"), safefile.Attrs{}, true),
		"write to":  safefile.Write(dir+"/home/f", []byte("x"), safefile.Attrs{}, true),
		"attrs":     safefile.SetAttrs(dir+"/home/d/shadow", attrs, true),
		"attrs of":  safefile.SetAttrs(dir+"/home/f", attrs, true),
		"remove":    safefile.Remove(dir + "/home/d/shadow"),
		"directory": safefile.Mkdir(dir+"/home/d/new", safefile.Attrs{}),
		"link":      safefile.Symlink("x", dir+"/home/d/new", safefile.Attrs{}, false, false),
		"rename":    safefile.Rename(dir+"/home/own", dir+"/home/d/own"),
	} {
		if !errors.Is(err, safefile.ErrLink) {
			t.Errorf("%s: %v, want %v", name, err, safefile.ErrLink)
		}
	}
	found(t, secret, "old")
	must(t, safefile.Write(dir+"/home/fine/x", []byte("x"), safefile.Attrs{}, true))
	found(t, dir+"/home/own/x", "x")
	must(t, safefile.Write(dir+"/home/f", []byte("mine"), safefile.Attrs{}, false))
	found(t, dir+"/home/f", "mine", "d", "own", "fine")
	found(t, secret, "old")
}

// TestRemove: links inside a tree are removed, and what they lead to stays.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/tree/a/b", 0o755), os.MkdirAll(dir+"/other", 0o755),
		os.WriteFile(dir+"/other/kept", []byte("kept"), 0o600), os.WriteFile(dir+"/tree/a/f", nil, 0o400),
		os.Symlink("../../other", dir+"/tree/a/link"), os.Symlink("tree", dir+"/top"), syscall.Mkfifo(dir+"/tree/p", 0o600))
	must(t, safefile.Remove(dir+"/top"))
	if _, err := os.Stat(dir + "/tree/a/f"); err != nil {
		t.Error("a link was followed")
	}
	must(t, safefile.Remove(dir+"/tree"))
	if _, err := os.Lstat(dir + "/tree"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree: %v", err)
	}
	found(t, dir+"/other/kept", "kept")
	if err := safefile.Remove(dir + "/tree"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	for _, path := range []string{"/", "relative", dir + "/\x00"} {
		if err := safefile.Remove(path); err == nil {
			t.Errorf("%q was removed", path)
		}
	}
}

// TestSymlink: a link takes the place of a link, a file, or a tree, and only where that is wanted.
func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/tree/a", 0o755), os.WriteFile(dir+"/file", nil, 0o600))
	link := func(name string, over, overDir bool) error {
		return safefile.Symlink("/to", dir+"/"+name, safefile.Attrs{}, over, overDir)
	}
	must(t, link("new", false, false))
	if err := link("file", false, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if err := link("tree", true, false); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("over a tree: %v", err)
	}
	must(t, link("file", true, false), link("tree", false, true), link("new", true, false))
	for _, name := range []string{"file", "tree", "new"} {
		if to, err := os.Readlink(dir + "/" + name); err != nil || to != "/to" {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestBackup: the copy is as private as the file, and nobody else gets into its folders.
func TestBackup(t *testing.T) {
	needsRoot(t)
	dir, at := t.TempDir(), time.Date(2026, 11, 6, 3, 4, 5, 6000, time.Local)
	must(t, os.WriteFile(dir+"/f", []byte("secret"), 0o600), os.Chown(dir+"/f", stranger, stranger))
	copied, err := safefile.Backup(dir+"/f", dir+"/cache", at)
	must(t, err)
	if want := dir + "/cache/file_backup" + dir + "/f_Fri_Nov_06_03:04:05_000006_2026"; copied != want {
		t.Errorf("it is %s, want %s", copied, want)
	}
	found(t, copied, "secret")
	info, err := os.Stat(copied)
	must(t, err)
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || info.Mode() != 0o600 || st.Uid != stranger {
		t.Errorf("it is %s of %v", info.Mode(), st.Uid)
	}
	if info, err := os.Stat(filepath.Dir(copied)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %s, %v", info.Mode(), err)
	}
}

// TestSetAttrs: owner and mode change together, also of a directory; a link itself is given away.
func TestSetAttrs(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/f", nil, 0o755), os.Symlink("f", dir+"/l"), os.Chmod(dir+"/f", 0o755|fs.ModeSetuid))
	owner := &safefile.Owner{UID: stranger, GID: -1}
	must(t, safefile.SetAttrs(dir+"/l", safefile.Attrs{Owner: owner, Mode: mode(0o600)}, false))
	info, err := os.Stat(dir + "/f")
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid == stranger || info.Mode() != 0o755|fs.ModeSetuid {
		t.Errorf("a link was followed: %s", info.Mode())
	}
	must(t, safefile.SetAttrs(dir+"/f", safefile.Attrs{Owner: owner}, false))
	if info, err := os.Stat(dir + "/f"); err != nil || info.Mode() != 0o755|fs.ModeSetuid {
		t.Errorf("the mode is %s, %v", info.Mode(), err)
	}
	must(t, os.Remove(dir+"/l"), os.Symlink("f", dir+"/l"))
	root := &safefile.Owner{UID: 0, GID: 0}
	must(t, safefile.SetAttrs(dir+"/l", safefile.Attrs{Owner: root, Mode: mode(0o2640)}, true))
	if info, err := os.Stat(dir + "/f"); err != nil || info.Mode() != 0o640|fs.ModeSetgid {
		t.Errorf("the mode is %s, %v", info.Mode(), err)
	}
}
