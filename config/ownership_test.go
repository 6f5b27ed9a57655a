package config

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const neighbour = 65534

func uidOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// TestVerifyGivesNothingAway: the user of a daemon gets its directories, but cannot get anything else of root's by
// placing links or files there.
func TestVerifyGivesNothingAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	cache, etc := filepath.Join(dir, "cache"), filepath.Join(dir, "etc")
	secret, deep := filepath.Join(etc, "secret"), filepath.Join(etc, "a/b/secret")
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(deep), 0o755), os.WriteFile(secret, nil, 0o600), os.WriteFile(deep, nil, 0o600),
		os.MkdirAll(filepath.Join(cache, "x/y"), 0o755), os.WriteFile(filepath.Join(cache, "x/y/z"), nil, 0o600))
	env := Environment{User: "nobody", Dirs: []string{cache}}
	if _, err := env.Verify(); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{cache, filepath.Join(cache, "x/y"), filepath.Join(cache, "x/y/z")} {
		if uidOf(t, own) != neighbour {
			t.Errorf("%s is not the user's", own)
		}
	}
	link := func(target, name string) {
		t.Helper()
		must(os.Symlink(target, name), os.Lchown(name, neighbour, neighbour))
	}
	link(etc, filepath.Join(cache, "proc"))
	link(etc, filepath.Join(cache, "x/l"))
	link(secret, filepath.Join(cache, "x/m"))
	must(os.Link(secret, filepath.Join(cache, "x/hard")))
	_, err := Environment{User: "nobody", Dirs: []string{cache, filepath.Join(cache, "proc")}}.Verify()
	if !errors.Is(err, ErrForeignLink) {
		t.Errorf("a directory behind a link of the user: %v", err)
	}
	for _, name := range []string{"m", "hard"} {
		_ = Give(filepath.Join(cache, "x", name), neighbour, -1) // refused
	}
	_ = setMode(filepath.Join(cache, "x/l"), 0o777) // refused
	for _, roots := range []string{etc, secret, filepath.Dir(deep), deep} {
		if uidOf(t, roots) != 0 {
			t.Errorf("%s was given away", roots)
		}
	}
	if info, err := os.Stat(etc); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode was changed: %v, %v", info, err)
	}
	good := filepath.Join(dir, "good")
	must(os.Symlink("cache", good))
	if _, err := (Environment{User: "nobody", Dirs: []string{good}}).Verify(); err != nil {
		t.Errorf("a link of root: %v", err)
	}
}
