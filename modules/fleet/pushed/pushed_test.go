package pushed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var someTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newStore(t *testing.T, most int64) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	return &Store{Dir: func(id string) string { return filepath.Join(dir, id, "files") }, MaxBytes: most}, dir
}

// TestModes: nobody else reads what minions push, what an earlier version left included.
func TestModes(t *testing.T) {
	s, dir := newStore(t, 0)
	old := filepath.Join(dir, "m1", "files")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "again"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"again", "etc/shadow"} {
		if err := s.Write("m1", rel, 0, []byte("x"), someTime); err != nil {
			t.Fatal(err)
		}
	}
	for rel, want := range map[string]os.FileMode{".": 0o700 | os.ModeDir, "again": 0o600, "etc": 0o700 | os.ModeDir,
		"etc/shadow": 0o600} {
		if info, err := os.Stat(filepath.Join(old, rel)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", rel, info.Mode(), err, want)
		}
	}
}

// TestFull: all files of a minion share a bound, names and directories count, other minions have their own, and the
// files of before are counted.
func TestFull(t *testing.T) {
	s, dir := newStore(t, 100_000)
	put := func(id, rel string, offset int64, n int, at time.Time) error {
		return s.Write(id, rel, offset, make([]byte, n), at)
	}
	for _, tt := range []struct {
		name, id, rel string
		offset        int64
		n             int
		want          error
	}{
		{"fits", "m1", "a", 0, 50_000, nil},
		{"a second one does not", "m1", "b", 0, 50_000, ErrFull},
		{"nor the first one's end", "m1", "a", 50_000, 50_000, ErrFull},
		{"nor far behind it", "m1", "a", 1 << 40, 1, ErrFull},
		{"the first one anew", "m1", "a", 0, 60_000, nil},
		{"shorter", "m1", "a", 0, 10, nil},
		{"now there is room", "m1", "b", 0, 50_000, nil},
		{"another minion", "m2", "b", 0, 90_000, nil},
		{"directories count", "m1", "1/2/3/4/5/6/7/8/9/10/11/12", 0, 1, ErrFull},
	} {
		if err := put(tt.id, tt.rel, tt.offset, tt.n, someTime); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m1/files/1")); !os.IsNotExist(err) {
		t.Errorf("a refused file has made a directory: %v", err)
	}
	s = &Store{Dir: s.Dir, MaxBytes: s.MaxBytes}
	if err := put("m1", "c", 0, 50_000, someTime); !errors.Is(err, ErrFull) {
		t.Errorf("after a new start: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "m1")); err != nil {
		t.Fatal(err)
	}
	if err := put("m1", "c", 0, 50_000, someTime.Add(2*recount)); err != nil {
		t.Errorf("after its files have gone: %v", err)
	}
}

// TestLinks: no link leads out.
func TestLinks(t *testing.T) {
	s, dir := newStore(t, 0)
	if err := s.Write("m1", "a", 0, nil, someTime); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": outside, "dir": dir} {
		if err := os.Symlink(to, filepath.Join(dir, "m1/files", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rel := range []string{"link", "dir/outside"} {
		if err := s.Write("m1", rel, 0, []byte("theirs"), someTime); err == nil {
			t.Errorf("%s was written through", rel)
		}
	}
	if b, err := os.ReadFile(outside); string(b) != "mine" {
		t.Errorf("got %q, %v", b, err)
	}
}

// TestLinkWithin: a piece that is written through a link takes no more room than one that is written to the file
// itself.
func TestLinkWithin(t *testing.T) {
	s, dir := newStore(t, 100_000)
	if err := s.Write("m1", "a", 0, make([]byte, 60_000), someTime); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "m1/files/link")); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("m1", "link", 0, make([]byte, 60_000), someTime); err != nil {
		t.Errorf("the same size again: %v", err)
	}
	if err := s.Write("m1", "link", 60_000, make([]byte, 40_000), someTime); !errors.Is(err, ErrFull) {
		t.Errorf("more than there is room for: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "m1/files/a")); err != nil || info.Size() != 60_000 {
		t.Errorf("the file: %v, %v", info, err)
	}
}

func TestRel(t *testing.T) {
	for _, tt := range []struct {
		names []any
		rel   string
		ok    bool
	}{
		{[]any{"etc", "motd"}, "etc/motd", true},
		{[]any{"", "a"}, "a", true},
		{[]any{}, "", false},
		{[]any{"."}, "", false},
		{[]any{".."}, "", false},
		{[]any{"a/../../b"}, "", false},
		{[]any{"a", "..", "b"}, "", false}, // local, but Salt takes no such name
		{[]any{"/etc/motd"}, "", false},
		{[]any{"a", 1}, "", false},
		{[]any{"a\x00b"}, "", false},
		{[]any{strings.Repeat("a/", 2049)}, "", false},
	} {
		if rel, ok := Rel(tt.names); ok != tt.ok || ok && rel != tt.rel {
			t.Errorf("%q: got %q, %v", tt.names, rel, ok)
		}
	}
}
