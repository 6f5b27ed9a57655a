package console

import (
	"context"
	"time"

	"brine/wire/control"
	"brine/wire/payload"
)

// Bounds of the questions where a job stands: each may be passed on to the minions that have not returned it.
const (
	maxHolds   = 20              // newest jobs that are asked about
	holdsAfter = 2 * time.Second // a job that is younger just runs
	holdsFor   = 5 * time.Second // for so long an answer counts
	holdsKept  = time.Minute
)

// hold is where the minions stand that have not returned a job, as far as is known.
type hold struct {
	queued int64 // it waits there: behind other jobs of the minion (process_count_max), or for its turn in a batch
	maybe  int64 // it runs there, or may do so
	asked  time.Time
	busy   bool // somebody asks now
}

// state is what a job does of which returns are outstanding.
func (h hold) state() string {
	switch {
	case h.asked.IsZero(), h.maybe > 0:
		return stateRunning
	case h.queued > 0:
		return stateQueued
	}
	return stateSilent
}

// holdsOf sorts the reasons of silence of a job. more is how many minions there are beyond those that were asked about.
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

// holds are those of all streams by job: the master is asked once for all pages. Whoever has taken the map may change
// it.
type holds chan map[string]hold

func newHolds() holds {
	h := make(holds, 1)
	h <- map[string]hold{}
	return h
}

// claim tells whether a job is to be asked about by the caller, who then has to call put.
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

// put keeps what was found out; nothing new when found is nil.
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

// get is the last that is known of a job; without an answer nothing is.
func (h holds) get(jid string) hold {
	all := <-h
	defer func() { h <- all }()
	return all[jid]
}

// outstanding is a job of which returns are.
type outstanding struct {
	jid  string
	ids  []any // some of the minions
	more int64 // the others
}

// inquire asks about the jobs that come, one after the other, until the context ends.
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

// holdOf asks about one job; nil when there is no answer.
func (c *console) holdOf(ctx context.Context, j outstanding) *hold {
	got, err := ask(ctx, c, control.GetWhy{JID: j.jid, IDs: payload.Texts(j.ids)})
	if err != nil {
		return nil
	}
	h := holdsOf(got.Reasons, j.more, time.Now())
	return &h
}
