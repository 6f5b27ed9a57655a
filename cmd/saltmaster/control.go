package saltmaster

import (
	"context"
	"maps"
	"time"

	"brine/actors/admin"
	"brine/actors/master"
	"brine/cmd/daemon"
	"brine/wire/control"
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
			control.JobList: func(ctx context.Context, r *payload.Map) (any, error) {
				minutes, _ := r.Int("minutes")
				return daemon.MapOrNil(m.Outstanding(ctx, time.Now().Add(-time.Duration(minutes)*time.Minute)))
			},
			control.Roster: func(ctx context.Context, r *payload.Map) (any, error) {
				return daemon.MapOrNil(m.Roster(ctx, r.Str("glob")))
			},
		},
		Bundle: map[string]admin.Query{
			"jobs": func(ctx context.Context, _ *payload.Map) (any, error) {
				return daemon.MapOrNil(m.Outstanding(ctx, time.Now().Add(-24*time.Hour)))
			},
			"minions": func(ctx context.Context, _ *payload.Map) (any, error) { return daemon.MapOrNil(m.Roster(ctx, "")) },
		},
		Private: map[string]admin.Query{
			control.JobsLoad:    settled(func(r *payload.Map) (any, error) { return daemon.MapOrNil(jobs.Load(r.Str("jid"))) }),
			control.JobsReturns: settled(func(r *payload.Map) (any, error) { return daemon.MapOrNil(jobs.Returns(r.Str("jid"))) }),
			control.JobsLoads:   settled(func(*payload.Map) (any, error) { return daemon.MapOrNil(jobs.Loads()) }),
			control.JobsEndTime: settled(func(r *payload.Map) (any, error) { return m.JobEnd(r.Str("jid")), nil }),
		},
		Commands: map[string]admin.Query{
			control.JobsStore: func(ctx context.Context, r *payload.Map) (any, error) {
				return true, m.KeepJob(ctx, r.Str("jid"), r.Str("id"), r.Map("load"))
			},
		},
	}
	maps.Copy(opt.Queries, ledgerQueries(m))
	maps.Copy(opt.Private, ledgerNotes(m))
	return opt
}
