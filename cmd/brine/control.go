package main

import (
	"context"
	"maps"
	"time"

	"brine/actors/admin"
	"brine/actors/master"
	"brine/wire/payload"
)

// masterAnswers are what only a master can tell. salt-run is answered about the job store, which only the master's
// process can open; what the bus has told of is in the answers.
func masterAnswers(m *master.Master) admin.Options {
	jobs := m.Jobs()
	settled := func(read func(r *payload.Map) (any, error)) admin.Query {
		return func(ctx context.Context, r *payload.Map) (any, error) {
			if err := m.AwaitJobs(ctx); err != nil {
				return nil, err
			}
			return read(r)
		}
	}
	opt := admin.Options{
		Queries: map[string]admin.Query{
			cmdJobList: func(ctx context.Context, r *payload.Map) (any, error) {
				minutes, _ := r.Int("minutes")
				return mapOrNil(m.Outstanding(ctx, time.Now().Add(-time.Duration(minutes)*time.Minute)))
			},
			cmdRoster: func(ctx context.Context, r *payload.Map) (any, error) { return mapOrNil(m.Roster(ctx, r.Str("glob"))) },
		},
		Bundle: map[string]admin.Query{
			"jobs": func(ctx context.Context, _ *payload.Map) (any, error) {
				return mapOrNil(m.Outstanding(ctx, time.Now().Add(-24*time.Hour)))
			},
			"minions": func(ctx context.Context, _ *payload.Map) (any, error) { return mapOrNil(m.Roster(ctx, "")) },
		},
		Private: map[string]admin.Query{
			cmdJobsLoad:    settled(func(r *payload.Map) (any, error) { return mapOrNil(jobs.Load(r.Str("jid"))) }),
			cmdJobsReturns: settled(func(r *payload.Map) (any, error) { return mapOrNil(jobs.Returns(r.Str("jid"))) }),
			cmdJobsLoads:   settled(func(*payload.Map) (any, error) { return mapOrNil(jobs.Loads()) }),
			cmdJobsEndTime: settled(func(r *payload.Map) (any, error) { return m.JobEnd(r.Str("jid")), nil }),
		},
		Commands: map[string]admin.Query{
			cmdJobsStore: func(ctx context.Context, r *payload.Map) (any, error) {
				return true, m.KeepJob(ctx, r.Str("jid"), r.Str("id"), r.Map("load"))
			},
		},
	}
	maps.Copy(opt.Queries, ledgerQueries(m))
	maps.Copy(opt.Private, ledgerNotes(m))
	return opt
}
