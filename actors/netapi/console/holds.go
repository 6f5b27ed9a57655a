package console

import (
	"context"
	"time"

	"brine/wire/control"
	"brine/wire/payload"
)

// These limits apply to questions about the state of a job, because the master may pass each on to the minions
// without a return.
const (
	maxHolds   = 20              // number of newest jobs to ask about
	holdsAfter = 2 * time.Second // a younger job simply counts as running
	holdsFor   = 5 * time.Second // how long an answer is valid
	holdsKept  = time.Minute
)

// hold counts the states of minions that have not returned a job, as far as they are known.
type hold struct {
	queued int64 // minions where it waits for other jobs (process_count_max), or for its turn in a batch
	maybe  int64 // minions that run it, or may do so
	asked  time.Time
	busy   bool // a goroutine is asking
}

// state is the state of a job with outstanding returns.
func (h hold) state() string {
	switch {
	case h.asked.IsZero(), h.maybe > 0:
		return stateRunning
	case h.queued > 0:
		return stateQueued
	}
	return stateSilent
}

// holdsOf counts the reasons of silence of a job. more is the number of further minions without a known reason.
func holdsOf(reasons []control.Reason, more int64, now time.Time) hold {
	h := hold{maybe: max(more, 0), asked: now}
	for _, r := range reasons {
		switch r.Code {
		case "queued", "batch_turn":
			h.queued++
		case "running", "received", "publishing", "connected_no_answer", "unknown_old_minion", "unknown", "unknown_job",
			"expired":
			h.maybe++
		}
	}
	return h
}

// holds maps jobs to their states for all streams, so that the master is asked once for all pages. The
// goroutine that has taken the map may change it.
type holds chan map[string]hold

func newHolds() holds {
	h := make(holds, 1)
	h <- map[string]hold{}
	return h
}

// claim tells whether the caller must ask about a job. The caller then has to call put.
func (h holds) claim(jid string, now time.Time) bool {
	all := <-h
	defer func() { h <- all }()
	one := all[jid]
	if one.busy || now.Sub(one.asked) < holdsFor {
		return false
	}
	for old, o := range all {
		if !o.busy && now.Sub(o.asked) > holdsKept {
			delete(all, old)
		}
	}
	one.busy = true
	all[jid] = one
	return true
}

// put stores an answer. nil means that there is none.
func (h holds) put(jid string, found *hold) {
	all := <-h
	defer func() { h <- all }()
	if found != nil {
		all[jid] = *found
		return
	}
	one := all[jid]
	if one.busy = false; one.asked.IsZero() {
		delete(all, jid)
		return
	}
	all[jid] = one
}

// get returns the last known state of a job. Without an answer all fields are zero.
func (h holds) get(jid string) hold {
	all := <-h
	defer func() { h <- all }()
	return all[jid]
}

// outstanding is a job with outstanding returns.
type outstanding struct {
	jid  string
	ids  []any // some of the minions
	more int64 // number of the other minions
}

// inquire asks about the jobs from a channel, one after another, until the context ends.
func (c *console) inquire(ctx context.Context, jobs <-chan []outstanding) {
	for {
		select {
		case <-ctx.Done():
			return
		case list := <-jobs:
			for _, j := range list {
				if ctx.Err() == nil && c.holds.claim(j.jid, time.Now()) {
					c.holds.put(j.jid, c.holdOf(ctx, j))
				}
			}
		}
	}
}

// holdOf asks about one job. It returns nil if there is no answer.
func (c *console) holdOf(ctx context.Context, j outstanding) *hold {
	got, err := ask(ctx, c, control.GetWhy{JID: j.jid, IDs: payload.Texts(j.ids)})
	if err != nil {
		return nil
	}
	h := holdsOf(got.Reasons, j.more, time.Now())
	return &h
}
