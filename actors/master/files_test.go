package master

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// tree is a folder with some files, and one beside it that nobody is to see.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"base/a.txt": "one", "base/sub/b.txt": "two", "dev/a.txt": "three",
		"secret": "hidden"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func rootsLine(dir string) string {
	return fmt.Sprintf("file_roots: {base: [%s/base], dev: [%s/dev]}", dir, dir)
}

// noPillar keeps the pillar of the machine that tests run on out of them.
func noPillar(t *testing.T) string { return "pillar_roots: {base: [" + t.TempDir() + "]}" }

// TestFiles asks for files as minions do.
func TestFiles(t *testing.T) {
	dir := tree(t)
	m := newRig(t, rootsLine(dir), noPillar(t)).minion("m1")
	for _, tt := range []struct {
		load *payload.Map
		want any
	}{
		{cmd("_file_envs"), []any{"base", "dev"}},
		{cmd("_file_list", "saltenv", "base", "prefix", ""), []any{"a.txt", "sub/b.txt"}},
		{cmd("_file_list", "saltenv", "base", "prefix", "sub"), []any{"sub/b.txt"}},
		{cmd("_dir_list", "saltenv", "base", "prefix", ""), []any{"sub"}},
		{cmd("_file_hash", "path", "a.txt", "saltenv", "dev"), payload.M("hash_type", "sha256",
			"hsum", "8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f")},
		{cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", 1), payload.M("data", "ne", "dest", "a.txt")},
		{cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", 3), payload.M("data", "", "dest", "a.txt")},
	} {
		equal(t, fmt.Sprint(tt.load), m.ask(tt.load), tt.want)
	}
	opts := m.ask(cmd("_master_opts", "env_only", true)).(*payload.Map)
	equal(t, "environments", opts.Value("file_roots"), payload.M("base", []any{}, "dev", []any{}))
}

// TestFilesOfThieves asks for what lies outside of the roots, and with values that nobody sends. Every request is
// answered, and none with the file beside the roots.
func TestFilesOfThieves(t *testing.T) {
	dir := tree(t)
	if err := os.Symlink("../secret", filepath.Join(dir, "base/link")); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rootsLine(dir), noPillar(t), "fileserver_followsymlinks: False")
	m := r.minion("m1")
	for _, path := range []any{"../secret", "sub/../../secret", "/etc/passwd", "|/etc/passwd", "|../secret",
		"a.txt\x00", "..\\secret", "link", "sub", "", "a.txt?saltenv=..", "secret?saltenv=../", dir + "/secret",
		"./../secret", "..", ".", nil, 7, []any{"a.txt"}, strings.Repeat("x/", 5000), payload.Bytes("../secret")} {
		for _, env := range []any{"base", "../", "..", "/", "", "__env__", nil, 3, "base\x00"} {
			v := m.ask(cmd("_serve_file", "path", path, "saltenv", env, "loc", 0))
			if got, ok := v.(*payload.Map); ok && string(got.Bytes("data")) != "" {
				t.Errorf("%v of %v: got %q", path, env, got.Bytes("data"))
			}
			for _, c := range []string{"_file_find", "_file_hash", "_file_hash_and_stat", "_file_list", "_dir_list",
				"_symlink_list", "_file_list_emptydirs"} {
				if text := fmt.Sprint(m.ask(cmd(c, "path", path, "saltenv", env, "prefix", path))); strings.Contains(
					text, "secret ") {
					t.Errorf("%s %v of %v: got %s", c, path, env, text)
				}
			}
		}
	}
	for _, loc := range []any{-1, int64(-1 << 62), int64(1) << 62, "x", nil, 1.5, []any{}} {
		for _, gzip := range []any{nil, 0, -1, 10, int64(1) << 40, "9", []any{}} {
			v := m.ask(cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", loc, "gzip", gzip))
			if got, ok := v.(*payload.Map); ok && len(got.Bytes("data")) > 64 {
				t.Errorf("loc %v, gzip %v: got %d bytes", loc, gzip, len(got.Bytes("data")))
			}
		}
	}
	equal(t, "afterwards", m.ask(cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", 0)),
		payload.M("data", "one", "dest", "a.txt"))
}

// TestFileServerComesBack kills the FileServer: files are served meanwhile and afterwards.
func TestFileServerComesBack(t *testing.T) {
	dir := tree(t)
	r := newSite(t, rootsLine(dir), noPillar(t), "chaos: True")
	r.faulty = true
	r.start()
	m := r.minion("m1")
	serve := cmd("_serve_file", "path", "a.txt", "saltenv", "base", "loc", 0)
	for n := range 3 {
		if err := r.m.Supervisor().Inject("FileServer", supervisor.FaultPanic); err != nil {
			t.Fatal(err)
		}
		equal(t, "meanwhile", m.ask(serve), payload.M("data", "one", "dest", "a.txt"))
		r.eventually("the FileServer is back", func() error {
			back := false
			r.tree(func(c stats.Child) { back = back || c.Name == "FileServer" && c.Incarnation == n+2 })
			if !back {
				return fmt.Errorf("it is not")
			}
			return nil
		})
	}
	equal(t, "afterwards", m.ask(serve), payload.M("data", "one", "dest", "a.txt"))
}

// TestFileserverEvents: with fileserver_events the bus hears what has changed, and runners show and forget lists.
func TestFileserverEvents(t *testing.T) {
	dir := tree(t)
	r := newRig(t, rootsLine(dir), noPillar(t), "fileserver_events: True", "roots_update_interval: 1")
	ear := r.hear()
	path := filepath.Join(dir, "base/new.txt")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for {
		data := ear.await("salt/fileserver/roots/update")
		added := data.Map("files").List("added")
		if data.Str("backend") != "roots" {
			t.Fatalf("event: %v", data)
		}
		if payload.Equal(added, []any{path}) {
			equal(t, "changed", data.Value("changed"), true)
			break
		}
	}
}

// TestPiecesAtOnce: many minions fetch at the same time, and each gets the bytes of its own file: rooms of answers and
// pieces are used again.
func TestPiecesAtOnce(t *testing.T) {
	const minions, size = 4, 300000
	dir := t.TempDir()
	for i := range minions {
		text := strings.Repeat(string(rune('a'+i)), size)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, "file_roots: {base: ["+dir+"]}", noPillar(t), "file_buffer_size: 65536", "worker_threads: 4")
	fails := make(chan error, minions)
	for i := range minions {
		m := r.minion(fmt.Sprint("m", i))
		go func() {
			got := ""
			for piece := "x"; piece != ""; got += piece {
				frame, nonce, err := m.Seal(cmd("_serve_file", "path", fmt.Sprint("f", i), "saltenv", "base", "loc",
					len(got)))
				if err != nil {
					fails <- err
					return
				}
				reply, err := m.q.Do(context.Background(), frame)
				if err != nil {
					fails <- err
					return
				}
				v, err := m.Open(reply, nonce)
				if err != nil {
					fails <- err
					return
				}
				piece = string(v.(*payload.Map).Bytes("data"))
			}
			if got != strings.Repeat(string(rune('a'+i)), size) {
				fails <- fmt.Errorf("f%d: %d bytes came, or others", i, len(got))
				return
			}
			fails <- nil
		}()
	}
	for range minions {
		if err := <-fails; err != nil {
			t.Error(err)
		}
	}
}
