package supervisor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var t0 = time.Date(2024, 5, 17, 12, 0, 0, 0, time.UTC)

// at is an environment some time after t0.
func at(d time.Duration) env {
	return env{now: t0.Add(d), restarting: true, delayMax: 10 * time.Second}
}

func frozenAt(d time.Duration) env {
	e := at(d)
	e.restarting = false
	return e
}

// living is a child in its n-th incarnation, born at t0.
func living(n int) life { return life{phase: up, n: n, born: t0} }

func (l life) in(p phase, then sequel) life {
	l.phase, l.next = p, then
	return l
}

func kinds(effects []effect) []effectKind {
	var out []effectKind
	for _, f := range effects {
		out = append(out, f.kind)
	}
	return out
}

// policyCase is an event in a state of one child, and the result.
type policyCase struct {
	name  string
	from  life
	event event
	env   env
	phase phase
	next  sequel
	n     int
	do    []effectKind
}

const slow = 2 * time.Second // age at which a death is not quick

func policyCases() []policyCase {
	return []policyCase{
		{"add starts at once", life{}, event{kind: evAdd}, at(0), up, respawn, 1, []effectKind{doSpawn}},
		{"add with restarting off starts all the same", life{}, event{kind: evAdd}, frozenAt(0), up, respawn, 1,
			[]effectKind{doSpawn}},
		{"revival with restarting off", living(1).in(down, rest), event{kind: evAdd}, frozenAt(0), down, rest, 1, nil},
		{"add of a living one does nothing", living(1), event{kind: evAdd}, at(0), up, respawn, 1, nil},

		{"death buries and waits for the rest of it", living(1), event{evTerminated, 1}, at(slow), releasing, respawn,
			1,
			[]effectKind{doCancel, doBury, doRelease, doPatience}},
		{"missing is death", living(1), event{evMissing, 1}, at(slow), releasing, respawn, 1,
			[]effectKind{doCancel, doBury, doRelease, doPatience}},
		{"death of another incarnation is a stray", living(2), event{evTerminated, 1}, at(slow), up, respawn, 2,
			[]effectKind{doStray}},
		{"second death is a stray", living(1).in(releasing, respawn), event{evTerminated, 1}, at(slow), releasing,
			respawn, 1, []effectKind{doStray}},
		{"death while waiting is a stray", living(1).in(waiting, respawn), event{evTerminated, 1}, at(slow), waiting,
			respawn, 1, []effectKind{doStray}},

		{"released is followed by the next", living(1).in(releasing, respawn), event{evReleased, 1}, at(slow), up,
			respawn, 2, []effectKind{doSpawn}},
		{"released late by another incarnation", living(2).in(releasing, respawn), event{evReleased, 1}, at(slow),
			releasing, respawn, 2, nil},
		{"released with restarting off", living(1).in(releasing, respawn), event{evReleased, 1}, frozenAt(slow), down,
			respawn, 1, nil},
		{"released when asked to restart", living(1).in(releasing, again), event{evReleased, 1}, at(slow), up, respawn,
			2, []effectKind{doSpawn}},
		{"released when asked to restart after a quick death", life{phase: releasing, next: again, n: 5,
			delay: time.Second}, event{evReleased, 5}, at(slow), up, respawn, 6, []effectKind{doSpawn}},
		{"released after a quick death", life{phase: releasing, n: 5, delay: time.Second}, event{evReleased, 5},
			at(slow), waiting, respawn, 5, []effectKind{doDelay}},
		{"released when done", living(1).in(releasing, remove), event{evReleased, 1}, at(slow), gone, remove, 1,
			[]effectKind{doForget}},
		{"released when halted", living(1).in(releasing, rest), event{evReleased, 1}, at(slow), down, rest, 1, nil},

		{"timer starts the next", living(1).in(waiting, respawn), event{evTimer, 1}, at(slow), up, respawn, 2,
			[]effectKind{doSpawn}},
		{"stale timer", living(2).in(waiting, respawn), event{evTimer, 1}, at(slow), waiting, respawn, 2, nil},
		{"timer with restarting off", living(1).in(waiting, respawn), event{evTimer, 1}, frozenAt(slow), down, respawn,
			1, nil},

		{"done ends it", living(1), event{kind: evDone}, at(0), draining, remove, 1, []effectKind{doPatience, doDrain}},
		{"done while dying", living(1).in(releasing, respawn), event{kind: evDone}, at(0), releasing, remove, 1, nil},
		{"done while waiting", living(1).in(waiting, respawn), event{kind: evDone}, at(0), gone, remove, 1,
			[]effectKind{doUndelay, doForget}},
		{"done of a dead one that lies", living(1).in(down, respawn), event{kind: evDone}, at(0), gone, remove, 1,
			[]effectKind{doForget}},
		{"done twice", living(1).in(gone, remove), event{kind: evDone}, at(0), gone, remove, 1, nil},
	}
}

func morePolicyCases() []policyCase {
	return []policyCase{
		{"drained cancels before it stops", living(1).in(draining, again), event{evDrained, 1}, at(0), stopping, again,
			1, []effectKind{doCancel, doStop}},
		{"drained of another incarnation", living(2).in(draining, again), event{evDrained, 1}, at(0), draining, again,
			2, nil},
		{"drained when dead meanwhile", living(1).in(releasing, again), event{evDrained, 1}, at(0), releasing, again, 1,
			nil},

		{"restart ends it", living(1), event{kind: evRestart}, at(0), draining, again, 1, []effectKind{doPatience,
			doDrain}},
		{"restart cuts the back-off", living(1).in(waiting, respawn), event{kind: evRestart}, at(0), up, respawn, 2,
			[]effectKind{doUndelay, doSpawn}},
		{"restart does not undo done", living(1).in(stopping, remove), event{kind: evRestart}, at(0), stopping, remove,
			1, nil},
		{"restart of a dead one with restarting off", living(1).in(down, respawn), event{kind: evRestart}, frozenAt(0),
			down, respawn, 1, nil},
		{"restart in a halted tree", living(1).in(down, rest), event{kind: evRestart}, at(0), down, rest, 1, nil},

		{"kill ends it, the rule restarts it", living(1), event{kind: evKill}, at(0), draining, respawn, 1,
			[]effectKind{doPatience, doDrain}},
		{"kill of a dead one", living(1).in(waiting, respawn), event{kind: evKill}, at(0), waiting, respawn, 1, nil},

		{"stop ends it", living(1), event{kind: evStop}, at(0), draining, remove, 1, []effectKind{doPatience, doDrain}},
		{"stop while waiting", living(1).in(waiting, respawn), event{kind: evStop}, frozenAt(0), gone, remove, 1,
			[]effectKind{doUndelay, doForget}},
		{"halt while waiting", living(1).in(waiting, respawn), event{kind: evHalt}, at(0), down, rest, 1,
			[]effectKind{doUndelay}},
		{"revival", living(1).in(down, rest), event{kind: evAdd}, at(0), up, respawn, 2, []effectKind{doSpawn}},

		{"give up on one that hangs", living(1).in(stopping, again), event{evGiveUp, 1}, at(0), up, respawn, 2,
			[]effectKind{doAbandon, doBury, doSpawn}},
		{"give up on its goroutines", living(1).in(releasing, respawn), event{evGiveUp, 1}, at(0), up, respawn, 2,
			[]effectKind{doAbandon, doSpawn}},
		{"give up on its subtree", living(1).in(draining, remove), event{evGiveUp, 1}, at(0), gone, remove, 1,
			[]effectKind{doCancel, doStop, doAbandon, doBury, doForget}},
		{"a hung handler is replaced when the rest of it has ended", living(1), event{evHung, 1}, at(slow), releasing,
			respawn, 1,
			[]effectKind{doCancel, doStop, doReplace, doBury, doRelease, doPatience}},
		{"a hung handler of the one before", living(2), event{evHung, 1}, at(slow), up, respawn, 2, nil},
		{"a hung handler of one that is ending", living(1).in(stopping, remove), event{evHung, 1}, at(slow), releasing,
			remove, 1,
			[]effectKind{doCancel, doStop, doReplace, doBury, doRelease, doPatience}},
		{"a hung handler of one that has ended", living(1).in(releasing, again), event{evHung, 1}, at(slow), releasing,
			again, 1, nil},
		{"the late end of a hung one is a stray", living(1).in(releasing, respawn), event{evTerminated, 1}, at(slow),
			releasing, respawn, 1, []effectKind{doStray}},
		{"done while a hung one is released", living(1).in(releasing, respawn), event{kind: evDone}, at(slow),
			releasing, remove, 1, nil},
		{"give up on one that lives", living(1), event{evGiveUp, 1}, at(0), up, respawn, 1, nil},
		{"give up on the one before", living(2).in(stopping, again), event{evGiveUp, 1}, at(0), stopping, again, 2,
			nil},
	}
}

// TestPolicy goes through the states of one child, event by event.
func TestPolicy(t *testing.T) {
	for _, tt := range append(policyCases(), morePolicyCases()...) {
		t.Run(tt.name, func(t *testing.T) {
			l, effects := next(tt.from, tt.event, tt.env)
			if l.phase != tt.phase || l.next != tt.next || l.n != tt.n {
				t.Errorf("got phase %d, next %d, n %d, want %d, %d, %d", l.phase, l.next, l.n, tt.phase, tt.next, tt.n)
			}
			if diff := cmp.Diff(tt.do, kinds(effects)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackOff(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name  string
		quick int // earlier quick deaths
		age   time.Duration
		max   time.Duration
		want  time.Duration
		count int
	}{
		{"first", 0, 0, 10 * time.Second, 0, 1},
		{"second", 1, 0, 10 * time.Second, 0, 2},
		{"third", 2, 999 * ms, 10 * time.Second, 0, 3},
		{"fourth", 3, 999 * ms, 10 * time.Second, 2 * ms, 4},
		{"fifth", 4, 0, 10 * time.Second, 4 * ms, 5},
		{"sixth", 5, 0, 10 * time.Second, 8 * ms, 6},
		{"sixteenth", 15, 0, 10 * time.Second, 8192 * ms, 16},
		{"seventeenth", 16, 0, 10 * time.Second, 10 * time.Second, 17},
		{"millionth", 1e6, 0, 10 * time.Second, 10 * time.Second, 1e6 + 1},
		{"small cap", 5, 0, 5 * ms, 5 * ms, 6},
		{"cap below the first delay", 3, 0, ms, ms, 4},
		{"one second is long enough", 1e6, time.Second, 10 * time.Second, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := living(1)
			l.quick = tt.quick
			v := at(tt.age)
			v.delayMax = tt.max
			quick, delay := backOff(l, v)
			if delay != tt.want || quick != tt.count {
				t.Errorf("got %s after %d quick deaths, want %s after %d", delay, quick, tt.want, tt.count)
			}
		})
	}
}
