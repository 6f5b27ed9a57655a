package client

import (
	"context"
	"slices"
	"time"

	"brine/wire/payload"
)

// Standing is what a master knows for certain of minions that have not returned a job.
type Standing struct {
	Gone     []string // they did not get it
	Returned []string // their returns are there: the events of them are on their way, or were lost
	Running  []string // they are at work on it
}

// all are the minions of which something is known.
func (s Standing) all() []string { return slices.Concat(s.Gone, s.Returned, s.Running) }

// ask asks about the pending minions: the master first, then by find_job those of whom it knows nothing. The outcome
// comes by rounds.
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

// findJob publishes find_job to some minions of the job. A list of ids goes to every minion of the master, each of
// which takes it apart: where it names most of those whom the job's own target means, that target is sent instead.
// Those who have returned say that they do not run the job.
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

// fewIDs may be sent as a list in any case.
const fewIDs = 50

// byID tells whether the target of the job asks for nothing but the id: minion and master agree on whom it means.
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

// onRound takes what came of asking.
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
