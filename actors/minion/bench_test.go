package minion

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/auth"
	"brine/wire/payload"
)

// BenchmarkJobs has a minion run jobs of test.ping, 60 under way at once, from the sealed publication to the return
// that its master, which lives in this process, has opened.
func BenchmarkJobs(b *testing.B) {
	const atOnce = 60
	l := newLoad(b, "", atOnce)
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += jobBatch {
		b.StopTimer()
		frames := l.frames(min(jobBatch, b.N-done))
		b.StartTimer()
		l.run(frames, atOnce)
	}
}

// BenchmarkJournalSync is what journal_fsync costs a job that is alone, and one of many: two minions, with it and
// without, take turns. The ratio is what counts: a disk may take a hundred times as long as another one.
func BenchmarkJournalSync(b *testing.B) {
	for _, atOnce := range []int{1, 10, 60} {
		b.Run(fmt.Sprintf("%d at once", atOnce), func(b *testing.B) {
			off, on := newLoad(b, "", atOnce), newLoad(b, "journal_fsync: True\n", atOnce)
			var took [2]time.Duration
			jobs := 0
			for b.Loop() {
				for i, l := range []*jobLoad{off, on} {
					frames := l.frames(4 * atOnce)
					began := time.Now()
					l.run(frames, atOnce)
					took[i] += time.Since(began)
				}
				jobs += 4 * atOnce
			}
			b.ReportMetric(took[0].Seconds()*1e6/float64(jobs), "us/job-off")
			b.ReportMetric(took[1].Seconds()*1e6/float64(jobs), "us/job-on")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
		})
	}
}

const jobBatch = 2000

// jobLoad is a minion under load.
type jobLoad struct {
	b        *testing.B
	f        *fakeMaster
	returned chan struct{}
	made     int
}

func newLoad(b *testing.B, extra string, atOnce int) *jobLoad {
	b.Helper()
	r := newRig(b, "log_level: warning\n"+extra)
	r.opt.Logger, r.opt.Clock = slog.New(slog.DiscardHandler), nil
	r.up()
	l := &jobLoad{b: b, f: r.master(), returned: make(chan struct{}, atOnce)}
	l.f.set(func() {
		l.f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn {
				l.returned <- struct{}{}
				return nil, true
			}
			return nil, false
		}
	})
	return l
}

func (l *jobLoad) frames(n int) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = l.f.sealed(load(jid(l.made), "test.ping"))
		l.made++
	}
	return frames
}

func (l *jobLoad) run(frames [][]byte, atOnce int) {
	for i, frame := range frames {
		if i >= atOnce {
			actortest.Wait(l.b, "return", l.returned)
		}
		l.f.send(frame)
	}
	for range min(atOnce, len(frames)) {
		actortest.Wait(l.b, "return", l.returned)
	}
}
