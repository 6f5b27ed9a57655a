package fileserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func serving(t *testing.T, ro RootsOptions) *Server {
	t.Helper()
	roots, err := NewRoots(ro)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Backends: []Backend{roots}, HashType: "sha256", Buffer: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEnvironmentStaysBelow: the name of an environment, which a minion chooses, is a part of a path below __env__.
func TestEnvironmentStaysBelow(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "envs/qa/file"), "mine")
	put(t, filepath.Join(dir, "secret/file"), "secret")
	s := serving(t, RootsOptions{Envs: map[string][]string{anyEnv: {filepath.Join(dir, "envs", anyEnv)}},
		FollowSymlinks: true})
	if p, err := s.Serve("file", "qa", 0, 0); err != nil || string(p.Data) != "mine" {
		t.Fatalf("got %q, %v", p.Data, err)
	}
	for _, env := range []string{"../secret", "..", "qa/../../secret", "/secret", filepath.Join(dir, "secret"), "", ".",
		"../secret\x00"} {
		p, err := s.Serve("file", env, 0, 0)
		if err != nil || p.Dest != "" {
			t.Errorf("environment %q: got %q from %q, %v", env, p.Data, p.Dest, err)
		}
		if p, _ := s.Serve("file?saltenv="+env, "qa", 0, 0); string(p.Data) == "secret" {
			t.Errorf("environment %q of a query: got the secret", env)
		}
		if lists, err := s.opt.Backends[0].Lists(env); err != nil || len(lists.Files) > 0 {
			t.Errorf("environment %q: got %v, %v", env, lists, err)
		}
	}
}

// TestSwappedForALink: where links are not followed out of a root, a file that turns into one between two looks gives
// nothing away.
func TestSwappedForALink(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "root/file"), "open")
	put(t, filepath.Join(dir, "secret"), "secret")
	file, next := filepath.Join(dir, "root/file"), filepath.Join(dir, "root/.next")
	s := serving(t, RootsOptions{Envs: map[string][]string{"base": {filepath.Join(dir, "root")}}})
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				_ = os.Symlink("../secret", next)
			} else {
				_ = os.WriteFile(next, []byte("open"), 0o644)
			}
			_ = os.Rename(next, file)
		}
	})
	served := 0
	for tries, end := 0, time.Now().Add(time.Minute); tries < 3000 || served == 0 && time.Now().Before(end); tries++ {
		p, err := s.Serve("file", "base", 0, 0)
		if string(p.Data) == "secret" {
			t.Error("a link out of the root was followed")
			break
		}
		if err == nil && string(p.Data) == "open" {
			served++
		}
	}
	close(stop)
	swapper.Wait()
	if served == 0 {
		t.Error("the file itself was never served")
	}
}

// TestOddFiles: pipes are no files and nobody waits for them, and links in a circle are listed once.
func TestOddFiles(t *testing.T) {
	for _, follow := range []bool{true, false} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a/file"), "x")
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..", filepath.Join(dir, "a/up")); err != nil {
			t.Fatal(err)
		}
		s := serving(t, RootsOptions{Envs: map[string][]string{"base": {dir}}, FollowSymlinks: follow})
		if p, err := s.Serve("pipe", "base", 0, 0); p.Dest != "" || err != nil {
			t.Errorf("follow %v: a pipe was served: %+v, %v", follow, p, err)
		}
		if _, _, ok, err := s.Hash("pipe", "base"); ok || err != nil {
			t.Errorf("follow %v: a pipe was hashed, %v", follow, err)
		}
		lists, err := s.opt.Backends[0].Lists("base")
		if err != nil || len(lists.Files) > 4 {
			t.Errorf("follow %v: got %q, %v", follow, lists.Files, err)
		}
	}
}

// TestPatternThatTakesTooLong hides the name rather than give it away.
func TestPatternThatTakesTooLong(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("a", 40)
	put(t, filepath.Join(dir, name), "x")
	s := serving(t, RootsOptions{Envs: map[string][]string{"base": {dir}}, IgnoreRegex: []string{`(?=(a+)+$)(a+)+b\1`}})
	if p, err := s.Serve(name, "base", 0, 0); p.Dest != "" || err != nil {
		t.Errorf("got %q, %v", p.Dest, err)
	}
}

// TestListsAreRemembered for ListTime, and as long as nobody asks for them to be forgotten; a clock that goes back ends
// it.
func TestListsAreRemembered(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1_700_000_000, 0)
	put(t, filepath.Join(dir, "one"), "")
	roots, err := NewRoots(RootsOptions{Envs: map[string][]string{"base": {dir}}, ListTime: 20 * time.Second,
		Now: func() time.Time {
			return now
		}})
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		lists, err := roots.Lists("base")
		if err != nil {
			t.Fatal(err)
		}
		return len(lists.Files)
	}
	steps := []struct {
		name string
		do   func()
		want int
	}{
		{"first", func() {}, 1},
		{"too young", func() { put(t, filepath.Join(dir, "two"), ""); now = now.Add(19 * time.Second) }, 1},
		{"old enough", func() { now = now.Add(time.Second) }, 2},
		{"forgotten", func() { put(t, filepath.Join(dir, "three"), ""); roots.Forget("base") }, 3},
		{"back in time", func() { put(t, filepath.Join(dir, "four"), ""); now = now.Add(-time.Hour) }, 4},
	}
	for _, step := range steps {
		step.do()
		if got := count(); got != step.want {
			t.Errorf("%s: %d files, want %d", step.name, got, step.want)
		}
	}
	for i := range 3 * maxListed {
		_, _ = roots.Lists("base")
		roots.opt.Envs["e"+string(rune('0'+i))] = []string{dir}
		_, _ = roots.Lists("e" + string(rune('0'+i)))
	}
	if n := len(roots.lists.envs); n > maxListed {
		t.Errorf("%d environments are remembered, want at most %d", n, maxListed)
	}
}

// TestHashFollowsTheFile: a hash is remembered until the file changes, and many who ask at once cause one reading.
func TestHashFollowsTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, strings.Repeat("x", 1<<20))
	s := serving(t, RootsOptions{Envs: map[string][]string{"base": {dir}}, FollowSymlinks: true})
	first, _, ok, err := s.Hash("file", "base")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if sum, _, _, err := s.Hash("file", "base"); sum != first || err != nil {
				t.Errorf("got %s, %v", sum, err)
			}
		})
	}
	all.Wait()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Repeat("y", 1<<20))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		// same size, same time: its change is younger
		t.Fatal(err)
	}
	if sum, _, _, err := s.Hash("file", "base"); sum == first || err != nil {
		t.Errorf("the hash of the old content is still told, %v", err)
	}
}

// TestPieces puts a file together from its pieces, as a minion does.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("0123456789"), 300_000)
	put(t, filepath.Join(dir, "file"), string(want))
	s := serving(t, RootsOptions{Envs: map[string][]string{"base": {dir}}})
	var got []byte
	for {
		p, err := s.Serve("file", "base", int64(len(got)), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Data) == 0 {
			break
		}
		got = append(got, p.Data...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func FuzzFind(f *testing.F) {
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "root/sub"), 0o755); err != nil {
		f.Fatal(err)
	}
	for name, text := range map[string]string{"root/sub/file": "open", "secret": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	roots, err := NewRoots(RootsOptions{Envs: map[string][]string{"base": {filepath.Join(dir, "root")},
		anyEnv: {filepath.Join(dir, "root", anyEnv)}}, FollowSymlinks: true})
	if err != nil {
		f.Fatal(err)
	}
	s, err := New(Options{Backends: []Backend{roots}, HashType: "md5", Buffer: 100})
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{"sub/file", "../secret", "sub/../../secret", "|../secret", "sub/file?saltenv=..",
		"a?index=-1", "\x00"} {
		f.Add(path, "base")
		f.Add("secret", path)
	}
	f.Fuzz(func(t *testing.T, path, env string) {
		p, err := s.Serve(path, env, 0, 0)
		if err == nil && string(p.Data) == "secret" {
			t.Errorf("%q in %q left the root", path, env)
		}
	})
}

// TestRootsStayLocal: no path and no environment of a request leads out of the roots, links followed or not.
func TestRootsStayLocal(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"srv/inside", "secret", "envs/dev/f"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, follow := range []bool{true, false} {
		r, err := NewRoots(RootsOptions{Envs: map[string][]string{"base": {filepath.Join(dir, "srv")},
			anyEnv: {filepath.Join(dir, "envs", anyEnv)}}, FollowSymlinks: follow})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			env, path string
			want      bool
		}{
			{"base", "inside", true}, {"base", "x/../inside", true}, {"dev", "f", true},
			{"base", "../secret", false}, {"base", "x/../../secret", false}, {"base", filepath.Join(dir, "secret"),
				false}, {"base", "..", false}, {"..", "secret", false}, {"../../" + filepath.Base(dir), "secret",
				false}, {".", "dev/f", false},
		} {
			if f, ok := r.Find(tt.env, tt.path, nil); ok != tt.want {
				t.Errorf("links followed %t: %s of %s is found: %t (%s)", follow, tt.path, tt.env, ok, f.Path)
			}
		}
	}
}
