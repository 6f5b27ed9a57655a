package recordlog

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestFlushes: whoever waits gets the outcome of a flush that began after it came, and many share one.
func TestFlushes(t *testing.T) {
	var s flushes
	var written, made atomic.Int64
	var wg sync.WaitGroup
	const n = 200
	for range n {
		wg.Go(func() {
			mine := written.Add(1)
			var seen int64
			if err := s.wait(func() error {
				seen = written.Load()
				for made.Add(1) == 1 && written.Load() < n { // the first one lasts until everybody is there
					made.Add(-1)
					runtime.Gosched()
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			if seen != 0 && seen < mine { // of those who flushed themselves it is known
				t.Errorf("flushed %d, not %d", seen, mine)
			}
		})
	}
	wg.Wait()
	if f := made.Load(); f == 0 || f > n/2 {
		t.Errorf("%d flushes for %d", f, n)
	}
	no := errors.New("input/output error")
	if err := s.wait(func() error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

// texts opens a log and tells the bodies of its records.
func texts(t *testing.T, path string, o Options) (l *Log, got []string, damage error) {
	t.Helper()
	l, damage, err := Open(path, o, func(_ int64, body []byte) error {
		got = append(got, string(body))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, got, damage
}

func text(s string) Body { return func(b []byte) []byte { return append(b, s...) } }

func appends(t *testing.T, l *Log, all ...string) (at int64) {
	t.Helper()
	bodies := make([]Body, len(all))
	for i, s := range all {
		bodies[i] = text(s)
	}
	at, err := l.Append(true, bodies...)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func holds(t *testing.T, path string, want ...string) *Log {
	t.Helper()
	l, got, damage := texts(t, path, Options{})
	if !slices.Equal(got, want) || damage != nil {
		t.Errorf("it holds %q, %v; want %q", got, damage, want)
	}
	return l
}

// TestLog: records are found again, by their place and by the next process, also when the file was written anew or
// emptied.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := holds(t, path)
	at := appends(t, l, "one", "two")
	if b, err := l.Read(at, 3); err != nil || string(b) != "one" {
		t.Fatalf("%q, %v", b, err)
	}
	if _, err := l.Read(at+1, 3); !errors.Is(err, ErrLost) {
		t.Errorf("no record: %v", err)
	}
	if _, err := l.Read(l.Size()+100, 3); !errors.Is(err, ErrLost) {
		t.Errorf("behind the end: %v", err)
	}
	holds(t, path, "one", "two")
	moved := false
	if err := l.Rewrite(func(put func(Body) (int64, error)) error {
		var err error
		at, err = put(text("two"))
		return err
	}, func() { moved = true }); err != nil || !moved {
		t.Fatal(moved, err)
	}
	if b, err := l.Read(at, 3); err != nil || string(b) != "two" {
		t.Fatalf("%q, %v", b, err)
	}
	appends(t, l, "three")
	holds(t, path, "two", "three")
	if err := errors.Join(l.Flush(), l.Empty()); err != nil || l.Used() != 0 {
		t.Fatal(l.Used(), err)
	}
	appends(t, l, "four")
	holds(t, path, "four")
	_ = l.Close()
	if _, err := l.Append(false, text("five")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	holds(t, path, "four")
}

// TestFull: what the disk does not take whole leaves nothing behind, and the records before it stay. The limit of this
// process on the size of files stands for a full disk.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := holds(t, path)
	appends(t, l, "one")
	size := l.Size()
	limited(t, uint64(size)+20, func() {
		if _, err := l.Append(false, text("two"), text(strings.Repeat("x", 100))); err == nil || l.Size() != size {
			t.Errorf("%d bytes, %v", l.Size(), err)
		}
	})
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		t.Fatal(info.Size(), err)
	}
	appends(t, l, "three")
	holds(t, path, "one", "three")
}

// limited runs f while no file of this process may grow beyond a size.
func limited(t *testing.T, size uint64, f func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// TestMadeLater: a file that cannot be made when the log opens is made with the first record that the disk takes.
func TestMadeLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	path := filepath.Join(dir, "log")
	l := holds(t, path)
	if _, err := l.Append(false, text("lost")); err == nil {
		t.Fatal("a record in no folder")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	appends(t, l, "kept")
	holds(t, path, "kept")
}

// TestSetAside: a damaged file is kept, and another one with what is whole takes its place; where nothing can be put
// there, records go on behind the damage.
func TestSetAside(t *testing.T) {
	for _, refused := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "log")
		l := holds(t, path)
		appends(t, l, "one", "two", "three")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole[len(whole)-1-before-5-1] ^= 1 // in "two"
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		l, got, damage := texts(t, path, Options{Sync: true})
		if !slices.Equal(got, []string{"one", "three"}) || !errors.Is(damage, ErrDamaged) {
			t.Fatalf("%q, %v", got, damage)
		}
		d, err := l.SetAside(damage, func(put func(Body) (int64, error)) error {
			if refused {
				return syscall.ENOSPC
			}
			for _, s := range got {
				if _, err := put(text(s)); err != nil {
					return err
				}
			}
			return nil
		}, nil)
		if errors.Is(d.Err, syscall.ENOSPC) != refused || (err != nil) != refused || (d.Kept == "") != refused {
			t.Errorf("told of %v", d)
		}
		appends(t, l, "four")
		if _, got, damage = texts(t, path, Options{}); !slices.Equal(got, []string{"one", "three", "four"}) ||
			(damage != nil) != refused {
			t.Errorf("%q, %v", got, damage)
		}
	}
}

// TestLock: a log that somebody else has does not open until it is closed, and one whose file is removed says so.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _, _ := texts(t, path, Options{Lock: true})
	nothing := func(int64, []byte) error { return nil }
	for range 2 {
		if _, _, err := Open(path, Options{Lock: true}, nothing); !errors.Is(err, ErrTaken) {
			t.Errorf("got %v", err)
		}
		if err := l.Rewrite(Nothing, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, _ = texts(t, path, Options{Lock: true})
	if err := os.Truncate(path, 100); err != nil || l.Intact() || l.Removed() {
		t.Error("it is as it was")
	}
	if err := os.Remove(path); err != nil || !l.Removed() {
		t.Error("it is there")
	}
}
