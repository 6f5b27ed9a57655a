package saltmaster

import (
	"context"

	"brine/actors/master"
	"brine/wire/control"
)

// answerAboutJobs answers questions about the master's data of its jobs.
func answerAboutJobs(h control.Handlers, m *master.Master) {
	control.On(h, func(ctx context.Context, q control.GetTrace) (control.Trace, error) {
		got, err := m.Trace(ctx, q.JID, q.Minion)
		return control.Trace{Raw: got}, err
	})
	control.On(h, func(ctx context.Context, q control.GetWhy) (control.Reasons, error) {
		got, err := m.Why(ctx, q.JID, q.IDs...)
		return control.Reasons{Raw: got}, err
	})
	control.On(h, func(ctx context.Context, q control.GetGone) ([]string, error) {
		return m.Gone(ctx, q.JID, q.IDs), nil
	})
	control.On(h, func(ctx context.Context, q control.GetStanding) (control.Standing, error) {
		return m.Standing(ctx, q.JID, q.IDs), nil
	})
}
