package client

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is a moment of a test, in seconds since its job was published.
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

// A dead minion costs timeout and gather_job_timeout, as in Salt.
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

// A running job is waited for round after round, then its return ends the wait.
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

// A job that ran in one round and not in the next has a return on its way, or lost it.
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
	tr.foundIdle(at(17), "slow") // told twice: the grace is not extended
	expectNext(t, tr, 17.5, done, -1)
	expectSilences(t, tr, Return{ID: "slow", Silence: NotRunning})
}

// Who is known not to answer is not waited for: two seconds instead of ten.
func TestTrackerIdle(t *testing.T) {
	tr := newTracker("a", "b")
	tr.next(at(0))
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"a", "b"}, []string{"a", "b"})
	tr.foundIdle(at(5.2), "a")
	tr.foundIdle(at(5.3), "b")
	tr.foundIdle(at(5.3), "stranger")
	expectNext(t, tr, 5.3, wait, 7.2)
	tr.returned(at(5.3), "b") // the return was still on its way
	expectNext(t, tr, 7.3, done, -1)
	expectSilences(t, tr, Return{ID: "a", Silence: NotRunning})
}

// One minion is idle, one does not answer find_job: the round is waited for.
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

// When find_job could not be published the round is waited for all the same.
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

// A minion that nobody knew of says that it runs the job (a syndic's).
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

// With syndics the list of minions grows, and a full list is believed after syndic_wait only.
func TestTrackerSyndics(t *testing.T) {
	tr := newTracker("syndic-a")
	tr.ordered = true
	tr.returned(at(0), "syndic-a")
	expectNext(t, tr, 1, wait, 5)
	tr.expect([]string{"below"})
	expectNext(t, tr, 2, wait, 5)
	expectNext(t, tr, 5.1, ask, -1)
	tr.asked(at(5.1), []string{"below"}, []string{})
	expectNext(t, tr, 5.2, wait, 7) // its own timeout began when it was heard of
	expectNext(t, tr, 7.1, wait, 20.1)
	tr.returned(at(7.1), "below")
	expectNext(t, tr, 8, done, -1)
}

// With syndics, too, nobody waits longer than for them for a minion that has no connection; one that a syndic names may
// have one to a master below.
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

// What a minion below a syndic has returned may come later than its word that it runs nothing.
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

// TestTrackerAnswersKeepComing asks nobody while returns come in, and asks a second after the last one.
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
	tr.returned(at(16.4), "c") // who was asked has had the time to answer
	expectNext(t, tr, 16.6, done, -1)
	expectSilences(t, tr, Return{ID: "dead", Silence: NoResponse})
}

// TestTrackerCounts checks that the counts which are kept up to date are those of a look at all minions.
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

// BenchmarkTracker takes the returns of many minions, one after another.
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
