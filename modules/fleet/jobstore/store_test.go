package jobstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled makes a job store of several pages and returns its file, closed.
func filled(t testing.TB, dir string) string {
	t.Helper()
	s := openStore(t, dir)
	for i := range 20 {
		jid := fmt.Sprintf("%020d", i)
		if _, err := s.Commit([]Load{{JID: jid, Load: ping(jid)}},
			[]Return{answer(jid, "a", strings.Repeat("x", 3000))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.Path()
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if _, err := openFile(s.Path(), time.Millisecond); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
}

func TestOptionErrors(t *testing.T) {
	if _, err := Open(Options{CacheDir: t.TempDir(), HashType: "crc"}); err == nil || !strings.Contains(err.Error(),
		`unknown hash_type "crc"`) {
		t.Errorf("got %v", err)
	}
	if _, err := Open(Options{CacheDir: t.TempDir() + "/none"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
}

func TestFormatVersion(t *testing.T) {
	dir := t.TempDir()
	db, err := bbolt.Open(filled(t, dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketTotals).Put(keyVersion, []byte{9})
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{CacheDir: dir}); err == nil || !strings.Contains(err.Error(),
		"its format has version [9], this program knows 1") {
		t.Errorf("got %v", err)
	}
}

// TestTotals keeps the number of bytes true through additions, replacements and removals.
func TestTotals(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	s.opt.MaxBytes, s.opt.EndTimes = 20_000, true
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		jid := fmt.Sprintf("%020d", random.IntN(40))
		var loads []Load
		if random.IntN(2) == 0 {
			loads = []Load{{JID: jid, Load: ping(jid), Minions: []string{fmt.Sprint("m", i%7)},
				By: []string{"", "m1"}[random.IntN(2)]}}
		}
		commit(t, s, loads, answer(jid, fmt.Sprint("m", random.IntN(5)), strings.Repeat("x", random.IntN(900))))
	}
	want := int64(0)
	err := s.view(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder} {
			err := tx.Bucket(name).ForEach(func(k, v []byte) error {
				want += int64(len(k) + len(v))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Bytes(); got != want || err != nil || got > 20_000 || got < 10_000 {
		t.Errorf("got %d, %v; the file holds %d", got, err, want)
	}
}

// TestReadersBesideWriter runs readers while returns are stored and jobs removed.
func TestReadersBesideWriter(t *testing.T) {
	s := openStore(t, t.TempDir())
	s.opt.MaxBytes = 30_000
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				jid := fmt.Sprintf("%020d", i%50)
				if _, err := s.GetLoad(jid); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.GetJID(jid); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.GetJIDs(Filter{Count: 3}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 50 {
		jid := fmt.Sprintf("%020d", i)
		commit(t, s, []Load{{JID: jid, Load: ping(jid)}}, answer(jid, "a", strings.Repeat("x", 2000)),
			answer(jid, "b", 1))
	}
	close(done)
	wg.Wait()
}

// TestFilesFail lets the files for Salt's tools fail: the job is stored all the same, and the fault is told.
func TestFilesFail(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "jobs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := s.Commit([]Load{{JID: jid1, Load: ping(jid1)}}, []Return{answer(jid1, "a", 1)})
	if err != nil || res.Files == nil || !strings.Contains(res.Files.Error(), "files of job "+jid1) {
		t.Errorf("got %v, %v; want only a fault of the files", res.Files, err)
	}
	if getLoad(t, s, jid1) == nil || getJID(t, s, jid1).Len() != 1 {
		t.Error("the job was not stored")
	}
	if s.Announce(Load{JID: jid1, Load: ping(jid1)}) == nil {
		t.Error("Announce did not tell")
	}
}

// TestAnnouncedOnly: a job whose load did not come to a commit is known by its files, and its first return does not
// take another load for it.
func TestAnnouncedOnly(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for jid, noCache := range map[string]bool{jid1: false, jid2: true} {
		if err := s.Announce(Load{JID: jid, Load: ping(jid).Set("tgt", "web*"), Minions: []string{"web2", "web1"},
			NoCache: noCache}); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			got := getLoad(t, s, jid)
			if got.Str("tgt") != "web*" || !payload.Equal(got.Value("Minions"), []any{"web1", "web2"}) {
				t.Errorf("%s: got %v", when, got)
			}
			if load, err := s.layout.load(jobDir(t, dir, jid)); err != nil || load.Str("tgt") != "web*" {
				t.Errorf("%s: the file holds %v, %v", when, load, err)
			}
		}
		check("announced")
		commit(t, s, nil, answer(jid, "web1", true))
		check("returned")
		if stored, err := s.Returned(jid, "web1"); err != nil || stored == noCache {
			t.Errorf("return is stored: %v, %v, nocache %v", stored, err, noCache)
		}
	}
	if got := getLoad(t, s, jid3); got != nil {
		t.Errorf("nobody announced it, got %v", got)
	}
}

// TestSameMinions: the lists of jobs for the same minions are one file, until one of them grows.
func TestSameMinions(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for _, jid := range []string{jid1, jid2} {
		if err := s.Announce(Load{JID: jid, Load: ping(jid), Minions: []string{"web2", "web1"}}); err != nil {
			t.Fatal(err)
		}
	}
	inode := func(jid string) uint64 {
		info, err := os.Stat(filepath.Join(jobDir(t, dir, jid), fileMinions))
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Ino
	}
	if inode(jid1) != inode(jid2) {
		t.Error("the same list was written twice")
	}
	if err := s.Announce(Load{JID: jid2, Minions: []string{"web3"}}); err != nil {
		t.Fatal(err)
	}
	if got := s.layout.minions(jobDir(t, dir, jid1)); !slices.Equal(got, []string{"web1", "web2"}) {
		t.Errorf("the list of another job became %q", got)
	}
	if got := s.layout.minions(jobDir(t, dir, jid2)); !slices.Equal(got, []string{"web1", "web2", "web3"}) {
		t.Errorf("the list became %q", got)
	}
	if err := os.RemoveAll(jobDir(t, dir, jid1)); err != nil { // what was the first name
		t.Fatal(err)
	}
	if err := s.Announce(Load{JID: jid3, Load: ping(jid3), Minions: []string{"web2", "web1"}}); err != nil {
		t.Fatal(err)
	}
	if got := s.layout.minions(jobDir(t, dir, jid3)); !slices.Equal(got, []string{"web1", "web2"}) {
		t.Errorf("the list of a later job is %q", got)
	}
}

// TestSpread: the hint to the file system is taken, or refused, without a trace.
func TestSpread(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		s := openStore(t, dir)
		if err := s.Announce(Load{JID: jid1, Load: ping(jid1), Minions: []string{"web2", "web1"}}); err != nil {
			t.Fatal(err)
		}
		checkJobFiles(t, jobDir(t, dir, jid1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	spread(filepath.Join(dir, "none"))
}

// BenchmarkAnnounce writes the files of one job after another.
func BenchmarkAnnounce(b *testing.B) {
	s := openStore(b, b.TempDir())
	n := 0
	for b.Loop() {
		jid := fmt.Sprintf("%020d", n)
		if err := s.Announce(Load{JID: jid, Load: ping(jid), Minions: []string{"web2", "web1"}}); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// FuzzUnpackJob reads job records of a spoiled file.
func FuzzUnpackJob(f *testing.F) {
	b, err := (&job{created: time.Unix(1, 2), noCache: true, load: ping(jid1), minions: []string{"a"},
		endTime: "x"}).pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := unpackJob(b)
		if err != nil {
			if !errors.Is(err, packedfile.ErrDamaged) {
				t.Errorf("got %v, want packedfile.ErrDamaged", err)
			}
			return
		}
		if _, err := j.pack(); err != nil {
			t.Errorf("a job that was read cannot be packed: %v", err)
		}
	})
}

func BenchmarkStoreReturns(b *testing.B) {
	for _, group := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("group of ", group), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			text := strings.Repeat("some output of a command\n", 12)
			n := 0
			for b.Loop() {
				returns := make([]Return, group)
				for i := range returns {
					returns[i] = answer(fmt.Sprintf("%020d", n/1000), fmt.Sprintf("minion%d.example.net", n%1000), text)
					n++
				}
				if _, err := s.StoreReturns(returns); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "returns/s")
		})
	}
}

// BenchmarkLocalCache stores returns of one job and of many, without facts and with them.
func BenchmarkLocalCache(b *testing.B) {
	for _, jobs := range []int{1, 100} {
		for _, size := range []int{0, 150} {
			b.Run(fmt.Sprintf("jobs=%d/facts=%d", jobs, size), func(b *testing.B) {
				c, err := OpenLocalCache(Options{CacheDir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for b.Loop() {
					returns := make([]Return, 100)
					for i := range returns {
						returns[i] = answer(fmt.Sprintf("%020d", n/1000*jobs+i%jobs),
							fmt.Sprintf("minion%d.example.net", n%1000), "text")
						returns[i].Facts = make([]byte, size)
						n++
					}
					if _, err := c.StoreReturns(returns); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "returns/s")
			})
		}
	}
}

func BenchmarkGetJID(b *testing.B) {
	s := openStore(b, b.TempDir())
	returns := make([]Return, 1000)
	for i := range returns {
		returns[i] = answer(jid1, fmt.Sprint("minion", i), payload.M("a", 1, "b", "text"))
	}
	if _, err := s.StoreReturns(returns); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.GetJID(jid1); err != nil {
			b.Fatal(err)
		}
	}
}
