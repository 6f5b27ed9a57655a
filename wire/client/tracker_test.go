package client

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is a time in a test, in seconds since the publication of its job.
func at(s float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(s * float64(time.Second)))
}

func newTracker(minions ...string) *tracker {
	t := &tracker{timeout: 5 * time.Second, gather: 10 * time.Second, grace: 2 * time.Second,
		syndicWait: 5 * time.Second}
	t.start(at(0), minions)
	return t
}

// expectNext checks one decision. until is in seconds, negative for never.
func expectNext(t *testing.T, tr *tracker, now float64, want action, until float64) {
	t.Helper()
	got, when := tr.next(at(now))
	if got != want {
		t.Fatalf("at %v s: got action %d, want %d", now, got, want)
	}
	if until < 0 && !when.IsZero() || until >= 0 && !when.Equal(at(until)) {
		t.Fatalf("at %v s: holds until %v, want %v s", now, when.Sub(at(0)), until)
	}
}

func expectSilences(t *testing.T, tr *tracker, want ...Return) {
	t.Helper()
	if d := cmp.Diff(want, tr.silences()); d != "" {
		t.Error(d)
	}
}

func TestTrackerAllReturn(t *testing.T) {
	tr := newTracker("a", "b")
	expectNext(t, tr, 0, wait, 5)
	if !tr.returned(at(0), "a") || tr.returned(at(0), "a") {
		t.Error("only the first return of a minion counts")
	}
	expectNext(t, tr, 1, wait, 5)
	tr.returned(at(1), "b")
	expectNext(t, tr, 1, done, -1)
	expectSilences(t, tr)
}

func TestTrackerNobodyMatched(t *testing.T) {
	expectNext(t, newTracker(), 0, done, -1)
}

// TestTrackerDead: a dead minion costs timeout and gather_job_timeout, as in Salt.
func TestTrackerDead(t *testing.T) {
	tr := newTracker("dead", "alive")
	tr.returned(at(0), "alive")
	expectNext(t, tr, 0, wait, 5)
	expectNext(t, tr, 5.1, ask, -1)
	expectNext(t, tr, 5.2, wait, -1) // find_job is being published
	tr.asked(at(5.3), []string{"dead"}, []string{"dead"})
	expectNext(t, tr, 5.3, wait, 15.3)
	expectNext(t, tr, 15.4, done, -1)
	expectSilences(t, tr, Return{ID: "dead", Silence: NoResponse})
}

// TestTrackerRunning: a running job is waited for round after round, until its return ends the wait.
func TestTrackerRunning(t *testing.T) {
	tr := newTracker("slow")
	expectNext(t, tr, 0, wait, 5)
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"slow"}, []string{"slow"})
	tr.foundRunning(at(5.2), "slow")
	expectNext(t, tr, 5.2, wait, 10.2)
	expectNext(t, tr, 11, wait, 15.1)
	expectNext(t, tr, 15.2, ask, -1)
	tr.asked(at(15.2), []string{"slow"}, []string{"slow"})
	tr.foundRunning(at(15.3), "slow")
	expectNext(t, tr, 25.3, ask, -1)
	tr.asked(at(25.3), []string{"slow"}, []string{"slow"})
	tr.returned(at(25.3), "slow")
	expectNext(t, tr, 26, done, -1)
	expectSilences(t, tr)
}

// TestTrackerStopsRunning: a job that ran in one round and not in the next has a return under way, or has lost it.
func TestTrackerStopsRunning(t *testing.T) {
	tr := newTracker("slow")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"slow"}, []string{"slow"})
	tr.foundRunning(at(5.2), "slow")
	expectNext(t, tr, 15.2, ask, -1)
	tr.asked(at(15.2), []string{"slow"}, []string{"slow"})
	tr.foundIdle(at(15.4), "slow")
	expectNext(t, tr, 15.4, wait, 17.4)
	tr.foundIdle(at(17), "slow") // reported twice: the grace is not extended
	expectNext(t, tr, 17.5, done, -1)
	expectSilences(t, tr, Return{ID: "slow", Silence: NotRunning})
}

// TestTrackerIdle: if it is known that no minion will answer, the wait takes two seconds instead of ten.
func TestTrackerIdle(t *testing.T) {
	tr := newTracker("a", "b")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"a", "b"}, []string{"a", "b"})
	tr.foundIdle(at(5.2), "a")
	tr.foundIdle(at(5.3), "b")
	tr.foundIdle(at(5.3), "stranger")
	expectNext(t, tr, 5.3, wait, 7.2)
	tr.returned(at(5.3), "b") // the return was still under way
	expectNext(t, tr, 7.3, done, -1)
	expectSilences(t, tr, Return{ID: "a", Silence: NotRunning})
}

// TestTrackerIdleAndDead: one minion is idle, another does not answer find_job: the tracker waits for the end of the
// round.
func TestTrackerIdleAndDead(t *testing.T) {
	tr := newTracker("dead", "idle")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"dead", "idle"}, []string{"dead", "idle"})
	tr.foundIdle(at(5.2), "idle")
	expectNext(t, tr, 8, wait, 15.1)
	expectNext(t, tr, 15.2, done, -1)
	expectSilences(t, tr, Return{ID: "dead", Silence: NoResponse}, Return{ID: "idle", Silence: NotRunning})
}

func TestTrackerGone(t *testing.T) {
	tr := newTracker("off", "on")
	tr.gone(at(0), NotConnected, "off")
	expectNext(t, tr, 0, wait, 5)
	tr.returned(at(0), "on")
	expectNext(t, tr, 0.1, done, -1)
	expectSilences(t, tr, Return{ID: "off", Silence: NotConnected})
}

func TestTrackerKeyDeleted(t *testing.T) {
	tr := newTracker("a")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.2), []string{"a"}, []string{})
	expectNext(t, tr, 5.2, done, -1)
	expectSilences(t, tr, Return{ID: "a", Silence: Unknown})
}

// TestTrackerAskFails: the tracker waits for the end of the round even if find_job could not be published.
func TestTrackerAskFails(t *testing.T) {
	tr := newTracker("a")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(20), []string{"a"}, nil)
	expectNext(t, tr, 20, wait, 30)
	expectNext(t, tr, 30.1, done, -1)
}

func TestTrackerFindJobError(t *testing.T) {
	tr := newTracker("a")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"a"}, []string{"a"})
	tr.gone(at(5.2), FindJobError, "a")
	expectNext(t, tr, 5.2, done, -1)
	expectSilences(t, tr, Return{ID: "a", Silence: FindJobError})
}

// TestTrackerUnexpectedRunner: an unknown minion (a syndic's) says that it runs the job.
func TestTrackerUnexpectedRunner(t *testing.T) {
	tr := newTracker("a")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"a"}, []string{"a"})
	tr.foundRunning(at(5.2), "b")
	tr.returned(at(5.2), "a")
	expectNext(t, tr, 5.3, wait, 10.2)
	tr.returned(at(5.3), "b")
	expectNext(t, tr, 6, done, -1)
}

// TestTrackerSyndics: with syndics the list of minions grows, and a complete list counts only after syndic_wait.
func TestTrackerSyndics(t *testing.T) {
	tr := newTracker("syndic-a")
	tr.ordered = true
	tr.returned(at(0), "syndic-a")
	expectNext(t, tr, 1, wait, 5)
	tr.expect([]string{"below"})
	expectNext(t, tr, 2, wait, 5)
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"below"}, []string{})
	expectNext(t, tr, 5.2, wait, 7) // its own timeout began when it became known
	expectNext(t, tr, 7.1, wait, 20.1)
	tr.returned(at(7.1), "below")
	expectNext(t, tr, 8, done, -1)
}

// TestTrackerSyndicsGone: with syndics, the wait for a minion without a connection is only as long as the wait for the
// syndics. A minion that a syndic names may be connected to a lower master.
func TestTrackerSyndicsGone(t *testing.T) {
	for name, named := range map[string]func(tr *tracker){
		"not named": func(*tracker) {},
		"before":    func(tr *tracker) { tr.expectBelow([]string{"dead"}); tr.gone(at(1), NotConnected, "dead") },
		"after":     func(tr *tracker) { tr.gone(at(1), NotConnected, "dead"); tr.expectBelow([]string{"dead"}) },
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTracker("alive", "dead")
			tr.ordered, tr.timeout = true, time.Minute
			tr.start(at(0), []string{"alive", "dead"})
			named(tr)
			if name == "not named" {
				tr.gone(at(1), NotConnected, "dead")
				expectNext(t, tr, 1, wait, 60)
				tr.returned(at(1), "alive")
				expectNext(t, tr, 1.1, wait, 5)
				expectNext(t, tr, 5.1, done, -1)
				expectSilences(t, tr, Return{ID: "dead", Silence: NotConnected})
				return
			}
			tr.returned(at(1), "alive")
			if what, _ := tr.next(at(5.1)); what != wait {
				t.Errorf("one who may be below a syndic is not waited for: %v", what)
			}
			tr.returned(at(6), "dead")
			expectNext(t, tr, 6.1, done, -1)
		})
	}
}

// TestTrackerSyndicsIdle: the return of a minion below a syndic may arrive after its answer that it runs nothing.
func TestTrackerSyndicsIdle(t *testing.T) {
	tr := newTracker("below")
	tr.ordered = true
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"below"}, nil)
	tr.foundIdle(at(6), "below")
	expectNext(t, tr, 12.9, wait, 13)
	expectNext(t, tr, 13.1, done, -1)
	expectSilences(t, tr, Return{ID: "below", Silence: NotRunning})
}

func TestTrackerSyndicsNobody(t *testing.T) {
	tr := newTracker()
	tr.ordered = true
	expectNext(t, tr, 0, wait, 5)
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), nil, nil)
	expectNext(t, tr, 5.2, wait, 20.1)
	expectNext(t, tr, 20.2, done, -1)
}

func TestTrackerMissing(t *testing.T) {
	tr := newTracker("a")
	tr.missing = []string{"nope", "a", "came", "nope"}
	tr.returned(at(0), "a")
	tr.returned(at(0), "came")
	expectNext(t, tr, 1, done, -1)
	expectSilences(t, tr, Return{ID: "nope", Silence: Unknown})
}

// TestTrackerAnswersKeepComing: no minion is asked while returns come in, but a second after the last one.
func TestTrackerAnswersKeepComing(t *testing.T) {
	tr := newTracker("a", "b", "c", "dead")
	tr.next(at(0))
	tr.returned(at(4.5), "a")
	expectNext(t, tr, 5.1, wait, 5.5)
	tr.returned(at(5.4), "b")
	expectNext(t, tr, 5.6, wait, 6.4)
	expectNext(t, tr, 6.5, ask, -1)
	tr.asked(at(6.5), []string{"c", "dead"}, []string{"c", "dead"})
	expectNext(t, tr, 6.5, wait, 16.5)
	tr.returned(at(16.4), "c") // the asked minions have had time to answer
	expectNext(t, tr, 16.6, done, -1)
	expectSilences(t, tr, Return{ID: "dead", Silence: NoResponse})
}

// TestTrackerCounts: the updated counts equal those of a pass over all minions.
func TestTrackerCounts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	id := func() string { return string(rune('a' + rnd.IntN(20))) }
	for range 200 {
		tr := newTracker("a", "b", "c", "d", "e", "f", "g", "h")
		now := 0.0
		for range 60 {
			now += rnd.Float64()
			switch rnd.IntN(7) {
			case 0, 1:
				tr.returned(at(now), id())
			case 2:
				tr.foundIdle(at(now), id())
			case 3:
				tr.foundRunning(at(now), id())
			case 4:
				tr.gone(at(now), NotConnected, id())
			case 5:
				tr.expect([]string{id()})
			}
			got := *tr.count(at(now))
			var want counts
			for _, m := range tr.minions {
				s, limit := tr.stand(at(now), m)
				want.add(&minion{}, s, limit)
			}
			if got.pending != want.pending || got.open != want.open || got.young != want.young {
				t.Fatalf("counted %+v, there are %+v", got, want)
			}
			if !want.wake.IsZero() && (got.wake.IsZero() || got.wake.After(want.wake)) {
				t.Fatalf("wakes at %v, must at %v", got.wake, want.wake)
			}
		}
	}
}

// BenchmarkTracker handles the returns of many minions, one after another.
func BenchmarkTracker(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("minion%05d", i)
	}
	for b.Loop() {
		tr := newTracker(ids...)
		for _, id := range ids {
			tr.returned(at(1), id)
			tr.next(at(1))
		}
		if what, _ := tr.next(at(1)); what != done {
			b.Fatal("not done")
		}
	}
}
