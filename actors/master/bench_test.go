package master

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
)

// crowd signs minions in that share one key.
func (r *rig) crowd(n int) []*testMinion {
	r.t.Helper()
	key := r.pair("minion")
	out := make([]*testMinion, n)
	for i := range out {
		id := fmt.Sprintf("b%04d", i)
		r.accept(id, "minion")
		out[i] = r.newMinion(id, func(o *auth.MinionOptions) { o.Key = key })
		if step := out[i].signIn(); step.Verdict != auth.Accepted {
			r.t.Fatalf("sign-in: %+v", step)
		}
	}
	return out
}

// spread runs do b.N times, by all minions at once.
func spread(b *testing.B, minions []*testMinion, do func(m *testMinion, n int64) error) {
	b.Helper()
	var next atomic.Int64
	done := make(chan error, len(minions))
	b.ResetTimer()
	start, used := time.Now(), cpu()
	for _, m := range minions {
		go func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					done <- nil
					return
				}
				if err := do(m, n); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range minions {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "/s")
	b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-us/op")
}

// cpu is the processor time of this process so far: it tells what a run costs also on a machine that others use.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// jobSize is how many returns a job has.
const jobSize = 1000

// BenchmarkReturns stores returns: the minions are in the same process and count too.
func BenchmarkReturns(b *testing.B) {
	for _, n := range []int{1, 16, 200} {
		b.Run(fmt.Sprintf("minions=%d", n), func(b *testing.B) {
			r := newRig(b)
			minions := r.crowd(n)
			spread(b, minions, func(m *testMinion, n int64) error {
				frame, nonce, err := m.Seal(ret(m.id, fmt.Sprintf("20260101%012d", n/jobSize)))
				if err != nil {
					return err
				}
				_, err = m.Open(m.do(frame), nonce)
				return err
			})
		})
	}
}

// BenchmarkSignIns signs known minions in. The requests are made before and the replies not opened: what is measured
// is the master. With a token the master has a second private key operation.
func BenchmarkSignIns(b *testing.B) {
	for _, token := range []bool{false, true} {
		b.Run(fmt.Sprintf("token=%v", token), func(b *testing.B) {
			r := newRig(b)
			minions := r.crowd(32)
			frames := map[*testMinion][]byte{}
			for _, m := range minions {
				if !token {
					m = r.newMinion(m.id, func(o *auth.MinionOptions) { o.Key = m.key })
				}
				frame, err := m.Request()
				if err != nil {
					b.Fatal(err)
				}
				frames[m] = frame
			}
			minions = slices.Collect(maps.Keys(frames))
			spread(b, minions, func(m *testMinion, _ int64) error {
				if reply := m.do(frames[m]); len(reply) < 500 {
					return fmt.Errorf("reply of %d bytes", len(reply))
				}
				return nil
			})
		})
	}
}

// BenchmarkFirstSignIns accepts a new id each time (auto_accept).
func BenchmarkFirstSignIns(b *testing.B) {
	r := newRig(b, "auto_accept: true")
	pub := r.rsa["minion"].Public
	spread(b, r.crowd(32), func(m *testMinion, n int64) error {
		load := payload.M("cmd", "_auth", "id", fmt.Sprintf("new%08d", n), "nonce", testNonce, "pub", pub)
		frame, err := payload.Marshal(payload.M("enc", "clear", "load", load, "version", 3))
		if err != nil {
			return err
		}
		if reply := m.do(frame); len(reply) < 500 {
			return fmt.Errorf("reply of %d bytes", len(reply))
		}
		return nil
	})
}

// BenchmarkPublish publishes one job after another.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{10, 10000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			r := newRig(b)
			for i := range n {
				r.writeFile(fmt.Sprintf("%s/minions/k%05d", r.cfg.PKIDir, i), r.rsa["minion"].Public, 0o600)
			}
			q := r.connect()
			frame := packed(b, payload.M("enc", "clear", "load", r.publishLoad(payload.M("tgt", "k00000")), "version",
				3))
			b.ResetTimer()
			used := cpu()
			for range b.N {
				if _, err := q.Do(testContext(b), frame); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

// BenchmarkExpandGrain expands a grain target over many minions.
func BenchmarkExpandGrain(b *testing.B) {
	r := newRig(b)
	grains := payload.M("os", "Debian", "ipv4", []any{"10.0.0.1"}, "kernel", "Linux", "mem_total", 1024)
	for i := range 80 {
		grains.Set(fmt.Sprintf("grain%02d", i), fmt.Sprintf("some value of grain %d", i))
	}
	for i := range 2000 {
		id := fmt.Sprintf("k%05d", i)
		r.writeFile(fmt.Sprintf("%s/minions/%s", r.cfg.PKIDir, id), r.rsa["minion"].Public, 0o600)
		if err := r.m.stores.cache.StoreGrains(id, grains.Set("id", id)); err != nil {
			b.Fatal(err)
		}
		old := time.Now().Add(-time.Hour) // what was written just now is not remembered
		if err := os.Chtimes(filepath.Join(r.cfg.CacheDir, "grains", id+".p"), old, old); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if found, _ := r.m.core.targets.Expand(b.Context(), "os:Deb*", "grain", ":"); len(found.Minions) != 2000 {
			b.Fatalf("found %d", len(found.Minions))
		}
	}
}
