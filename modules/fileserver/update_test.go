package fileserver

import (
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
	opts := payload.M("file_roots", payload.M("base", []any{dir}, 7, []any{dir}), "fileserver_backend", []any{"roots"}, "hash_type", "SHA256",
		"file_buffer_size", 1<<20, "cachedir", dir, "file_ignore_regex", "(", "file_ignore_glob", []any{"*.bak"})
	s, err := Configured(opts)
	if s == nil || err == nil {
		t.Fatalf("a bad pattern: %v, %v", s, err)
	}
	if diff := cmp.Diff([]string{"7", "base"}, s.Envs(nil)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []*payload.Map{payload.M("fileserver_backend", []any{"roots", "gitfs"}), payload.M("hash_type", "crc32"), payload.M("file_buffer_size", 0)} {
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

// TestBackends: they stand in the order of fileserver_backend, each once; one that cannot work with the other options is named and
// left out, and none at all is an error.
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
		s, err := Configured(payload.M("hash_type", "md5", "file_buffer_size", 1, "fileserver_backend", tt.backends, "file_recv", tt.receives,
			"roots_update_interval", 3), other)
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
			if want := map[string]Rhythm{"roots": {"roots", 3 * time.Second, false}, "other": {"other", 7 * time.Second, true}}[r.Backend]; r != want {
				t.Errorf("%+v, want %+v", r, want)
			}
		}
	}
}

// TestUpdate: what came, went and changed since the update before is told, also by a server that was not there then.
func TestUpdate(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	opts := payload.M("file_roots", payload.M("base", []any{dir}), "hash_type", "sha256", "file_buffer_size", 1, "cachedir", cache)
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
	s, err := Configured(payload.M("file_roots", payload.M("base", []any{dir}, "dev", []any{dir}), "hash_type", "sha256", "file_buffer_size", 1, "cachedir", dir))
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

// TestReuse: the room of a piece that is given back is that of another one, and nothing else is taken for a piece.
func TestReuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Configured(payload.M("file_roots", payload.M("base", []any{dir}), "hash_type", "sha256", "file_buffer_size", 4, "cachedir", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []any{nil, "", []any{}, payload.NewMap(0), payload.M("data", "text"), (*payload.Map)(nil)} {
		s.Reuse(reply)
	}
	for loc, want := range []string{"0123", "1234", "2345"} {
		v, _, err := s.Answer(payload.CmdServeFile, payload.M("path", "a", "saltenv", "base", "loc", loc))
		if err != nil || string(v.(*payload.Map).Bytes("data")) != want {
			t.Fatalf("piece at %d: %v, %v", loc, v, err)
		}
		if _, ok := v.(*payload.Map).Value("data").([]byte); !ok {
			t.Errorf("a piece is a %T: it was copied", v.(*payload.Map).Value("data"))
		}
		s.Reuse(v)
	}
	if again := testing.AllocsPerRun(100, func() { s.Reuse(payload.M("data", s.room(4))) }); again > 5 {
		t.Errorf("%v allocations", again)
	}
}
