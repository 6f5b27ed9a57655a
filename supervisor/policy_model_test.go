package supervisor

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world is the environment of the policy in the model test: it carries out effects in a simple way, and reports each
// effect that makes no sense.
type world struct {
	t    *rapid.T
	life life
	now  time.Time

	frozen  bool         // stop_restarting
	stopped bool         // told to end for good
	halted  bool         // told to rest
	alive   map[int]bool // running actors, without abandoned ones
	cancel  map[int]bool
	buried  map[int]bool
	drain   map[int]bool // requested and not answered
	release map[int]bool
	patient map[int]bool
	timer   time.Duration // of the back-off, -1 if there is none
	last    int           // highest incarnation
	quick   int           // quick deaths in a row, counted independently
	born    time.Time
	asked   bool // the end of this incarnation was requested
	forgot  bool
}

func newWorld(t *rapid.T) *world {
	set := func() map[int]bool { return make(map[int]bool) }
	return &world{t: t, now: t0, timer: -1, alive: set(), cancel: set(), buried: set(), drain: set(), release: set(),
		patient: set()}
}

func (w *world) feed(kind eventKind, n int) {
	before := w.life
	after, effects := next(w.life, event{kind, n}, env{now: w.now, restarting: !w.frozen, delayMax: 10 * time.Second})
	again, _ := next(before, event{kind, n}, env{now: w.now, restarting: !w.frozen, delayMax: 10 * time.Second})
	if again != after {
		w.t.Fatalf("next is not a function: %+v, then %+v", after, again)
	}
	w.life = after
	for _, f := range effects {
		w.do(f)
	}
	w.check()
}

func (w *world) do(f effect) {
	if w.forgot && f.kind != doStray {
		w.t.Fatalf("effect %d after the child was forgotten", f.kind)
	}
	switch f.kind {
	case doSpawn:
		w.spawn(f.n)
	case doDrain:
		w.drain[f.n] = true
	case doCancel:
		w.cancel[f.n] = true
	case doStop:
		if !w.cancel[f.n] || w.drain[f.n] && !w.patient[f.n] {
			w.t.Fatalf("incarnation %d stopped before its context was cancelled and its subtree down", f.n)
		}
	case doBury:
		w.bury(f)
	case doRelease:
		w.release[f.n] = true
	case doPatience:
		w.patient[f.n] = true
	case doDelay:
		w.timer = f.delay
	case doUndelay:
		w.timer = -1
	case doReplace:
		delete(w.alive, f.n)
	case doAbandon:
		delete(w.alive, f.n)
		delete(w.release, f.n)
		delete(w.drain, f.n)
	case doForget:
		w.forgot = true
	}
}

func (w *world) spawn(n int) {
	switch {
	case n != w.last+1:
		w.t.Fatalf("incarnation %d follows %d", n, w.last)
	case w.frozen && n > 1:
		w.t.Fatalf("started with restarting switched off")
	case w.stopped || w.halted:
		w.t.Fatalf("started though it was to end")
	case len(w.alive) > 0:
		w.t.Fatalf("two at once: %d beside %v", n, w.alive)
	case len(w.release) > 0:
		w.t.Fatalf("incarnation %d started before the goroutines of the last were gone", n)
	case n > 1 && !w.buried[n-1]:
		w.t.Fatalf("incarnation %d started but %d was never buried", n, n-1)
	case w.timer >= 0:
		w.t.Fatalf("started with a back-off under way")
	}
	w.last, w.born, w.asked = n, w.now, false
	w.alive[n] = true
}

// bury compares the back-off with the rule.
func (w *world) bury(f effect) {
	if w.buried[f.n] {
		w.t.Fatalf("incarnation %d buried twice", f.n)
	}
	w.buried[f.n] = true
	if w.alive[f.n] || w.life.phase != releasing { // abandoned: no back-off
		return
	}
	want := time.Duration(0)
	switch {
	case w.now.Sub(w.born) >= time.Second:
		w.quick = 0
	case !w.asked:
		w.quick++
		if over := w.quick - 3; over > 0 {
			want = 2 * time.Millisecond
			for i := 1; i < over && want < 10*time.Second; i++ {
				want *= 2
			}
			want = min(want, 10*time.Second)
		}
	}
	if f.delay != want {
		w.t.Fatalf("delay %s after %d quick deaths, want %s", f.delay, w.quick, want)
	}
}

// check must hold after every event.
func (w *world) check() {
	waits := len(w.alive) > 0 || len(w.drain) > 0 || len(w.release) > 0 || w.timer >= 0
	if w.last > 0 && !w.frozen && !w.stopped && !w.halted && !waits {
		w.t.Fatalf("gave up: phase %d", w.life.phase)
	}
	if w.forgot && len(w.alive) > 0 {
		w.t.Fatalf("forgotten alive: %v", w.alive)
	}
}

// one picks a member of a set, or 0 if it is empty.
func (w *world) one(set map[int]bool, what string) int {
	var all []int
	for n := 1; n <= w.last; n++ {
		if set[n] {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		w.t.Skip("no " + what)
	}
	return rapid.SampledFrom(all).Draw(w.t, what)
}

// dieAtOnce takes the child through a whole death, if it lives and has not been told to end.
func (w *world) dieAtOnce() {
	n := w.last
	if !w.alive[n] || w.life.phase != up {
		return
	}
	delete(w.alive, n)
	w.feed(evTerminated, n)
	delete(w.release, n)
	w.feed(evReleased, n)
	if w.timer >= 0 {
		w.now = w.now.Add(w.timer)
		w.timer = -1
		w.feed(evTimer, n)
	}
}

// TestPolicyAgainstModel takes a child through random histories.
func TestPolicyAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.feed(evAdd, 0)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { w.t = t },
			"time passes": func(t *rapid.T) {
				w.t = t
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 1500).Draw(t, "ms")) * time.Millisecond)
			},
			"dies": func(t *rapid.T) {
				w.t = t
				n := w.one(w.alive, "victim")
				delete(w.alive, n)
				w.feed(evTerminated, n)
			},
			"crash loop": func(t *rapid.T) {
				w.t = t
				for range rapid.IntRange(1, 20).Draw(t, "deaths") {
					w.dieAtOnce()
				}
			},
			"hangs":       func(t *rapid.T) { w.t = t; w.feed(evHung, w.one(w.alive, "hung")) },
			"stray death": func(t *rapid.T) { w.t = t; w.feed(evTerminated, w.last+1) },
			"drained": func(t *rapid.T) {
				w.t = t
				n := w.one(w.drain, "owner")
				delete(w.drain, n)
				w.feed(evDrained, n)
			},
			"released": func(t *rapid.T) {
				w.t = t
				n := w.one(w.release, "dead")
				delete(w.release, n)
				w.feed(evReleased, n)
			},
			"timer": func(t *rapid.T) {
				w.t = t
				if w.timer < 0 {
					t.Skip("no timer")
				}
				w.now = w.now.Add(w.timer)
				w.timer = -1
				w.feed(evTimer, w.last)
			},
			"give up": func(t *rapid.T) { w.t = t; w.feed(evGiveUp, w.one(w.patient, "slow")) },
			"restart": func(t *rapid.T) {
				w.t = t
				w.asked = w.asked || !w.frozen
				w.feed(evRestart, 0)
			},
			"kill": func(t *rapid.T) { w.t = t; w.feed(evKill, 0) },
			"done": func(t *rapid.T) { w.t = t; w.stopped, w.asked = true, true; w.feed(evDone, 0) },
			"halt": func(t *rapid.T) { w.t = t; w.halted, w.asked = true, true; w.feed(evHalt, 0) },
			"stop restarting": func(t *rapid.T) {
				w.t = t
				w.frozen = w.frozen || rapid.IntRange(0, 9).Draw(t, "rarely") == 0
			},
			"revive": func(t *rapid.T) {
				w.t = t
				if w.life.phase != down || w.stopped {
					t.Skip("not down")
				}
				w.halted = false
				w.feed(evAdd, 0)
			},
		})
	})
}
