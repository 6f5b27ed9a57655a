package minion

import (
	"log/slog"
	"testing"

	"brine/actors/actortest"
	"brine/wire/auth"
	"brine/wire/payload"
)

// BenchmarkJobs has a minion run jobs of test.ping, 60 under way at once, from the sealed publication to the return that
// its master, which lives in this process, has opened.
func BenchmarkJobs(b *testing.B) {
	const atOnce, batch = 60, 2000
	r := newRig(b, "log_level: warning\n")
	r.opt.Logger, r.opt.Clock = slog.New(slog.DiscardHandler), nil
	r.up()
	f := r.master()
	returned := make(chan struct{}, atOnce)
	f.set(func() {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn {
				returned <- struct{}{}
				return nil, true
			}
			return nil, false
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += batch {
		b.StopTimer()
		frames := make([][]byte, min(batch, b.N-done))
		for i := range frames {
			frames[i] = f.sealed(load(jid(done+i), "test.ping"))
		}
		b.StartTimer()
		for i, frame := range frames {
			if i >= atOnce {
				actortest.Wait(b, "return", returned)
			}
			f.send(frame)
		}
		for range min(atOnce, len(frames)) {
			actortest.Wait(b, "return", returned)
		}
	}
}
