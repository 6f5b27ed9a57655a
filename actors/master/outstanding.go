package master

import (
	"context"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/modules/runners"
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

// Outstanding tells which jobs since a moment wait for returns, the newest first, and which runners are at work. Jobs
// whose returns are not stored on this master (ext_job_cache, nocache) are not seen.
func (m *Master) Outstanding(ctx context.Context, since time.Time) (*payload.Map, error) {
	ends := time.Now().Add(pendingSearch)
	found, whole, err := m.stores.jobs.Pending(jobstore.Search{Since: since, Most: pendingMost,
		Stop: func() bool { return ctx.Err() != nil || time.Now().After(ends) }})
	if err != nil {
		return nil, err
	}
	jobs := make([]any, len(found))
	for i, p := range found {
		jobs[i] = pendingMap(p)
	}
	return payload.M("jobs", jobs, "whole", whole, "runners", m.core.functions.atWork()), nil
}

// pendingMap is one job; its arguments are nobody's business here.
func pendingMap(p jobstore.Pending) *payload.Map {
	silent := make([]any, min(len(p.Silent), silentMost))
	for i := range silent {
		silent[i] = p.Silent[i]
	}
	job := payload.NewPublishRequest(p.Load)
	return payload.M("jid", p.JID, "since", stats.Stamp(p.Created), "fun", job.Fun(), "tgt", job.Tgt(),
		"tgt_type", job.Field(payload.FieldTgtType), "user", job.Field(payload.FieldUser), "minions", p.Minions, "returned", p.Minions-len(p.Silent),
		"outstanding", len(p.Silent), "waiting_for", silent)
}

// atWork are the runner and wheel functions that run as actors.
func (f *ownFunctions) atWork() []any {
	list := []any{}
	f.busy.Range(func(name, v any) bool {
		req, ok := v.(runners.Request)
		if !ok {
			return true
		}
		run := payload.M("jid", req.JID, "fun", string(req.Kind)+"."+req.Fun, "user", req.User)
		if child, err := f.tree.Load().Look(name.(string)); err == nil {
			run.Set("since", stats.Stamp(child.Since))
		}
		list = append(list, run)
		return true
	})
	return list
}
