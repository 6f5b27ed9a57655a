package cmdmod_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// nobodys is a directory of the user nobody, below one that everybody may enter; only root can make one.
func nobodys(t *testing.T) (dir string, who *syscall.Credential) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a command as another user")
	}
	who = &syscall.Credential{Uid: 65534, Gid: 65534}
	root, err := os.MkdirTemp("/tmp", "script")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	dir = filepath.Join(root, "home")
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(dir, 0o755), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	return dir, who
}

// whereAmI is a script that tells its own directory, owner and mode.
func whereAmI(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "where.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ndirname \"$0\"; stat -c '%u %a' \"$0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func runScript(t *testing.T, e *loader.Env, source string, kw *payload.Map) []string {
	t.Helper()
	got, _, err := modtest.Call(t, e, "cmd.script", []any{source}, kw)
	out, _ := got.(*payload.Map)
	if err != nil || out.Value("retcode") != int64(0) {
		t.Fatalf("%v: %v, %v", kw, got, err)
	}
	return strings.Split(out.Str("stdout"), "\n")
}

// TestScriptPlace: in a directory that somebody else can change, only what he could make himself is made.
func TestScriptPlace(t *testing.T) {
	home, _ := nobodys(t)
	source, e := whereAmI(t), env(t, nil)
	roots := filepath.Join(filepath.Dir(home), "roots")
	link, good := filepath.Join(home, "link"), filepath.Join(filepath.Dir(home), "good")
	if err := errors.Join(os.Mkdir(roots, 0o755), os.Symlink(filepath.Base(roots), good), os.Symlink(roots, link),
		os.Lchown(link, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, cwd, runas, where, owner string }{
		{"his own, as himself", home, "nobody", home, "65534 500"},
		{"his own, as root", home, "", os.TempDir(), "0 500"},
		{"root's, as him", roots, "nobody", os.TempDir(), "65534 500"},
		{"root's, as root", roots, "", roots, "0 500"},
		{"root's behind root's link, as root", good, "", good, "0 500"},
		{"root's behind his link, as him", link, "nobody", os.TempDir(), "65534 500"},
		{"root's behind his link, as root", link, "", os.TempDir(), "0 500"},
		{"the usual one, as him", "", "nobody", os.TempDir(), "65534 500"},
	} {
		kw := payload.NewMap(0)
		if tt.cwd != "" {
			kw.Set("cwd", tt.cwd)
		}
		if tt.runas != "" {
			kw.Set("runas", tt.runas)
		}
		if got := runScript(t, e, source, kw); got[0] != tt.where || got[1] != tt.owner {
			t.Errorf("%s: made in %s for %s", tt.name, got[0], got[1])
		}
	}
	for _, dir := range []string{home, roots} {
		if left, err := filepath.Glob(filepath.Join(dir, "__salt*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestScriptRace: whoever replaces the script while it is made gets no file of root's, and runs nothing as root.
func TestScriptRace(t *testing.T) {
	home, who := nobodys(t)
	source, e := whereAmI(t), env(t, nil)
	victim, ran := filepath.Join(filepath.Dir(home), "victim"), filepath.Join(filepath.Dir(home), "ran")
	if err := os.WriteFile(victim, []byte("#!/bin/sh\nid -u >> "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- cmdmod.AsUser(who, func() error { race(home, victim, stop); return nil }) }()
	defer func() {
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	for i := range 60 {
		kw := payload.M("cwd", home)
		if i%3 > 0 {
			kw.Set("runas", "nobody")
		}
		_, _, _ = modtest.Call(t, e, "cmd.script", []any{source}, kw) // what comes of it is the racer's
		info, err := os.Lstat(victim)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.Mode() != 0o700 {
			t.Fatalf("run %d: the victim is %v, %v", i, info, err)
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("run by root: %q", text)
	}
}

// race puts a link to victim in the place of every script that appears in dir.
func race(dir, victim string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		entries, _ := os.ReadDir(dir) // what it cannot have this time it has the next
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasPrefix(e.Name(), "__salt.tmp.") {
				name := filepath.Join(dir, e.Name())
				_ = os.Rename(name, filepath.Join(dir, "moved"))
				_ = os.Symlink(victim, name)
			}
		}
	}
}
