package client

import (
	"context"
	"slices"
	"time"

	"brine/wire/payload"
)

// Standing is what a master knows for certain about minions that have not returned a job.
type Standing struct {
	Gone     []string // they did not get it
	Returned []string // their returns have arrived: the events of these returns are under way, or were lost
	Running  []string // they are running the job
}

// all are the minions with a known state.
func (s Standing) all() []string { return slices.Concat(s.Gone, s.Returned, s.Running) }

// ask asks about the pending minions: first the master, then by find_job the minions about which the master knows
// nothing. It sends the result to rounds.
func (r *Run) ask(ctx context.Context) {
	pending := r.track.pending()
	if len(pending) == 0 {
		r.rounds <- round{}
		return
	}
	r.stream.narrow(isJobTag) // until the jid of find_job is known
	go func() {
		var out round
		if r.c.opt.Standing != nil {
			out.known = r.c.opt.Standing(ctx, r.JID, pending)
		}
		known := setOf(out.known.all())
		out.asked = slices.DeleteFunc(slices.Clone(pending), func(id string) bool { return known[id] })
		if len(out.asked) > 0 {
			out.pub, out.err = r.findJob(ctx, out.asked)
		}
		r.rounds <- out
	}()
}

// findJob publishes find_job to some minions of the job. Every minion of the master receives a list of ids and searches
// it. So if the list would name most of the minions of the job, the job's own target is sent instead; minions that have
// already returned then answer that they do not run the job.
func (r *Run) findJob(ctx context.Context, ids []string) (Published, error) {
	job := Job{Tgt: ids, TgtType: "list", Fun: funFindJob, Arg: []any{r.JID},
		Kwargs: payload.Whose(r.job.Kwargs), Timeout: r.track.gather}
	if tgt := r.job; r.byID() && len(ids) > fewIDs && 2*len(ids) > len(r.Minions) {
		whole := job
		whole.Tgt, whole.TgtType = tgt.Tgt, tgt.TgtType
		if pub, err := r.c.Publish(ctx, whole); err == nil && pub.JID != "" {
			return pub, nil
		}
	}
	return r.c.Publish(ctx, job)
}

// fewIDs is the number of ids that are always sent as a list.
const fewIDs = 50

// byID tells whether the target of the job depends only on the id, so that minions and master agree on its meaning.
func (r *Run) byID() bool {
	switch r.job.TgtType {
	case "", "glob", "pcre":
		return true
	}
	return false
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// onRound handles the result of asking.
func (r *Run) onRound(found round) {
	if found.err != nil {
		r.c.log.Warn("find_job not published", "jid", r.JID, "err", found.err)
	}
	r.info = found.pub.JID
	r.narrow()
	reached := found.pub.Minions
	if found.err != nil || len(found.asked) == 0 {
		reached = nil
	}
	now := time.Now()
	r.track.asked(now, found.asked, reached)
	r.track.gone(now, NotConnected, found.known.Gone...)
	for _, id := range found.known.Returned {
		r.track.foundIdle(now, id)
	}
	for _, id := range found.known.Running {
		r.track.foundRunning(now, id)
	}
}
