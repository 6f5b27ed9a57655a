package master

import (
	"context"
	"maps"
	"slices"

	"brine/wire/control"
	"brine/wire/payload"
)

// Trace is the way of a job through every hop, as a map with documented names; of one minion when id is set.
func (m *Master) Trace(ctx context.Context, jid, id string) (*payload.Map, error) {
	return m.core.answers.Trace(ctx, jid, id)
}

// Why is the reason for the silence of each minion of a job, and of each whose return is not stored, or of those that
// are named. See answers.Desk.
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
