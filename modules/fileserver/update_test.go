package fileserver

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestConfigured reads options as they stand in a configuration.
func TestConfigured(t *testing.T) {
	dir := t.TempDir()
	opts := payload.M("file_roots", payload.M("base", []any{dir}, 7, []any{dir}), "fileserver_backend", []any{"roots"},
		"hash_type", "SHA256", "file_buffer_size", 1<<20, "cachedir", dir, "file_ignore_regex", "(", "file_ignore_glob",
		[]any{"*.bak"})
	s, err := Configured(opts)
	if s == nil || err == nil {
		t.Fatalf("a bad pattern: %v, %v", s, err)
	}
	if diff := cmp.Diff([]string{"7", "base"}, s.Envs(nil)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []*payload.Map{payload.M("fileserver_backend", []any{"roots", "gitfs"}),
		payload.M("hash_type", "crc32"), payload.M("file_buffer_size", 0)} {
		one := opts.Clone()
		one.Update(bad)
		if s, err := Configured(one); s != nil || err == nil {
			t.Errorf("%v: %v, %v", bad, s, err)
		}
	}
}

// otherKind is a backend of another package, which is updated for its own sake.
type otherKind struct{ *Roots }

func (otherKind) Name() string                  { return "other" }
func (otherKind) UpdateInterval() time.Duration { return 7 * time.Second }

// TestBackends: they stand in the order of fileserver_backend, each once; one that cannot work with the other options
// is named and left out, and none at all is an error.
func TestBackends(t *testing.T) {
	other := Kind{"other", func(*payload.Map) (Backend, error) {
		r, err := NewRoots(RootsOptions{})
		return otherKind{r}, err
	}}
	for _, tt := range []struct {
		backends any
		receives bool
		want     []string
		bad      string
	}{
		{[]any{"minionfs", "other", "roots", "minionfs"}, true, []string{"minionfs", "other", "roots"}, ""},
		{[]any{"roots", "minionfs"}, false, []string{"roots"}, "file_recv"},
		{"roots", false, []string{"roots"}, ""},
		{[]any{"minionfs"}, false, nil, "leaves no backend"},
		{[]any{}, true, nil, "leaves no backend"},
		{[]any{"roots", "s3fs"}, true, nil, "s3fs here, only minionfs, other, roots"},
	} {
		s, err := Configured(payload.M("hash_type", "md5", "file_buffer_size", 1, "fileserver_backend", tt.backends,
			"file_recv", tt.receives, "roots_update_interval", 3), other)
		if tt.bad == "" && err != nil || tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%v: %v", tt.backends, err)
		}
		if (s == nil) != (tt.want == nil) {
			t.Errorf("%v: a server %v", tt.backends, s)
		}
		if s == nil {
			continue
		}
		var names []string
		for _, b := range s.backends(nil) {
			names = append(names, b.Name())
		}
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Error(diff)
		}
		for _, r := range s.Rhythms() {
			if want := map[string]Rhythm{"roots": {"roots", 3 * time.Second, false}, "other": {"other", 7 * time.Second,
				true}}[r.Backend]; r != want {
				t.Errorf("%+v, want %+v", r, want)
			}
		}
	}
}

// TestUpdate: what came, went and changed since the update before is told, also by a server that was not there then.
func TestUpdate(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	opts := payload.M("file_roots", payload.M("base", []any{dir}), "hash_type", "sha256", "file_buffer_size", 1,
		"cachedir", cache)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	update := func() *Changes {
		t.Helper()
		s, err := Configured(opts)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Update(t.Context(), nil)
		if err != nil || len(all) != 1 {
			t.Fatalf("update: %v, %v", all, err)
		}
		return all[0]
	}
	path := func(name string) []string { return []string{filepath.Join(dir, name)} }
	write("a", "")
	if diff := cmp.Diff(&Changes{Backend: "roots", Added: path("a")}, update()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Changes{Backend: "roots"}, update()); diff != "" {
		t.Error(diff)
	}
	write("b:1.5", "")
	if err := os.Chtimes(path("a")[0], time.Unix(1700000000, 5e8), time.Unix(1700000000, 5e8)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Changes{Backend: "roots", Added: path("b:1.5"), Changed: path("a")}, update()); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(path("a")[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Changes{Backend: "roots", Removed: path("a")}, update()); diff != "" {
		t.Error(diff)
	}
}

// TestForget: lists are remembered until somebody forgets them.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	s, err := Configured(payload.M("file_roots", payload.M("base", []any{dir}, "dev", []any{dir}), "hash_type",
		"sha256", "file_buffer_size", 1, "cachedir", dir))
	if err != nil {
		t.Fatal(err)
	}
	list := func(env string) any {
		v, _, err := s.Answer(payload.CmdFileList, payload.M("saltenv", env))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, env := range []string{"base", "dev"} {
		list(env)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		envs []string
		want *payload.Map
	}{
		{[]string{"prod"}, payload.NewMap(0)},
		{[]string{"base"}, payload.M("roots", []any{"base"})},
		{[]string{}, payload.M("roots", []any{"dev"})}, // as they come over the control socket
		{nil, payload.NewMap(0)},
	} {
		if got := s.Forget(tt.envs, nil); !payload.Equal(got, tt.want) {
			t.Errorf("forget %v: got %v, want %v", tt.envs, got, tt.want)
		}
	}
	if v := list("base"); !payload.Equal(v, []any{"new"}) {
		t.Errorf("list: %v", v)
	}
}

// TestAnswerToPack: packed, a piece that is read where it is packed is the one that Answer gives, and one of a file
// that has become shorter is an error.
func TestAnswerToPack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Configured(payload.M("file_roots", payload.M("base", []any{dir}), "hash_type", "sha256",
		"file_buffer_size", 4, "cachedir", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []*payload.Map{
		payload.M("path", "a", "saltenv", "base", "loc", 0), payload.M("path", "a", "saltenv", "base", "loc", 8),
		payload.M("path", "a", "saltenv", "base", "loc", 10), payload.M("path", "a", "saltenv", "base", "loc", 1000),
		payload.M("path", "b", "saltenv", "base", "loc", 0), payload.M("path", "a", "saltenv", "base"),
		payload.M("path", "a", "saltenv", "base", "loc", 0, "gzip", 5), payload.M("path", "a", "loc", 0),
	} {
		want, _, err1 := s.Answer(payload.CmdServeFile, load)
		got, _, err2 := s.AnswerToPack(payload.CmdServeFile, load)
		wantPacked, err3 := payload.Marshal(want)
		gotPacked, err4 := payload.Marshal(got)
		if err := errors.Join(err1, err2, err3, err4); err != nil || !bytes.Equal(wantPacked, gotPacked) {
			t.Errorf("%v: %q, want %q; %v", load, gotPacked, wantPacked, err)
		}
	}
	if v, _, err := s.AnswerToPack(payload.CmdServeFile, payload.M("path", "a", "saltenv", "base", "loc",
		-1)); err == nil {
		t.Errorf("offset -1: %v", v)
	}
	v, _, err := s.AnswerToPack(payload.CmdServeFile, payload.M("path", "a", "saltenv", "base", "loc", 4))
	if err := errors.Join(err, os.Truncate(path, 5)); err != nil {
		t.Fatal(err)
	}
	if b, err := payload.Marshal(v); err == nil {
		t.Errorf("of a file that has become shorter came %q", b)
	}
}
