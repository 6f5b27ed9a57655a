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
	list := func(ctx context.Context, _ *payload.Map) (any, error) { return daemon.MapOrNil(m.JobList(ctx)) }
	facts := func(_ context.Context, r *payload.Map) (any, error) { return m.JobFacts(r.Str("jid")), nil }
	return admin.Options{Queries: map[string]admin.Query{control.JobList: list, control.JobFacts: facts}, Bundle: map[string]admin.Query{"jobs": list}}
}
