package maintenance

import (
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/payload"
)

// TestClockJumps: after a jump nothing is removed for its age, and changes of keys are seen at once, though what was
// looked at last lies in the future.
func TestClockJumps(t *testing.T) {
	type look struct{ what string }
	looked := make(chan look, 100)
	keysAt := time.Unix(1_800_000_000, 0)
	opt := maintenanceOptions{loop: time.Minute, past: &remembered{}, log: actortest.Discard(),
		takeDrop: func() (bool, error) { return false, nil }, rotate: func() error { return nil },
		changed:  func() (time.Time, time.Time) { return keysAt, time.Time{} },
		sessions: func() ([]string, error) { looked <- look{"sessions"}; return nil, nil },
		accepted: func() ([]string, error) {
			return nil, nil
		}, revoke: func(string) error { return nil }, foreign: func(string) error { return nil },
		alive: func() {}, facts: func() {}, fire: func(string, *payload.Map) {},
		jobs: func(now time.Time) {
			if now != nothingOld {
				looked <- look{"jobs"}
			}
		},
		tasks: []func(time.Time) error{func(time.Time) error { looked <- look{"turn"}; return nil }}}
	m := &maintenance{opt: opt}
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "Maintenance", New: func() supervisor.Actor { return still{m} }})
	turn := func(at time.Time, elapsed time.Duration) (seen map[string]int) {
		done := make(chan struct{})
		ref.Send(&turnOf{at, elapsed, done})
		actortest.Wait(t, "turn", done)
		seen = map[string]int{}
		for len(looked) > 0 {
			seen[(<-looked).what]++
		}
		return seen
	}
	const hour = time.Hour
	at := keysAt.Add(hour)
	if got := turn(at, time.Second); got["jobs"] != 0 || got["sessions"] != 1 {
		t.Errorf("first turn: %v", got)
	}
	at = at.Add(hour)
	if got := turn(at, hour+time.Second); got["jobs"] != 1 {
		t.Errorf("an hour later: %v", got)
	}
	if got := turn(at.Add(365*24*time.Hour), hour+time.Minute); got["jobs"] != 0 || got["turn"] != 1 {
		t.Errorf("a year ahead: %v", got)
	}
	if got := turn(at, hour+time.Minute+time.Second); got["jobs"] != 0 {
		t.Errorf("and back: %v", got)
	}
	turn(at, hour+time.Minute+2*time.Second)
	keysAt = at.Add(-30 * time.Minute)
	if got := turn(at.Add(time.Second), hour+time.Minute+3*time.Second); got["sessions"] != 1 {
		t.Errorf("keys have changed after a jump back: %v", got)
	}
	if got := turn(at.Add(2*time.Second), hour+time.Minute+4*time.Second); got["sessions"] != 0 {
		t.Errorf("nothing has changed: %v", got)
	}
}

// turnOf makes Maintenance do what is due at a moment.
type turnOf struct {
	at      time.Time
	elapsed time.Duration
	done    chan struct{}
}

// still is Maintenance without its timer.
type still struct{ m *maintenance }

func (s still) Receive(ctx supervisor.Context) {
	if msg, ok := ctx.Message().(*turnOf); ok {
		s.m.turn(ctx, msg.at, msg.elapsed)
		close(msg.done)
	}
}
