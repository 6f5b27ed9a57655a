package main

import (
	"context"
	"path/filepath"

	"brine/actors/admin"
	"brine/actors/master"
	"brine/supervisor"
	"brine/wire/payload"
)

// addControl lets a daemon answer on its control socket: about its actors, and what queries and commands add.
func (s *session) addControl(top *supervisor.Supervisor, queries, commands map[string]admin.Query) error {
	_, err := top.Add(admin.Spec(admin.Options{
		Path: filepath.Join(s.common.SockDir, controlSocket), Tree: top, Queries: queries, Commands: commands, Logger: s.log,
	}))
	return err
}

// jobQueries answer salt-run about the job store, which only the master's process can open. What the bus has told of
// is in the answers.
func jobQueries(m *master.Master) (queries, commands map[string]admin.Query) {
	jobs := m.Jobs()
	settled := func(read func(r *payload.Map) (any, error)) admin.Query {
		return func(ctx context.Context, r *payload.Map) (any, error) {
			if err := m.AwaitJobs(ctx); err != nil {
				return nil, err
			}
			return read(r)
		}
	}
	queries = map[string]admin.Query{
		cmdJobsLoad:    settled(func(r *payload.Map) (any, error) { return mapOrNil(jobs.Load(r.Str("jid"))) }),
		cmdJobsReturns: settled(func(r *payload.Map) (any, error) { return mapOrNil(jobs.Returns(r.Str("jid"))) }),
		cmdJobsLoads:   settled(func(*payload.Map) (any, error) { return mapOrNil(jobs.Loads()) }),
		cmdJobsEndTime: settled(func(r *payload.Map) (any, error) { return m.JobEnd(r.Str("jid")), nil }),
	}
	commands = map[string]admin.Query{
		cmdJobsStore: func(ctx context.Context, r *payload.Map) (any, error) {
			return true, m.KeepJob(ctx, r.Str("jid"), r.Str("id"), r.Map("load"))
		},
	}
	return queries, commands
}

// mapOrNil keeps a map that is not there from becoming an empty one.
func mapOrNil(m *payload.Map, err error) (any, error) {
	if m == nil {
		return nil, err
	}
	return m, err
}
