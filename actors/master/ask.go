package master

import (
	"context"
	"maps"
	"slices"
	"time"

	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/payload"
)

// Trace is the way of a job through every hop, as a map with documented names; of one minion when id is set.
func (m *Master) Trace(ctx context.Context, jid, id string) (*payload.Map, error) {
	return m.core.answers.Trace(ctx, jid, id)
}

// Why is the reason for the silence of each minion of a job, and of each whose return is not stored, or of those that
// are named. See answers.Service.
func (m *Master) Why(ctx context.Context, jid string, ids ...string) (*payload.Map, error) {
	return m.core.answers.Why(ctx, jid, ids...)
}

// Gone lists those of some minions that certainly did not get a job.
func (m *Master) Gone(ctx context.Context, jid string, ids []string) []string {
	return m.core.answers.Gone(ctx, jid, ids)
}

// Standing tells how some minions stand with a job that they were sent.
func (m *Master) Standing(ctx context.Context, jid string, ids []string) control.Standing {
	return m.core.answers.Standing(ctx, jid, ids)
}

// Roster tells of all minions with a key whose ids match a glob, "" for all.
func (m *Master) Roster(ctx context.Context, glob string) (*payload.Map, error) {
	return m.core.answers.Roster(ctx, glob)
}

// NoteClient notes what a command line says of its job.
func (m *Master) NoteClient(jid string, said *payload.Map) { m.core.answers.NoteClient(jid, said) }

// Present is who is connected, as manage.present shows it: ids to addresses.
func (m *Master) Present() (*payload.Map, error) {
	found, err := m.core.attendance.Connected()
	if err != nil {
		return nil, err
	}
	all := payload.NewMap(len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all.Set(id, found[id])
	}
	return all, nil
}

// Jobs reads the job store, for tools that cannot open it themselves.
func (m *Master) Jobs() runners.JobStore { return m.stores.jobs }

// JobEnd is when the last return of a job came, in Salt's form; "" when that is not known.
func (m *Master) JobEnd(jid string) string { return m.core.jobs.EndTime(jid) }

// AwaitJobs waits until every return that the bus has told of is stored. Without it a tool that asks for a job it has
// just seen the end of may come before the disk has.
func (m *Master) AwaitJobs(ctx context.Context) error {
	err := m.core.jobs.Await(ctx)
	m.core.copies.Handed(ctx)
	return err
}

// KeepJob stores a job of one participant with its return, such as a runner that a tool has run.
func (m *Master) KeepJob(ctx context.Context, jid, id string, load *payload.Map) error {
	return m.core.jobs.KeepRun(ctx, jid, id, load)
}

// Outstanding tells which jobs since a moment wait for returns, the newest first, and which runners are at work. Jobs
// whose returns are not stored on this master (ext_job_cache, nocache) are not seen.
func (m *Master) Outstanding(ctx context.Context, since time.Time) (*payload.Map, error) {
	found, err := m.core.jobs.Outstanding(ctx, since)
	if err != nil {
		return nil, err
	}
	return found.Set("runners", m.core.functions.AtWork()), nil
}

// Newest tells of the newest jobs, done or not, in the form of Outstanding. want says by the load which of them; it
// must not change it. Of a job whose returns are not stored, -1 have returned.
func (m *Master) Newest(ctx context.Context, count int, want func(load *payload.Map) bool) (*payload.Map, error) {
	if err := m.AwaitJobs(ctx); err != nil {
		return nil, err
	}
	return m.core.jobs.Newest(ctx, count, want)
}

// ForgetFileLists drops the lists that are remembered of some environments and backends, nil for all, and returns
// which.
func (m *Master) ForgetFileLists(envs, back []string) *payload.Map {
	return m.core.files.Server.Load().Forget(envs, back)
}

// ManageReactor does what the runner functions reactor.* do.
func (m *Master) ManageReactor(q control.ManageReactor) (control.ReactorManaged, error) {
	return m.core.reactions.Manage(q)
}

// Reactor tells an operator about the Reactor.
func (m *Master) Reactor() control.Reactor { return m.core.reactions.Show() }

// TryReactor tells what an event would set off. Nothing is run.
func (m *Master) TryReactor(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	return m.core.reactions.Try(ctx, tag, data)
}
