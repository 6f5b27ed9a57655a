package console

import (
	"fmt"
	"testing"
	"time"

	"brine/wire/control"
	"brine/wire/payload"
)

// TestHoldsOf: a job is queued if it waits on some minions and runs on none. It is silent if it does neither.
func TestHoldsOf(t *testing.T) {
	for _, tt := range []struct {
		codes  []string
		more   int64
		state  string
		queued int64
	}{
		{[]string{"queued"}, 0, stateQueued, 1},
		{[]string{"queued", "batch_turn", "not_connected"}, 0, stateQueued, 2},
		{[]string{"queued", "running"}, 0, stateRunning, 1},
		{[]string{"not_connected", "key_rejected"}, 0, stateSilent, 0},
		{[]string{"unknown_old_minion"}, 0, stateRunning, 0}, // minions of Salt do not tell
		{[]string{"connected_no_answer", "not_connected"}, 0, stateRunning, 0},
		{[]string{"queued"}, 3, stateRunning, 1}, // nothing is known about the other minions
		{nil, 0, stateSilent, 0},
	} {
		var list []control.Reason
		for _, code := range tt.codes {
			list = append(list, control.Reason{Code: code})
		}
		if h := holdsOf(list, tt.more, time.Now()); h.state() != tt.state || h.queued != tt.queued {
			t.Errorf("%v and %d: got %s with %d, want %s with %d", tt.codes, tt.more, h.state(), h.queued, tt.state,
				tt.queued)
		}
	}
	if got := (hold{}).state(); got != stateRunning {
		t.Errorf("nobody was asked: %s", got)
	}
}

// TestHolds: only one stream at a time asks about a job, and not while the last answer is valid. Old answers
// are removed.
func TestHolds(t *testing.T) {
	h, now := newHolds(), time.Now()
	if !h.claim("a", now) || h.claim("a", now) {
		t.Error("two ask at the same time")
	}
	h.put("a", nil)
	if !h.claim("a", now) {
		t.Error("who got no answer keeps the others from asking")
	}
	h.put("a", &hold{queued: 2, asked: now})
	if h.claim("a", now.Add(holdsFor/2)) || h.get("a").queued != 2 {
		t.Error("the answer does not count")
	}
	if !h.claim("a", now.Add(holdsFor)) || h.get("a").queued != 2 {
		t.Error("it is not asked again, or what was known is lost meanwhile")
	}
	h.put("a", nil)
	for i := range 100 {
		later := now.Add(time.Duration(i) * holdsKept)
		if jid := fmt.Sprint(i); h.claim(jid, later) {
			h.put(jid, &hold{asked: later})
		}
	}
	if all := <-h; len(all) > 3 {
		t.Errorf("%d are kept", len(all))
	}
}

// TestTake: a job that waits for returns is open, and one that does not is done. Jobs that are not in the
// answer stay as they were.
func TestTake(t *testing.T) {
	c := &console{holds: newHolds()}
	now := time.Now()
	jid := func(ago time.Duration, n int) string {
		return payload.NewJID(now.Add(-ago).Add(time.Duration(n) * time.Microsecond))
	}
	open, queued, past, old, fresh, question := jid(time.Minute, 0), jid(time.Minute, 1), jid(time.Minute, 2),
		jid(2*time.Hour, 3), jid(0, 4), jid(time.Minute, 5)
	c.holds.put(queued, &hold{queued: 1, asked: now})
	l := &jobList{c: c, all: true, known: map[string]*JobRow{}, doubt: make(chan []outstanding, 1)}
	for _, id := range []string{past, old, fresh} {
		l.known[id] = &JobRow{JID: id, State: stateRunning, Minions: 2, Returned: 1, began: beganAt(id)}
	}
	job := func(id, fun string) *payload.Map {
		return payload.M("jid", id, "fun", fun, "minions", 2, "returned", 1, "outstanding", 1, "waiting_for",
			[]any{"a"})
	}
	jobs := payload.M("jobs", []any{job(open, "cmd.run"), job(queued, "test.ping"), job(question, "saltutil.find_job")},
		"runners", []any{payload.M("jid", jid(time.Hour, 6), "fun", "runner.manage.up")}, "whole", true)
	l.take(jobs, now.Add(-time.Hour))
	want := map[string]string{open: stateRunning, queued: stateQueued, past: stateDone, old: stateRunning,
		fresh: stateRunning, jid(time.Hour, 6): stateRunning}
	for id, state := range want {
		if l.known[id] == nil || l.known[id].State != state {
			t.Errorf("%s: got %+v, want %s", id, l.known[id], state)
		}
	}
	if len(l.known) != len(want) || l.known[past].Returned != 2 || l.known[old].Returned != 1 {
		t.Errorf("%d jobs; past %+v, old %+v", len(l.known), l.known[past], l.known[old])
	}
	if ask := <-l.doubt; len(ask) != 2 || ask[0].jid != open || ask[0].more != 0 {
		t.Errorf("asks about %v", ask)
	}
	l.take(payload.M("jobs", []any{}, "runners", []any{}, "whole", false), now.Add(-time.Hour))
	if l.known[open].State != stateRunning || l.known[jid(time.Hour, 6)].State != stateDone {
		t.Errorf("a list that is not whole: %+v, runner %+v", l.known[open], l.known[jid(time.Hour, 6)])
	}
}

// TestTrim: jobs with outstanding returns stay if there are too many jobs.
func TestTrim(t *testing.T) {
	l := &jobList{known: map[string]*JobRow{}}
	l.known["0"] = &JobRow{JID: "0", State: stateQueued}
	for i := range maxJobs + 20 {
		jid := fmt.Sprintf("1%05d", i)
		l.known[jid] = &JobRow{JID: jid, State: stateDone}
	}
	l.trim()
	if len(l.known) != maxJobs || l.known["0"] == nil || l.known[fmt.Sprintf("1%05d", maxJobs+19)] == nil {
		t.Errorf("%d are left", len(l.known))
	}
}
