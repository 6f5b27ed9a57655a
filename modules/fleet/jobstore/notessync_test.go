package jobstore

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/wire/disk/recordlog"
	"brine/wire/payload"
)

// TestSyncing: whoever waits gets the outcome of a flush that began after it came, and many share one.
func TestSyncing(t *testing.T) {
	var s syncing
	var written, flushes atomic.Int64
	var wg sync.WaitGroup
	const n = 200
	for range n {
		wg.Go(func() {
			mine := written.Add(1)
			var seen int64
			if err := s.wait(func() error {
				seen = written.Load()
				for flushes.Add(1) == 1 && written.Load() < n { // the first one lasts until everybody is there
					flushes.Add(-1)
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
	if f := flushes.Load(); f == 0 || f > n/2 {
		t.Errorf("%d flushes for %d", f, n)
	}
	no := errors.New("input/output error")
	if err := s.wait(func() error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

// TestSyncedNotes: notes that wait for the disk are read as others are, also when their file is written anew meanwhile.
func TestSyncedNotes(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{CacheDir: dir, SyncNotes: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.notes.most = recordlog.Begin + 2000
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			jid := fmt.Sprintf("2026010100000000%04d", i)
			if err := s.Note(Load{JID: jid, Load: ping(jid)}); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				if err := s.notes.stored([]string{jid}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(afterDeath(t, dir).notes.left); n != 0 { // they are stored when the store opens
		t.Errorf("%d notes are left", n)
	}
	for i := 1; i < 40; i += 2 {
		jid := fmt.Sprintf("2026010100000000%04d", i)
		if l, ok := s.notes.get(jid); !ok || l.Load.Str("jid") != jid {
			t.Errorf("note of %s: %v, %v", jid, l, ok)
		}
	}
}

// BenchmarkNotes is what journal_fsync costs a publication that is alone, and one of many: notes with it and without
// take turns.
func BenchmarkNotes(b *testing.B) {
	for _, atOnce := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d at once", atOnce), func(b *testing.B) {
			var took [2]time.Duration
			var stores [2]*Store
			for i := range stores {
				var err error
				if stores[i], err = Open(Options{CacheDir: b.TempDir(), SyncNotes: i == 1}); err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { stores[i].Close() })
			}
			load, made := payload.M("fun", "test.ping", "tgt", "*", "arg", []any{}, "user", "root"), 0
			for b.Loop() {
				for i, s := range stores {
					began := time.Now()
					var wg sync.WaitGroup
					for k := range atOnce {
						wg.Go(func() {
							if err := s.Note(Load{JID: fmt.Sprintf("2026010100000000%04d", k),
								Load: load}); err != nil {
								b.Error(err)
							}
						})
					}
					wg.Wait()
					took[i] += time.Since(began)
				}
				made += atOnce
			}
			b.ReportMetric(took[0].Seconds()*1e6/float64(made), "us/note-off")
			b.ReportMetric(took[1].Seconds()*1e6/float64(made), "us/note-on")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
		})
	}
}
