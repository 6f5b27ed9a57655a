package spool

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, opt Options) (*Spool, int) {
	t.Helper()
	damaged := 0
	opt.Damaged = func(d setaside.Damage) {
		if !setaside.Is(d.Kept) {
			t.Errorf("%s was not set aside: %v", d.Path, d)
		}
		damaged++
	}
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s, damaged
}

func put(t *testing.T, s *Spool, returner string, v any, at time.Time) Item {
	t.Helper()
	i, err := s.Put(returner, returner, v, at)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Records survive, in their order, and are private.
func TestOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	s, _ := open(t, Options{Dir: dir, Sync: true})
	put(t, s, "redis", payload.M("n", int64(1)), noon)
	put(t, s, "mysql", payload.M("n", int64(2)), noon)
	put(t, s, "redis", payload.M("n", int64(3)), noon.Add(time.Second))
	again, damaged := open(t, Options{Dir: dir})
	if damaged != 0 || again.Len() != 3 || again.Bytes() != s.Bytes() {
		t.Fatalf("%d damaged, %d records, %d bytes; want none, 3, %d", damaged, again.Len(), again.Bytes(), s.Bytes())
	}
	if got, want := again.Lines(), []string{"redis", "mysql"}; !slices.Equal(got, want) {
		t.Errorf("returners %v, want %v", got, want)
	}
	for _, want := range []int64{1, 3} {
		i, ok := again.Next("redis")
		if !ok {
			t.Fatalf("nothing where %d should be", want)
		}
		if v, err := again.Value(i); err != nil || !payload.Equal(v, payload.M("n", want)) {
			t.Errorf("got %v, %v, want %d", v, err, want)
		}
		info, err := os.Stat(filepath.Join(dir, i.Name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if err := errors.Join(again.Remove(i), again.Remove(i)); err != nil {
			t.Error(err)
		}
	}
	if _, ok := again.Next("redis"); ok || again.Len() != 1 {
		t.Errorf("%d records are left", again.Len())
	}
	if i := put(t, again, "redis", true, noon); i.Name != fileName(3) {
		t.Errorf("a number is used again: %s", i.Name)
	}
}

// What is damaged is set aside and told of, what is unfinished goes; what is not ours stays.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, Options{Dir: dir})
	put(t, s, "redis", true, noon)
	for name, text := range map[string]string{fileName(7): "\x81", fileName(8): "", fileName(9): "\x80",
		".brine-abc": "half", "notes.txt": "mine", "9.p": "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, damaged := open(t, Options{Dir: dir})
	if damaged != 3 || again.Len() != 1 {
		t.Errorf("%d damaged, %d records, want 3 and 1", damaged, again.Len())
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 6 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, damaged = open(t, Options{Dir: dir}); damaged != 0 {
		t.Errorf("%d are damaged once more", damaged)
	}
}

// A bit that changes anywhere in a record is noticed.
func TestSpoilt(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, Options{Dir: dir})
	path := filepath.Join(dir, put(t, s, "redis", "some text", noon).Name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		b := bytes.Clone(whole)
		b[at] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, damaged := open(t, Options{Dir: dir}); damaged != 1 || again.Len() != 0 {
			t.Errorf("byte %d: %d damaged, %d records", at, damaged, again.Len())
		}
	}
}

// The records of older releases, without a checksum, are read.
func TestOlder(t *testing.T) {
	dir := t.TempDir()
	b, err := payload.MarshalBin(payload.M("returner", "redis", "line", "redis", "made", noon.Unix(), "value", "x"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fileName(3)), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, Options{Dir: dir})
	item, ok := s.Next("redis")
	if v, err := s.Value(item); !ok || err != nil || v != "x" {
		t.Errorf("got %v, %v", v, err)
	}
}

// A folder that cannot be made yet is made with the first record there is room for.
func TestNoRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := os.Symlink("nowhere", filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, Options{Dir: dir})
	if _, err := s.Put("redis", "redis", 1, noon); err == nil {
		t.Fatal("a record was kept nowhere")
	}
	if err := os.Remove(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	put(t, s, "redis", 1, noon)
}

func TestFull(t *testing.T) {
	s, _ := open(t, Options{Dir: t.TempDir(), MaxBytes: 200})
	first := put(t, s, "redis", make([]byte, 80), noon)
	if _, err := s.Put("redis", "redis", make([]byte, 120), noon); !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	if err := s.Remove(first); err != nil {
		t.Fatal(err)
	}
	put(t, s, "redis", make([]byte, 120), noon)
}

func TestExpire(t *testing.T) {
	s, _ := open(t, Options{Dir: t.TempDir(), MaxAge: time.Hour})
	put(t, s, "redis", 1, noon)
	put(t, s, "mysql", 2, noon.Add(2*time.Hour))
	old, err := s.Expire(noon.Add(2*time.Hour + time.Minute))
	if err != nil || len(old) != 1 || old[0].Returner != "redis" || s.Len() != 1 {
		t.Errorf("expired %v, %v; %d are left", old, err, s.Len())
	}
}

// A folder in which nothing can be made is an error that says so.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: filepath.Join(file, "spool")}); err == nil {
		t.Error("a folder below a file was opened")
	}
}
