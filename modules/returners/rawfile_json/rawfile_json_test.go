package rawfile_json

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

func TestRawfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	env, reg := returnertest.Config(t, payload.M("rawfile_json.filename", file)), returnertest.Registry(Module())
	if err := returners.Return(returnertest.Call(t, env), reg, "rawfile_json", returnertest.Ret()); err != nil {
		t.Fatal(err)
	}
	events := []any{payload.M("tag", "a", "data", payload.M("x", int64(1))), payload.M("tag", "b", "data",
		payload.NewMap(0))}
	if err := returners.Events(returnertest.Call(t, env), reg, "rawfile_json", events); err != nil {
		t.Fatal(err)
	}
	bad := payload.NewMap(0)
	bad.Set([]byte{1}, "no key of JSON")
	if err := returners.Events(returnertest.Call(t, env), reg, "rawfile_json", []any{events[0],
		bad}); !returners.Hopeless(err) {
		t.Errorf("a key of bytes: got %v, want a hopeless error", err)
	}
	want := returnertest.RetJSON + "\n" + `{"tag": "a", "data": {"x": 1}}` + "\n" + `{"tag": "b", "data": {}}` + "\n"
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
}

// A full disk leaves no part of a line behind, and the error is worth another try.
func TestRawfileFull(t *testing.T) {
	if err := returners.Return(returnertest.Call(t, returnertest.Config(t, payload.M("rawfile_json.filename",
		"/dev/full"))), returnertest.Registry(Module()),
		"rawfile_json", returnertest.Ret()); err == nil || returners.Hopeless(err) {
		t.Errorf("/dev/full: %v", err)
	}
	file := filepath.Join(t.TempDir(), "events")
	if err := appendLines(file, []any{"kept"}); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := appendLines(file, []any{strings.Repeat("x", 10000)})
	if resetErr := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); resetErr != nil {
		t.Fatal(resetErr)
	}
	if err == nil {
		t.Error("10,000 bytes went into a file of at most 4,096")
	}
	if got, _ := os.ReadFile(file); string(got) != "\"kept\"\n" {
		t.Errorf("the file holds %d bytes: %.40q", len(got), got)
	}
}

// Lines of writers at the same time do not mix.
func TestRawfileTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				if err := appendLines(file, []any{strings.Repeat(string(rune('a'+i)), 5000)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	b, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 160 {
		t.Fatalf("%d lines, want 160", len(lines))
	}
	for _, line := range lines {
		if line != `"`+strings.Repeat(line[1:2], 5000)+`"` {
			t.Fatalf("a line is mixed: %.60q", line)
		}
	}
}
