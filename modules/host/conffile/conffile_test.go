package conffile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/modules/host/conffile"
)

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestKeeps: a file that is rewritten keeps mode and owner, and leaves nothing beside it.
func TestKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "conf")
	put(t, path, "old", 0o640)
	if os.Getuid() == 0 {
		if err := os.Chown(path, 1234, 4321); err != nil {
			t.Fatal(err)
		}
	}
	if err := conffile.Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if info.Mode() != 0o640 || os.Getuid() == 0 && (st.Uid != 1234 || st.Gid != 4321) {
		t.Errorf("%v, %d:%d", info.Mode(), st.Uid, st.Gid)
	}
	if text, err := conffile.Text(path); text != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestLinks: a link of root or of the own user stays, and what it leads to is replaced.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "real/conf"), "old", 0o644)
	for name, target := range map[string]string{"folder": "real", "conf": "folder/../folder/conf", "loop": "loop",
		"new": "real/new"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, written := range map[string]string{"conf": "real/conf", "new": "real/new"} {
		if err := conffile.Write(filepath.Join(dir, name), []byte(name)); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, written)); string(b) != name {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	if err := conffile.Write(filepath.Join(dir, "loop"), nil); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
}

// TestForeignLinks: a link of another user leads only to what is that user's.
func TestForeignLinks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make links of another user")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "secret"), "secret", 0o600)
	put(t, filepath.Join(dir, "theirs"), "theirs", 0o600)
	if err := os.Chown(filepath.Join(dir, "theirs"), 1234, 1234); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"bad": "secret", "good": "theirs", "none": "nothing", "folder": "."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(filepath.Join(dir, name), 1234, 1234); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bad", "none", "folder/secret", "folder/new"} {
		path := filepath.Join(dir, name)
		if err := conffile.Write(path, []byte("x")); !errors.Is(err, conffile.ErrForeignLink) {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := conffile.Read(path); !errors.Is(err, conffile.ErrForeignLink) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if err := conffile.Write(filepath.Join(dir, "good"), []byte("x")); err != nil {
		t.Error(err)
	}
}

// TestRefused: what is no plain file is not written.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{dir: syscall.EISDIR, dir + "/": syscall.EISDIR, fifo: conffile.ErrNotPlain,
		filepath.Join(dir, "no/conf"): fs.ErrNotExist, filepath.Join(fifo, "x"): syscall.ENOTDIR} {
		if err := conffile.Write(path, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conf")
	put(t, path, "a\n", 0o644)
	wrote, err := conffile.Edit(path, func(text string) string { return text })
	if wrote || err != nil {
		t.Errorf("%v, %v", wrote, err)
	}
	wrote, err = conffile.Edit(path, strings.ToUpper)
	if text, _ := conffile.Text(path); !wrote || err != nil || text != "A\n" {
		t.Errorf("%v, %v, %q", wrote, err, text)
	}
}
