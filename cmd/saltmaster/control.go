package saltmaster

import (
	"context"
	"slices"
	"time"

	"brine/actors/admin"
	"brine/actors/master"
	"brine/cmd/daemon"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// masterAnswers are what only a master can tell, and what it takes.
func masterAnswers(m *master.Master) admin.Options {
	opt := admin.Options{Queries: control.Handlers{}, Private: control.Handlers{}, Commands: control.Handlers{},
		Bundle: map[string]admin.Aside{
			"jobs": func(ctx context.Context) (any, error) {
				return daemon.MapOrNil(m.Outstanding(ctx, time.Now().Add(-24*time.Hour)))
			},
			"minions": func(ctx context.Context) (any, error) { return daemon.MapOrNil(m.Roster(ctx, "")) },
		}}
	control.On(opt.Queries, func(ctx context.Context, q control.GetJobList) (*payload.Map, error) {
		return m.Outstanding(ctx, time.Now().Add(-time.Duration(q.Minutes)*time.Minute))
	})
	control.On(opt.Queries, func(ctx context.Context, q control.GetRoster) (*payload.Map, error) {
		return m.Roster(ctx, q.Glob)
	})
	control.On(opt.Queries, func(context.Context, control.GetPresent) (*payload.Map, error) { return m.Present() })
	answerAboutJobs(opt.Queries, m)
	answerAboutReactor(opt, m)
	control.On(opt.Private, func(_ context.Context, q control.NoteClient) (control.Done, error) {
		m.NoteClient(q.JID, q.Facts)
		return true, nil
	})
	answerFromStore(opt.Private, m)
	control.On(opt.Commands, func(ctx context.Context, q control.KeepJob) (control.Done, error) {
		return true, m.KeepJob(ctx, q.JID, q.ID, q.Load)
	})
	control.On(opt.Commands, func(_ context.Context, q control.ForgetFileLists) (*payload.Map, error) {
		return m.ForgetFileLists(q.Envs, q.Backends), nil
	})
	return opt
}

// answerFromStore answers salt-run about the job store, which only the master's process can open; what the bus has told
// of is in the answers.
func answerFromStore(h control.Handlers, m *master.Master) {
	jobs := m.Jobs()
	control.On(h, func(ctx context.Context, q control.GetJobLoad) (*payload.Map, error) {
		if err := m.AwaitJobs(ctx); err != nil {
			return nil, err
		}
		return jobs.Load(q.JID)
	})
	control.On(h, func(ctx context.Context, q control.GetJobReturns) (*payload.Map, error) {
		if err := m.AwaitJobs(ctx); err != nil {
			return nil, err
		}
		all, err := jobs.Returns(q.JID)
		if one, ok := all.Get(q.ID); ok && q.ID != "" {
			return payload.M(q.ID, one), err
		}
		return all, err
	})
	control.On(h, func(ctx context.Context, _ control.GetJobLoads) (*payload.Map, error) {
		if err := m.AwaitJobs(ctx); err != nil {
			return nil, err
		}
		return jobs.Loads()
	})
	control.On(h, func(ctx context.Context, q control.GetNewestJobs) (*payload.Map, error) {
		return m.Newest(ctx, int(q.Count), func(load *payload.Map) bool {
			job := payload.NewPublishRequest(load)
			return (q.User == "" || job.User() == q.User) && !slices.Contains(q.Skip, python.Str(job.Fun()))
		})
	})
	control.On(h, func(ctx context.Context, q control.GetJobEnd) (string, error) {
		if err := m.AwaitJobs(ctx); err != nil {
			return "", err
		}
		return m.JobEnd(q.JID), nil
	})
}

// answerAboutReactor answers about the Reactor, and changes its rules. What went wrong may quote files and events: it
// is private.
func answerAboutReactor(opt admin.Options, m *master.Master) {
	control.On(opt.Private, func(context.Context, control.GetReactor) (control.Reactor, error) {
		return m.Reactor(), nil
	})
	control.On(opt.Private, func(ctx context.Context, q control.TryReactor) (control.ReactorTrial, error) {
		return m.TryReactor(ctx, q.Tag, q.Data)
	})
	control.On(opt.Commands, func(_ context.Context, q control.ManageReactor) (control.ReactorManaged, error) {
		return m.ManageReactor(q)
	})
}
