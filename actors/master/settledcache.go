package master

import (
	"context"

	"brine/modules/returners/jobcache"
	"brine/modules/runners"
	"brine/wire/payload"
)

// jobCache reads a job cache for a runner function, with what the bus has told of.
func (f *ownFunctions) jobCache(name string) runners.JobCache {
	return settledCache{f.machine.jobCache(name), f.jobs, f.copies}
}

// settledCache is a returner with the jobs that are stored by now.
type settledCache struct {
	jobcache.Cache
	jobs   *jobs
	copies *jobCopies
}

func (s settledCache) settle(ctx context.Context) {
	settledJobs{s.jobs}.settle()
	s.copies.handed(ctx)
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
