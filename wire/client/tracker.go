package client

import (
	"slices"
	"time"
)

// unknownGrace is how long a return may still be under way after its minion has said that it does not run the job: the
// minion removes its note of the job before it sends the return.
const unknownGrace = 2 * time.Second

// answering is how long after one return the client expects the next one without asking.
const answering = time.Second

// Silence says why a minion gave no return.
type Silence int

// Reasons, from the least certain to the most certain.
const (
	Answered     Silence = iota // it returned
	NoResponse                  // it answered neither the job nor find_job
	NotRunning                  // it is alive and does not run the job: it never did, or its return was lost
	FindJobError                // its find_job failed; Salt's tools do not mention such a minion
	NotConnected                // it cannot have received the job
	Unknown                     // the master has no such minion
)

// action is the next action of a tracker's owner.
type action int

const (
	wait action = iota // until an event, or until the returned time
	ask                // publish find_job to the pending minions
	done
)

// tracker decides how long to wait for which minion (salt/client/__init__.py, get_iter_returns). It holds no clock and
// no socket.
//
// Unlike Salt: it ends as soon as it knows of every expected minion that it will not answer, without waiting for the
// rest of gather_job_timeout. And it asks no minion while returns keep coming.
type tracker struct {
	timeout, gather, grace time.Duration
	syndicWait             time.Duration
	ordered                bool // order_masters

	minions  map[string]*minion // expected or known
	counts   counts             // of the expected minions that have not returned
	heard    time.Time          // the time of the last return
	missing  []string           // unknown to the master
	asking   bool               // find_job is being published
	running  bool               // a minion is running the job, or none was asked yet
	deadline time.Time          // of the current round
	syndics  time.Time          // until then syndics may name more minions
}

// minion is the state of one minion.
type minion struct {
	expected bool
	found    bool
	below    bool // a syndic has named it
	reason   Silence
	settled  time.Time // with a reason: the end of the wait for it
	deadline time.Time // without a reason: the end of the wait for it; zero before the first step
	counted  standing  // its share in the counts
}

// standing says how a minion counts.
type standing struct {
	pending bool // it is expected and has not returned
	open    bool // it may still answer
	young   bool // it has no reason, and its time is not over
}

// counts are the numbers of minions in each state. Each change of a minion updates them, so that thousands of returns
// do not need to go through thousands of minions each.
type counts struct {
	pending, open, young int
	changed              []*minion // minions that have not been counted again
	// the earliest time at which a minion's standing changes without an event, or earlier; zero: there is none
	wake time.Time
}

// change must be called for a minion whose standing may have changed.
func (t *tracker) change(m *minion) { t.counts.changed = append(t.counts.changed, m) }

// start begins the wait for the minions of a publish reply.
func (t *tracker) start(now time.Time, minions []string) {
	t.minions, t.counts = make(map[string]*minion, len(minions)), counts{}
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

// expect adds minions, for example minions below a syndic.
func (t *tracker) expect(ids []string) {
	for _, id := range ids {
		m := t.get(id)
		m.expected = true
		t.change(m)
	}
}

// expectBelow adds minions that a syndic has named. This master's knowledge of their connections then means nothing.
func (t *tracker) expectBelow(ids []string) {
	t.expect(ids)
	for _, id := range ids {
		m := t.get(id)
		m.below = true
		if m.reason == NotConnected {
			m.reason = Answered
		}
	}
}

// returned records a return and reports whether it is the first one of its minion.
func (t *tracker) returned(now time.Time, id string) bool {
	m := t.get(id)
	first := !m.found
	m.found, t.heard = true, now
	t.change(m)
	return first
}

// gone ends the wait for some minions.
func (t *tracker) gone(now time.Time, reason Silence, ids ...string) {
	for _, id := range ids {
		m := t.get(id)
		if m.below && reason == NotConnected {
			continue
		}
		m.reason, m.settled = reason, now
		t.change(m)
	}
}

// asked records that find_job was published to reached, a part of asked; nil if publishing failed.
func (t *tracker) asked(now time.Time, asked, reached []string) {
	t.asking = false
	t.deadline = now.Add(t.gather)
	if t.ordered {
		t.deadline = t.deadline.Add(t.syndicWait)
		return
	}
	if reached == nil {
		return
	}
	accepted := make(map[string]bool, len(reached))
	for _, id := range reached {
		accepted[id] = true
	}
	for _, id := range asked { // the keys of the others have gone: they cannot answer
		if !accepted[id] {
			t.gone(now, Unknown, id)
		}
	}
}

// foundRunning records that a minion is running the job.
func (t *tracker) foundRunning(now time.Time, id string) {
	m := t.get(id)
	m.expected, m.reason = true, Answered
	m.deadline = now.Add(t.timeout)
	t.running = true
	t.change(m)
}

// foundIdle records that a minion is not running the job.
func (t *tracker) foundIdle(now time.Time, id string) {
	if m := t.minions[id]; m != nil && m.reason == Answered {
		m.reason, m.settled = NotRunning, now.Add(t.grace)
		if t.ordered {
			m.settled = m.settled.Add(t.syndicWait)
		}
		t.change(m)
	}
}

// pending returns the expected minions that have not returned, sorted.
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

// next decides the next action, and until when the decision is valid. A zero time means no limit.
func (t *tracker) next(now time.Time) (action, time.Time) {
	c := t.count(now)
	if c.open == 0 && !t.ordered {
		return done, time.Time{}
	}
	if t.ordered && len(t.minions) > 0 && c.open == 0 {
		if now.After(t.syndics) {
			return done, time.Time{}
		}
		return wait, t.syndics
	}
	if t.asking {
		return wait, c.wake
	}
	if !now.After(t.deadline) {
		return wait, earlier(c.wake, t.deadline)
	}
	if t.running {
		if still := t.heard.Add(min(answering, t.timeout)); !now.After(still) {
			return wait, earlier(c.wake, still)
		}
		t.asking, t.running = true, false
		return ask, time.Time{}
	}
	if c.young == 0 {
		return done, time.Time{}
	}
	return wait, c.wake
}

// silences are the minions without a return, with the reasons, sorted: first the expected ones, then those that are
// unknown to the master.
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

// count updates the counts: for the changed minions, or for all minions if a standing has changed with time.
func (t *tracker) count(now time.Time) *counts {
	c := &t.counts
	if !c.wake.IsZero() && !now.Before(c.wake) {
		*c = counts{}
		for _, m := range t.minions {
			m.counted = standing{}
			s, limit := t.stand(now, m)
			c.add(m, s, limit)
		}
		return c
	}
	changed := c.changed
	c.changed = nil
	for _, m := range changed {
		c.drop(m)
		s, limit := t.stand(now, m)
		c.add(m, s, limit)
	}
	return c
}

// stand returns a minion's standing, and until when it is valid; a zero time means no limit.
func (t *tracker) stand(now time.Time, m *minion) (standing, time.Time) {
	if !m.expected || m.found {
		return standing{}, time.Time{}
	}
	if m.deadline.IsZero() {
		m.deadline = now.Add(t.timeout)
	}
	limit := m.deadline
	if m.reason != Answered {
		limit = m.settled
	}
	in := now.Before(limit)
	if !in {
		limit = time.Time{}
	}
	return standing{pending: true, open: in || m.reason == Answered, young: in && m.reason == Answered}, limit
}

func (c *counts) add(m *minion, s standing, limit time.Time) {
	m.counted = s
	c.pending, c.open, c.young = c.pending+one(s.pending), c.open+one(s.open), c.young+one(s.young)
	c.wake = earlier(c.wake, limit)
}

func (c *counts) drop(m *minion) {
	s := m.counted
	c.pending, c.open, c.young = c.pending-one(s.pending), c.open-one(s.open), c.young-one(s.young)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// earlier is the earlier of two times; zero means never.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() {
		return a
	}
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
