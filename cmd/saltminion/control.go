package saltminion

import (
	"context"

	"brine/actors/admin"
	"brine/actors/minion"
	"brine/cmd/daemon"
	"brine/wire/control"
	"brine/wire/payload"
)

// minionAnswers returns the answers that only a minion can give.
func minionAnswers(m *minion.Minion) admin.Options {
	h, private := control.Handlers{}, control.Handlers{}
	control.On(h, func(ctx context.Context, _ control.GetJobList) (*payload.Map, error) { return m.JobList(ctx) })
	control.On(h, func(_ context.Context, q control.GetJobFacts) (*payload.Map, error) {
		return m.JobFacts(q.JID), nil
	})
	control.On(private, func(context.Context, control.GetReactor) (control.Reactor, error) { return m.Reactor(), nil })
	control.On(private, func(ctx context.Context, q control.TryReactor) (control.ReactorTrial, error) {
		return m.TryReactor(ctx, q.Tag, q.Data)
	})
	return admin.Options{Queries: h, Private: private, Bundle: map[string]admin.Aside{
		"jobs": func(ctx context.Context) (any, error) { return daemon.MapOrNil(m.JobList(ctx)) },
	}}
}
