package client

import (
	"slices"
	"time"
)

// unknownGrace is how long a return may still be on its way when its minion has said that it does not run the
// job: the note of a running job is removed before the return is sent.
const unknownGrace = 2 * time.Second

// Silence says why a minion gave no return.
type Silence int

// Reasons, from the least known to the best known.
const (
	Answered     Silence = iota // it did return
	NoResponse                  // it answered neither the job nor find_job
	NotRunning                  // it is alive and does not run the job: it never did, or its return was lost
	FindJobError                // its find_job failed; Salt's tools do not mention such a minion
	NotConnected                // it cannot have received the job
	Unknown                     // the master has no such minion
)

// action is what a tracker wants done.
type action int

const (
	wait action = iota // until an event or the time given
	ask                // publish find_job to the pending
	done
)

// tracker decides how long to wait for whom (salt/client/__init__.py, get_iter_returns). It holds no clock and
// no socket.
//
// Unlike Salt: it ends as soon as every minion that is still expected is known not to answer, and does not
// sit out the rest of gather_job_timeout then.
type tracker struct {
	timeout, gather, grace time.Duration
	syndicWait             time.Duration
	ordered                bool // order_masters

	minions  map[string]*minion // expected, or heard of
	missing  []string           // named by the master as unknown
	asking   bool               // find_job is being published
	running  bool               // somebody is at work, or nobody was asked yet
	deadline time.Time          // of the present round
	syndics  time.Time          // until then syndics may name more minions
}

// minion is what a tracker knows of one minion.
type minion struct {
	expected bool
	found    bool
	reason   Silence
	settled  time.Time // with a reason: from when on it is not waited for any more
	deadline time.Time // with none: until when it is waited for; zero before the first step
}

// start begins the wait for the minions of a publish reply.
func (t *tracker) start(now time.Time, minions []string) {
	t.minions = make(map[string]*minion, len(minions))
	t.running = true
	t.deadline = now.Add(t.timeout)
	t.syndics = now.Add(t.syndicWait)
	t.expect(minions)
}

func (t *tracker) get(id string) *minion {
	m := t.minions[id]
	if m == nil {
		m = &minion{}
		t.minions[id] = m
	}
	return m
}

// expect adds minions, below a syndic for instance.
func (t *tracker) expect(ids []string) {
	for _, id := range ids {
		t.get(id).expected = true
	}
}

// returned notes a return and reports whether it is the first of its minion.
func (t *tracker) returned(id string) bool {
	m := t.get(id)
	first := !m.found
	m.found = true
	return first
}

// gone notes that minions are not waited for from now on.
func (t *tracker) gone(now time.Time, reason Silence, ids ...string) {
	for _, id := range ids {
		m := t.get(id)
		m.reason, m.settled = reason, now
	}
}

// asked notes that find_job was published to these, of those that were pending; none when that failed.
func (t *tracker) asked(now time.Time, pending, reached []string) {
	t.asking = false
	t.deadline = now.Add(t.gather)
	if t.ordered {
		t.deadline = t.deadline.Add(t.syndicWait)
		return
	}
	if reached == nil {
		return
	}
	for _, id := range pending { // their keys are gone: nothing can come from them
		if !slices.Contains(reached, id) {
			t.gone(now, Unknown, id)
		}
	}
}

// foundRunning notes that a minion is at work on the job.
func (t *tracker) foundRunning(now time.Time, id string) {
	m := t.get(id)
	m.expected, m.reason = true, Answered
	m.deadline = now.Add(t.timeout)
	t.running = true
}

// foundIdle notes that a minion is not at work on the job.
func (t *tracker) foundIdle(now time.Time, id string) {
	if m := t.minions[id]; m != nil && m.reason == Answered {
		m.reason, m.settled = NotRunning, now.Add(t.grace)
	}
}

// pending are the expected minions that have not returned, sorted.
func (t *tracker) pending() []string {
	var ids []string
	for id, m := range t.minions {
		if m.expected && !m.found {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// next decides what is to be done now, and until when the answer holds. A zero time is without limit.
func (t *tracker) next(now time.Time) (action, time.Time) {
	open, over, wake := t.survey(now)
	if open == 0 && !t.ordered {
		return done, time.Time{}
	}
	if t.ordered && len(t.minions) > 0 && t.complete() {
		if now.After(t.syndics) {
			return done, time.Time{}
		}
		return wait, t.syndics
	}
	if t.asking {
		return wait, wake
	}
	if now.After(t.deadline) {
		if t.running {
			t.asking, t.running = true, false
			return ask, time.Time{}
		}
		if over {
			return done, time.Time{}
		}
		return wait, wake
	}
	return wait, earlier(wake, t.deadline)
}

// complete reports whether every expected minion has returned.
func (t *tracker) complete() bool {
	for _, m := range t.minions {
		if m.expected && !m.found {
			return false
		}
	}
	return true
}

// silences are the minions without a return and why, sorted: the expected first, then those the master named
// as unknown.
func (t *tracker) silences() []Return {
	var out []Return
	for _, id := range t.pending() {
		reason := t.minions[id].reason
		if reason == Answered {
			reason = NoResponse
		}
		out = append(out, Return{ID: id, Silence: reason})
	}
	slices.Sort(t.missing)
	for _, id := range slices.Compact(t.missing) {
		if m := t.minions[id]; m == nil || !m.found && !m.expected {
			out = append(out, Return{ID: id, Silence: Unknown})
		}
	}
	return out
}

// survey looks at the pending minions: how many may still answer, whether the time of all of them is over, and
// when that may change.
func (t *tracker) survey(now time.Time) (open int, over bool, wake time.Time) {
	over = true
	for _, m := range t.minions {
		if !m.expected || m.found {
			continue
		}
		if m.deadline.IsZero() {
			m.deadline = now.Add(t.timeout)
		}
		limit := m.deadline
		if m.reason != Answered {
			limit = m.settled
		}
		if now.Before(limit) {
			over = over && m.reason != Answered
			wake = earlier(wake, limit)
		}
		if m.reason == Answered || now.Before(limit) {
			open++
		}
	}
	return open, over, wake
}

// earlier is the earlier of two times; zero is never.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() {
		return a
	}
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
