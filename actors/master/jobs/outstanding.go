package jobs

import (
	"context"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// pendingReader finds the jobs of which returns are outstanding.
type pendingReader interface {
	Pending(jobstore.Search) (found []jobstore.Pending, whole bool, err error)
}

// Limits of an answer about outstanding jobs. The search ends early enough for an operator who waits.
const (
	pendingSearch = 80 * time.Millisecond
	pendingMost   = 200
	silentMost    = 100 // ids told of one job
)

// Outstanding tells which jobs since a moment wait for returns, the newest first. Jobs whose returns are not stored on
// this master (ext_job_cache, nocache) are not seen.
func (j *Jobs) Outstanding(ctx context.Context, since time.Time) (*payload.Map, error) {
	ends := time.Now().Add(pendingSearch)
	found, whole, err := j.Store.Pending(jobstore.Search{Since: since, Most: pendingMost,
		Stop: func() bool { return ctx.Err() != nil || time.Now().After(ends) }})
	if err != nil {
		return nil, err
	}
	return payload.M("jobs", pendingMaps(found), "whole", whole), nil
}

// Limits of an answer about the newest jobs, which a page asks for once.
const (
	newestSearch = 2 * time.Second
	newestMost   = 1000
)

// Newest tells of the newest jobs, done or not, in the form of outstanding. want says by the load which of them; it
// must not change it. Of a job whose returns are not stored, -1 have returned.
func (j *Jobs) Newest(ctx context.Context, count int, want func(load *payload.Map) bool) (*payload.Map, error) {
	ends := time.Now().Add(newestSearch)
	found, whole, err := j.Store.Pending(jobstore.Search{All: true, Most: max(0, min(count, newestMost)),
		Want: want,
		Stop: func() bool { return ctx.Err() != nil || time.Now().After(ends) }})
	if err != nil {
		return nil, err
	}
	return payload.M("jobs", pendingMaps(found), "whole", whole), nil
}

func pendingMaps(found []jobstore.Pending) []any {
	jobs := make([]any, len(found))
	for i, p := range found {
		jobs[i] = pendingMap(p)
	}
	return jobs
}

// pendingMap is one job; its arguments are nobody's business here.
func pendingMap(p jobstore.Pending) *payload.Map {
	silent := make([]any, min(len(p.Silent), silentMost))
	for i := range silent {
		silent[i] = p.Silent[i]
	}
	returned := p.Minions - len(p.Silent)
	if p.NoCache {
		returned = -1
	}
	job := payload.NewPublishRequest(p.Load)
	return payload.M("jid", p.JID, "since", stats.Stamp(p.Created), "fun", job.Fun(), "tgt", job.Tgt(),
		"tgt_type", job.Field(payload.FieldTgtType), "user", job.Field(payload.FieldUser), "minions", p.Minions,
		"returned", returned, "outstanding", len(p.Silent), "waiting_for", silent)
}
