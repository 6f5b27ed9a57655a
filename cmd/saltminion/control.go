package saltminion

import (
	"context"

	"brine/actors/admin"
	"brine/actors/minion"
	"brine/cmd/daemon"
	"brine/wire/control"
	"brine/wire/payload"
)

// minionAnswers are what only a minion can tell.
func minionAnswers(m *minion.Minion) admin.Options {
	h := control.Handlers{}
	control.On(h, func(ctx context.Context, _ control.GetJobList) (*payload.Map, error) { return m.JobList(ctx) })
	control.On(h, func(_ context.Context, q control.GetJobFacts) (*payload.Map, error) { return m.JobFacts(q.JID), nil })
	return admin.Options{Queries: h, Bundle: map[string]admin.Aside{
		"jobs": func(ctx context.Context) (any, error) { return daemon.MapOrNil(m.JobList(ctx)) },
	}}
}
