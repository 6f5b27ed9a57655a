package setaside

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMove: a file that is set aside twice in a second has two names, and nothing of either is lost.
func TestMove(t *testing.T) {
	dir := t.TempDir()
	path, now := filepath.Join(dir, "jobs.db"), time.Unix(1700000000, 0)
	var names []string
	for _, text := range []string{"one", "two", "three"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		to, err := Move(path, now)
		if err != nil || !Is(to) {
			t.Fatal(to, err)
		}
		names = append(names, to)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
	}
	for i, text := range []string{"one", "two", "three"} {
		if b, err := os.ReadFile(names[i]); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", names[i], b, err)
		}
	}
	if _, err := Move(path, now); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestKeep: the file stays in its place, and keeps its content under the other name when another takes the place.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := Keep(path, dir, time.Unix(1700000000, 0))
	if err == nil {
		err = os.WriteFile(path+".new", []byte("new"), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(to); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	if Is(path) {
		t.Errorf("%s counts as set aside", path)
	}
}
