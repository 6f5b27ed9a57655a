package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// watched makes a cache of the texts in the folders one and two below dir, and counts what it reads.
func watched(t testing.TB, dir string) (c *nameCache[string], reads *atomic.Int64) {
	t.Helper()
	reads = &atomic.Int64{}
	c = &nameCache[string]{folders: []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}}
	c.read = func(name string) (string, bool) {
		reads.Add(1)
		for _, f := range c.folders {
			if b, err := os.ReadFile(filepath.Join(f, name)); err == nil {
				return string(b), true
			}
		}
		return "", false
	}
	t.Cleanup(c.close)
	return c, reads
}

func needsWatch(t testing.TB, dir string) {
	t.Helper()
	w, err := newWatch([]string{filepath.Join(dir, "one")})
	if err != nil {
		t.Skipf("folders cannot be watched here: %v", err)
	}
	w.close()
}

// TestNameCacheSeesChanges: whatever happens to a file or its folder counts with the next look.
func TestNameCacheSeesChanges(t *testing.T) {
	dir := t.TempDir()
	c, _ := watched(t, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func()
		want   string
	}{
		{"no folder", func() {}, ""},
		{"folder two and file made", func() { writeFile(t, in("two/a"), "two") }, "two"},
		{"folder one and file made", func() { writeFile(t, in("one/a"), "one") }, "one"},
		{"written in place", func() { writeFile(t, in("one/a"), "ONE") }, "ONE"},
		{"replaced by another file", func() {
			writeFile(t, in("one/b"), "new")
			do(os.Rename(in("one/b"), in("one/a")))
		}, "new"},
		{"removed", func() { do(os.Remove(in("one/a"))) }, "two"},
		{"moved between the folders", func() { do(os.Rename(in("two/a"), in("one/a"))) }, "two"},
		{"folder renamed", func() { do(os.Rename(in("one"), in("three"))) }, ""},
		{"file in the renamed folder", func() { writeFile(t, in("three/a"), "three") }, ""},
		{"folder renamed back", func() { do(os.Rename(in("three"), in("one"))) }, "three"},
		{"folder removed and made again", func() {
			do(os.RemoveAll(in("one")))
			writeFile(t, in("one/a"), "again")
		}, "again"},
		{"another folder in its place", func() {
			writeFile(t, in("other/a"), "other")
			do(os.Rename(in("one"), in("old")))
			do(os.Rename(in("other"), in("one")))
		}, "other"},
		{"file made unreadable by a folder", func() {
			do(os.Remove(in("one/a")))
			do(os.Mkdir(in("one/a"), 0o700))
		}, ""},
		{"all removed", func() { do(os.RemoveAll(in("one"))); do(os.RemoveAll(in("two"))) }, ""},
	} {
		tt.change()
		for range 3 {
			if got, ok := c.get("a"); got != tt.want || ok != (tt.want != "") {
				t.Errorf("%s: got %q, %v, want %q", tt.name, got, ok, tt.want)
			}
		}
	}
}

// TestNameCacheReadsOnce: while nothing changes the disk is left alone, and other names do not matter.
func TestNameCacheReadsOnce(t *testing.T) {
	dir := t.TempDir()
	c, reads := watched(t, dir)
	writeFile(t, filepath.Join(dir, "one/a"), "A")
	writeFile(t, filepath.Join(dir, "one/b"), "B")
	needsWatch(t, dir)
	for try := 0; ; try++ { // a round that takes longer than recheck says nothing
		begin := time.Now()
		writeFile(t, filepath.Join(dir, "one/a"), "A") // what an earlier round has read may be about to expire
		c.get("a")
		before := reads.Load()
		for range 100 {
			c.get("a")
		}
		writeFile(t, filepath.Join(dir, "one/b"), "B again")
		c.get("a")
		if reads.Load() == before {
			break
		}
		if time.Since(begin) < recheck/2 || try > 20 {
			t.Fatalf("%d reads of what did not change", reads.Load()-before)
		}
	}
	c.close()
	before := reads.Load()
	for range 10 {
		if got, _ := c.get("b"); got != "B again" {
			t.Errorf("got %q", got)
		}
	}
	if reads.Load() != before+10 {
		t.Error("something is remembered without a watch")
	}
}

// TestNameCacheBusy: a change that was made before a look counts for it, however many look at the same time.
func TestNameCacheBusy(t *testing.T) {
	dir := t.TempDir()
	c, _ := watched(t, dir)
	path := filepath.Join(dir, "one/a")
	writeFile(t, path, "0")
	var least atomic.Int64
	stop, done := make(chan struct{}), make(chan error, 4)
	for range 4 {
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				floor := least.Load()
				text, ok := c.get("a")
				var n int64
				if _, err := fmt.Sscan(text, &n); !ok || err != nil || n < floor {
					done <- fmt.Errorf("got %q, %v after %d was written", text, ok, floor)
					return
				}
				runtime.Gosched()
			}
		}()
	}
	for n := range int64(300) {
		writeFile(t, path+".tmp", fmt.Sprint(n))
		if err := os.Rename(path+".tmp", path); err != nil {
			t.Fatal(err)
		}
		least.Store(n)
	}
	close(stop)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// lossy is a watch that has lost notes, or failed.
type lossy struct {
	err    error
	closed bool
}

func (l *lossy) changes(each func(string)) error {
	if l.err == nil {
		each("")
	}
	return l.err
}

func (l *lossy) close() { l.closed = true }

// TestNameCacheLosesNotes: after lost notes nothing that is remembered counts.
func TestNameCacheLosesNotes(t *testing.T) {
	for _, err := range []error{nil, errors.New("no more")} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "one/a"), "A")
		c, reads := watched(t, dir)
		l := &lossy{err: err}
		c.watch, c.values = l, map[string]remembered[string]{"a": {"old", time.Now().Add(time.Hour)}}
		if got, ok := c.get("a"); got != "A" || !ok || reads.Load() != 1 || !l.closed {
			t.Errorf("error %v: got %q, %v after %d reads, watch closed: %v", err, got, ok, reads.Load(), l.closed)
		}
	}
}

// TestNameCacheExpires: what is remembered is looked at again, notes or not.
func TestNameCacheExpires(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "one/a"), "A")
	needsWatch(t, dir)
	c, _ := watched(t, dir)
	c.get("a")
	c.values["a"] = remembered[string]{"old", time.Now().Add(-time.Nanosecond)}
	if got, _ := c.get("a"); got != "A" {
		t.Errorf("got %q", got)
	}
}

// BenchmarkAccepted asks for one accepted key again and again, with and without a watch.
func BenchmarkAccepted(b *testing.B) {
	for _, watch := range []bool{true, false} {
		b.Run(fmt.Sprintf("watch=%v", watch), func(b *testing.B) {
			s, dir := newStore(b, map[string]string{"minions/web1": "one", "minions_pre/x": "",
				"minions_rejected/x": ""})
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "minions/web1"), old, old); err != nil {
				b.Fatal(err)
			}
			a := s.ForAuth(0)
			defer a.Close()
			if !watch {
				a.Close()
			}
			for b.Loop() {
				if _, ok := a.Accepted("web1"); !ok {
					b.Fatal("not accepted")
				}
			}
		})
	}
}
