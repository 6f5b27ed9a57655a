package queue

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/disk/setaside"
)

func open(t testing.TB, opt Options) *Queue {
	t.Helper()
	opt.Damaged = func(d setaside.Damage) { t.Errorf("damaged: %v", d) }
	q, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

func put(t testing.TB, q *Queue, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if kept, err := q.Append(time.Now(), false, []byte(text)); !kept || err != nil {
			t.Fatalf("%s: %v, %v", text, kept, err)
		}
	}
}

// take reads at most so many records and says that they are taken.
func take(t testing.TB, q *Queue, name string, most int) (out []string) {
	t.Helper()
	items, err := q.Read(name, q.End(), most, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		out = append(out, string(it.Body))
	}
	if len(items) > 0 {
		if err := q.Done(name, items[len(items)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each reader has its own place, over restarts. What was shown and not taken is shown again.
func TestPlaces(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a", "../b"}}
	q := open(t, opt)
	put(t, q, "1", "2", "3")
	same(t, take(t, q, "a", 2), "1", "2")
	if _, err := q.Read("../b", q.End(), 9, 99); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	opt.Readers = append(opt.Readers, "new")
	q = open(t, opt)
	put(t, q, "4")
	same(t, take(t, q, "a", 9), "3", "4")
	same(t, take(t, q, "../b", 9), "1", "2", "3", "4")
	same(t, take(t, q, "new", 9), "4")
	same(t, take(t, q, "a", 9))
	if entries, _ := os.ReadDir(opt.Dir); len(entries) != 4 {
		t.Errorf("the folder holds %v", entries)
	}
}

// A reader that is no longer meant holds nothing back, and does not come back to its old place.
func TestReaderGone(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a", "b"}}
	q := open(t, opt)
	put(t, q, "1")
	_ = q.Close()
	opt.Readers = []string{"b"}
	q = open(t, opt)
	same(t, take(t, q, "b", 9), "1")
	_ = q.Close()
	opt.Readers = []string{"a", "b"}
	q = open(t, opt)
	same(t, take(t, q, "a", 9))
}

// What is whole in a damaged file is read, before and behind the damage; how many are lost is told, once, and the file
// is kept.
func TestDamaged(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a", "b"}}
	q := open(t, opt)
	put(t, q, "one", "two", "three", "four")
	same(t, take(t, q, "b", 1), "one")
	_ = q.Close()
	files, _ := filepath.Glob(filepath.Join(opt.Dir, "*"+segmentSuffix))
	if len(files) != 1 {
		t.Fatal(files)
	}
	whole := readAll(t, files[0])
	spoilt := strings.Replace(whole, "two", "tWo", 1)
	if err := os.WriteFile(files[0], []byte(spoilt), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	var damages []setaside.Damage
	opt.Dropped = func(name string, n uint64, _ string) { told = append(told, fmt.Sprint(name, n)) }
	opt.Damaged = func(d setaside.Damage) { damages = append(damages, d) }
	q, err := Open(opt)
	if err != nil || len(damages) != 1 || readAll(t, damages[0].Kept) != spoilt {
		t.Fatalf("%v, %v", damages, err)
	}
	put(t, q, "five")
	same(t, take(t, q, "a", 2), "one", "three")
	same(t, take(t, q, "a", 9), "four", "five")
	same(t, take(t, q, "b", 9), "three", "four", "five")
	same(t, told, "a1", "b1")
	_ = q.Close()
}

// Damage that comes while a file is in use takes no more than the record it is in.
func TestDamagedMeanwhile(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a"}}
	q := open(t, opt)
	put(t, q, "one", "two", "three")
	var told []string
	var damages []setaside.Damage
	q.opt.Dropped = func(name string, n uint64, _ string) { told = append(told, fmt.Sprint(name, n)) }
	q.opt.Damaged = func(d setaside.Damage) { damages = append(damages, d) }
	path := q.segs[0].path
	if err := os.WriteFile(path, []byte(strings.Replace(readAll(t, path), "two", "tWo", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, take(t, q, "a", 9), "one", "three")
	put(t, q, "four")
	same(t, take(t, q, "a", 9), "four")
	if same(t, told, "a1"); len(damages) != 1 || damages[0].Path != path {
		t.Errorf("told of %v", damages)
	}
	_ = q.Close()
}

// Every file emptied, and noise in every file: it is told and kept, what comes afterwards comes through, and a reader
// whose place is not known gets all that is there.
func TestSpoilt(t *testing.T) {
	for _, tt := range []struct {
		name, pattern, with string
		want                []string
	}{
		{"records emptied", "*" + segmentSuffix, "", []string{"later"}},
		{"noise for records", "*" + segmentSuffix, strings.Repeat("noise", 4000), []string{"later"}},
		{"place emptied", "*" + placeSuffix, "", []string{"one", "two", "later"}},
		{"noise for a place", "*" + placeSuffix, "this is noise", []string{"one", "two", "later"}},
	} {
		opt := Options{Dir: t.TempDir(), Readers: []string{"a"}}
		q := open(t, opt)
		put(t, q, "one", "two")
		same(t, take(t, q, "a", 1), "one")
		_ = q.Close()
		files, _ := filepath.Glob(filepath.Join(opt.Dir, tt.pattern))
		if len(files) != 1 {
			t.Fatal(tt.name, files)
		}
		if err := os.WriteFile(files[0], []byte(tt.with), 0o600); err != nil {
			t.Fatal(err)
		}
		var damages []setaside.Damage
		opt.Damaged = func(d setaside.Damage) { damages = append(damages, d) }
		q, err := Open(opt)
		if err != nil || len(damages) != 1 || damages[0].Path != files[0] || readAll(t, damages[0].Kept) != tt.with {
			t.Fatalf("%s: told of %v, %v", tt.name, damages, err)
		}
		put(t, q, "later")
		same(t, take(t, q, "a", 9), tt.want...)
		_ = q.Close()
		q = open(t, opt)
		put(t, q, "last")
		same(t, take(t, q, "a", 9), "last")
		_ = q.Close()
	}
}

// What was shown and not taken is shown again, when it was the rest of one file and the beginning of the next, too.
func TestShownAgain(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a"}}
	q := open(t, opt)
	put(t, q, "one", "two")
	q.segs[0].broken = true
	put(t, q, "three", "four")
	for range 2 {
		items, err := q.Read("a", q.End(), 3, 1<<20)
		if err != nil || len(items) != 3 || string(items[0].Body) != "one" {
			t.Fatalf("%d items, %v", len(items), err)
		}
	}
	same(t, take(t, q, "a", 9), "one", "two", "three", "four")
	_ = q.Close()
}

// Files of a release with another form are read to their end.
func TestOlder(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Readers: []string{"a"}}
	q := open(t, opt)
	put(t, q, "zero")
	same(t, take(t, q, "a", 1), "zero")
	_ = q.Close()
	files, _ := filepath.Glob(filepath.Join(opt.Dir, "*"+segmentSuffix))
	var b []byte
	for _, text := range []string{"zero", "one", "two"} {
		rest := append(binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano())), text...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(binary.BigEndian.AppendUint32(b, crc32.Checksum(rest, castagnoli)), rest...)
	}
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	q = open(t, opt)
	put(t, q, "three")
	same(t, take(t, q, "a", 9), "one", "two", "three")
	_ = q.Close()
}

// A queue opens where the disk takes nothing, and keeps in memory what comes until it does.
func TestOpenedWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	opt := Options{Dir: filepath.Join(dir, "file", "q"), Readers: []string{"a"}, Memory: 1000}
	if err := os.MkdirAll(filepath.Dir(opt.Dir), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Dir(opt.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Dir(opt.Dir)); err != nil { // no folder can be made
		t.Fatal(err)
	}
	q := open(t, opt)
	if kept, err := q.Append(time.Now(), false, []byte("one")); !kept || err == nil {
		t.Fatal(kept, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "nowhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	if kept, err := q.Append(time.Now().Add(2*diskPause), false, []byte("two")); !kept || err != nil {
		t.Fatal(kept, err)
	}
	same(t, take(t, q, "a", 9), "one", "two")
	_ = q.Close()
	q = open(t, opt)
	put(t, q, "three")
	same(t, take(t, q, "a", 9), "three")
	_ = q.Close()
}

func readAll(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The bound drops the oldest, for those who do not have it yet, and says how many.
func TestBound(t *testing.T) {
	told := map[string]uint64{}
	opt := Options{Dir: t.TempDir(), Readers: []string{"slow", "quick"}, MaxBytes: 64 << 10,
		Dropped: func(name string, n uint64, _ string) { told[name] += n }}
	q := open(t, opt)
	text := strings.Repeat("x", 1000)
	const total = 500
	for range total {
		put(t, q, text)
		same(t, take(t, q, "quick", 9), text)
		if disk, _ := q.Bytes(); disk > opt.MaxBytes {
			t.Fatalf("%d bytes on disk", disk)
		}
	}
	rest := uint64(0)
	for {
		n := len(take(t, q, "slow", 7))
		if n == 0 {
			break
		}
		rest += uint64(n)
	}
	if told["quick"] != 0 || rest == 0 || rest+told["slow"] != total {
		t.Errorf("%d taken, %v dropped, of %d", rest, told, total)
	}
	if disk, _ := q.Bytes(); disk > 2*minTrim {
		t.Errorf("%d bytes are left", disk)
	}
	if _, err := q.Append(time.Now(), false, make([]byte, 65<<10)); err == nil {
		t.Error("a record larger than the bound is taken")
	}
}

// A record that is larger than what is read at once is read alone.
func TestLarge(t *testing.T) {
	q := open(t, Options{Dir: t.TempDir(), Readers: []string{"a"}})
	large := strings.Repeat("y", 10<<20)
	put(t, q, "1", large, "3")
	same(t, take(t, q, "a", 9), "1")
	if got := take(t, q, "a", 9); len(got) != 1 || got[0] != large {
		t.Errorf("%d records", len(got))
	}
	same(t, take(t, q, "a", 9), "3")
}

// What grew too old goes, by its time.
func TestExpire(t *testing.T) {
	var dropped uint64
	opt := Options{Dir: t.TempDir(), Readers: []string{"a"}, MaxAge: time.Hour, Dropped: func(_ string, n uint64,
		_ string) {
		dropped += n
	}}
	q := open(t, opt)
	now := time.Now()
	for _, age := range []time.Duration{3 * time.Hour, 2 * time.Hour} {
		if _, err := q.Append(now.Add(-age), false, []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	q.Expire(now.Add(-90 * time.Minute)) // closes the file
	if dropped != 0 {
		t.Errorf("%d dropped too early", dropped)
	}
	put(t, q, "young")
	q.Expire(now)
	same(t, take(t, q, "a", 9), "young")
	if dropped != 2 {
		t.Errorf("%d dropped, want 2", dropped)
	}
}

// While the disk takes nothing records wait in memory, in their order, as far as there is room; without room for that
// Append fails and keeps nothing.
func TestNoDisk(t *testing.T) {
	opt := Options{Dir: filepath.Join(t.TempDir(), "q"), Readers: []string{"a"}, Memory: 100}
	q := open(t, opt)
	put(t, q, "1")
	same(t, take(t, q, "a", 9), "1")
	q.segs[0].broken = true // the next record wants a new file
	if err := os.Rename(opt.Dir, opt.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, text := range []string{"2", "3"} {
		if kept, err := q.Append(now, false, []byte(text)); !kept || err == nil {
			t.Fatalf("%s: %v, %v", text, kept, err)
		}
	}
	if kept, err := q.Append(now, false, make([]byte, 90)); kept || err == nil {
		t.Errorf("beyond the bound: %v, %v", kept, err)
	}
	same(t, take(t, q, "a", 1), "2")
	if err := os.Rename(opt.Dir+".away", opt.Dir); err != nil {
		t.Fatal(err)
	}
	if kept, err := q.Append(now.Add(2*diskPause), false, []byte("4")); !kept || err != nil {
		t.Fatal(kept, err)
	}
	same(t, take(t, q, "a", 9), "3", "4")
	if _, memory := q.Bytes(); memory != 0 {
		t.Errorf("%d bytes are in memory", memory)
	}
	_ = q.Close()
	q = open(t, opt)
	put(t, q, "5")
	same(t, take(t, q, "a", 9), "5")
}
