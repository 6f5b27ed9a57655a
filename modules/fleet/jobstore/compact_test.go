package jobstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// always compacts a file in which a tenth is free.
var always = CompactWhen{Percent: 10}

func sizeOf(t testing.TB, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// dump is everything in a store, and checks the count of bytes on the way.
func dump(t testing.TB, s *Store) map[string]string {
	t.Helper()
	all, sum := map[string]string{}, int64(0)
	err := s.view(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				all[string(name)+"/"+string(k)] = string(v)
				if string(name) != string(bucketTotals) {
					sum += int64(len(k) + len(v))
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Bytes(); err != nil || got != sum {
		t.Errorf("the store counts %d bytes, %v; there are %d", got, err, sum)
	}
	return all
}

// fallow fills a store with jobs of long ago and removes all but a few, which leaves a file of free pages.
func fallow(t testing.TB, dir string, when CompactWhen) *Store {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	s, err := Open(Options{CacheDir: dir, Keep: time.Hour, Compact: when, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i := range 40 {
		var loads []Load
		var returns []Return
		for k := range 20 {
			jid := fmt.Sprintf("%020d", i*20+k)
			loads = append(loads, Load{JID: jid, Load: ping(jid), Announced: true})
			returns = append(returns, answer(jid, "a", strings.Repeat("x", 3000)))
		}
		if i == 38 {
			now = now.Add(2 * time.Hour)
		}
		if _, err := s.Commit(loads, returns); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Clean(now); err != nil || n != 38*20 {
		t.Fatalf("removed %d jobs, %v", n, err)
	}
	return s
}

// TestCompact: the file gets small, and what is in it stays, also after it is opened again.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := fallow(t, dir, always)
	before := dump(t, s)
	from, to, err := s.Compact(context.Background())
	if err != nil || from < 2<<20 || to > from/5 || to != sizeOf(t, s.Path()) {
		t.Fatalf("from %d to %d, %v", from, to, err)
	}
	if after := dump(t, s); len(after) != len(before) {
		t.Errorf("%d keys before, %d after", len(before), len(after))
	}
	if from, to, err := s.Compact(context.Background()); from != 0 || to != 0 || err != nil {
		t.Errorf("once more: %d, %d, %v", from, to, err)
	}
	if _, err := s.StoreReturns([]Return{answer(fmt.Sprintf("%020d", 799), "b", "later")}); err != nil {
		t.Error(err)
	}
	want := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := dump(t, openStore(t, dir))
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%q is lost", k)
		}
	}
}

func TestCompactWhen(t *testing.T) {
	for _, tt := range []struct {
		use  pageUse
		when CompactWhen
		want bool
	}{
		{pageUse{4096, 1000, 500}, CompactWhen{4096 * 1000, 50}, true},
		{pageUse{4096, 1000, 499}, CompactWhen{4096 * 1000, 50}, false},
		{pageUse{4096, 999, 900}, CompactWhen{4096 * 1000, 50}, false},
		{pageUse{4096, 1000, 1000}, CompactWhen{0, 100}, true},
	} {
		if got := tt.use.wasteful(tt.when); got != tt.want {
			t.Errorf("%v, %v: got %v", tt.use, tt.when, got)
		}
	}
	s := fallow(t, t.TempDir(), CompactWhen{})
	if from, _, err := s.Compact(context.Background()); from != 0 || err != nil {
		t.Errorf("with 0 percent: compacted %d bytes, %v", from, err)
	}
}

// TestCompactBusy writes, removes and reads while the file is written anew, again and again.
func TestCompactBusy(t *testing.T) {
	s := fallow(t, t.TempDir(), CompactWhen{Percent: 1})
	var busy sync.WaitGroup
	var done atomic.Bool
	mine := map[string]bool{}
	busy.Go(func() {
		for i := 0; !done.Load(); i++ {
			jid := fmt.Sprintf("%020d", 1_000_000+i)
			load := Load{JID: jid, Load: ping(jid), Announced: true}
			if _, err := s.Commit([]Load{load},
				[]Return{answer(jid, "a", strings.Repeat("y", rand.IntN(5000)))}); err != nil {
				t.Error(err)
				return
			}
			mine[jid] = true
		}
	})
	for range 2 {
		busy.Go(func() {
			for !done.Load() {
				if j, err := s.job(fmt.Sprintf("%020d", 799)); err != nil || j == nil {
					t.Errorf("a job that is there was not found: %v", err)
					return
				}
			}
		})
	}
	compacted := 0
	for begun := time.Now(); time.Since(begun) < time.Second || compacted < 2 && time.Since(begun) < time.Minute; {
		from, _, err := s.Compact(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if from > 0 {
			compacted++
		}
	}
	done.Store(true)
	busy.Wait()
	all := dump(t, s)
	for jid := range mine {
		if _, ok := all["jobs/"+jid]; !ok {
			t.Errorf("job %s is lost", jid)
		}
		if _, ok := all["returns/"+string(returnKey(jid, "a"))]; !ok {
			t.Errorf("the return of job %s is lost", jid)
		}
	}
	if compacted < 2 {
		t.Errorf("compacted %d times", compacted)
	}
	t.Logf("compacted %d times beside %d commits", compacted, len(mine))
}

// TestCompactCancelled: a stop in the middle leaves the old file and nothing else, and does not count as a failure of
// the disk for the next process.
func TestCompactCancelled(t *testing.T) {
	s := fallow(t, t.TempDir(), always)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("stop")
	cancel(why)
	if _, _, err := s.Compact(ctx); !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(s.Path() + compactSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new file is still there: %v", err)
	}
	dump(t, s)
}

// TestCompactReplaced: who waits for the lock of a file that is then replaced gets the new one.
func TestCompactReplaced(t *testing.T) {
	dir := t.TempDir()
	s := fallow(t, dir, always)
	got, begun := make(chan error, 1), make(chan struct{})
	go func() {
		close(begun)
		db, err := openFile(s.Path(), time.Second)
		if err == nil {
			err = errors.Join(errors.New("two have the file"), db.Close())
		}
		got <- err
	}()
	<-begun // it waits before the copy is made; if not, the test shows less
	if _, _, err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
}

// compactForever commits, cleans and compacts, and prints the number of each return once it is stored.
func compactForever(dir string) error {
	s, err := Open(Options{CacheDir: dir, Compact: CompactWhen{Percent: 1}, MaxBytes: 2 << 20})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		for {
			if _, _, err := s.Compact(context.Background()); err != nil {
				failed <- err
			}
		}
	}()
	for i := 0; ; i++ {
		jid := fmt.Sprintf("%020d", i/50)
		if _, err := s.StoreReturns([]Return{answer(jid, fmt.Sprintf("minion%06d", i),
			strings.Repeat("x", 500))}); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, i)
		select {
		case err := <-failed:
			return err
		default:
		}
	}
}

// TestCompactKilled kills a process that compacts all the time. What it acknowledged is there.
func TestCompactKilled(t *testing.T) {
	for round := range 6 {
		dir := t.TempDir()
		cmd := child("compact", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last, lines := -1, bufio.NewScanner(out)
		for until := 100 + rand.IntN(300); last < until && lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatalf("child said %q", lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			_, _ = fmt.Sscan(lines.Text(), &last)
		}
		_ = cmd.Wait()
		s := openStore(t, dir)
		for i := range last + 1 {
			if ok, err := s.Returned(fmt.Sprintf("%020d", i/50), fmt.Sprintf("minion%06d", i)); !ok || err != nil {
				t.Fatalf("round %d: acknowledged return %d of %d is lost: %v", round, i, last, err)
			}
		}
		dump(t, s)
		if _, err := os.Stat(s.Path() + compactSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("round %d: half a file is still there: %v", round, err)
		}
	}
}

// compactFull compacts into a disk without room for the new file.
func compactFull(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(Options{CacheDir: dir, Compact: always})
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 40_000, Max: unix.RLIM_INFINITY}); err != nil {
		return err
	}
	if _, _, err := s.Compact(context.Background()); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("no error of the full disk: %w", err)
	}
	if from, _, err := s.Compact(context.Background()); from != 0 || err != nil {
		return fmt.Errorf("tried again at once: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY,
		Max: unix.RLIM_INFINITY}); err != nil {
		return err
	}
	if _, err := os.Stat(s.Path() + compactSuffix); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("half a file is still there: %w", err)
	}
	_, err = s.StoreReturns([]Return{answer(fmt.Sprintf("%020d", 799), "b", "later")})
	return errors.Join(err, s.Close())
}

func TestCompactDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := fallow(t, dir, CompactWhen{})
	want := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := child("compactfull", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := dump(t, openStore(t, dir))
	if len(got) != len(want)+1 {
		t.Errorf("%d keys, want %d", len(got), len(want)+1)
	}
}

// BenchmarkCompact tells what it costs to write a store of 64 MB anew.
func BenchmarkCompact(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		s, err := Open(Options{CacheDir: dir, Compact: CompactWhen{Percent: 1}, MaxBytes: 64 << 20})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 700 {
			jid := fmt.Sprintf("%020d", i)
			returns := make([]Return, 100)
			for k := range returns {
				returns[k] = answer(jid, fmt.Sprintf("minion%d", k), strings.Repeat("x", 1000))
			}
			if _, err := s.Commit([]Load{{JID: jid, Load: ping(jid), Announced: true}}, returns); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		from, to, err := s.Compact(context.Background())
		if err != nil || from == 0 {
			b.Fatal(from, to, err)
		}
		b.ReportMetric(float64(from)/1e6, "MB-before")
		b.ReportMetric(float64(to)/1e6, "MB-after")
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
