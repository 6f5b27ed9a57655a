package run

import (
	"context"

	"brine/actors/master/copies"
	"brine/actors/master/jobs"
	"brine/modules/returners/jobcache"
	"brine/modules/runners"
	"brine/wire/payload"
)

// jobCache reads a job cache for a runner function, with what the bus has told of.
func (f *Functions) jobCache(name string) runners.JobCache {
	return settledCache{f.parts.Machine.JobCache(name), f.parts.Jobs, f.parts.Copies}
}

// settledCache is a returner with the jobs that are stored by now.
type settledCache struct {
	jobcache.Cache
	jobs   *jobs.Jobs
	copies *copies.Jobs
}

func (s settledCache) settle(ctx context.Context) {
	jobs.Settled{Jobs: s.jobs}.Settle()
	s.copies.Handed(ctx)
}

// GetLoad is that of the returner.
func (s settledCache) GetLoad(ctx context.Context, jid string) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetLoad(ctx, jid)
}

// GetJID is that of the returner.
func (s settledCache) GetJID(ctx context.Context, jid string) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetJID(ctx, jid)
}

// GetJIDs is that of the returner.
func (s settledCache) GetJIDs(ctx context.Context) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetJIDs(ctx)
}
