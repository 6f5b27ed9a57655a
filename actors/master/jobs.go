package master

import (
	"context"
	"errors"
	"log/slog"

	"brine/modules/fleet/jobids"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/payload"
)

// jobs knows the jobs of this master: what is stored of them, and whose their ids are. Any number of goroutines may use
// it.
type jobs struct {
	store  jobCache
	files  bool            // store is Salt's own layout of files
	writer *supervisor.Ref // JobStore; set when that has started
	room   *room           // of the returns that wait in it
	owed   *owed           // to the store
	copies *jobCopies      // what returners get; nil: nothing
	ids    *jobids.Book
	users  []string // of the master, who may do everything
	book   *ledger.Book
}

// newJobs reads and writes a store in whose writer so many returns may wait. unique is unique_jid.
func newJobs(store jobCache, queueMax int, unique bool, book *ledger.Book, log *slog.Logger) *jobs {
	_, files := store.(*jobstore.LocalCache)
	owed := &owed{log: log}
	if kept, ok := store.(interface{ Left() []jobstore.Load }); ok {
		for _, l := range kept.Left() {
			owed.add(&group{loads: []*SaveLoad{{JID: l.JID, Load: l.Load, Minions: l.Minions, NoCache: l.NoCache,
				Announced: true}}})
		}
	}
	return &jobs{store: store, files: files, room: newReturnRoom(queueMax, log), owed: owed, ids: jobids.New(unique),
		book: book}
}

// knows tells whether there is a job of that id: others are not remembered because a minion speaks of them.
func (j *jobs) knows(jid string) bool {
	if j.book.Knows(jid) {
		return true
	}
	load, err := j.store.Load(jid)
	return err == nil && load != nil
}

// keep hands a return of a minion to the store.
func (j *jobs) keep(m *StoreReturn) {
	m.room = j.room
	m.room.enter(0)
	j.writer.Send(m) // one that is refused tells by itself that it is lost
}

// await waits until all that was sent to the store before is on disk, or could not be put there.
func (j *jobs) await(ctx context.Context) error {
	stored := make(chan struct{})
	j.writer.Send(&AwaitJobs{Done: func() { close(stored) }})
	select {
	case <-stored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Jobs reads the job store, for tools that cannot open it themselves.
func (m *Master) Jobs() runners.JobStore { return m.stores.jobs }

// JobEnd is when the last return of a job came, in Salt's form; "" when that is not known.
func (m *Master) JobEnd(jid string) string {
	return m.core.jobs.endTime(jid)
}

func (j *jobs) endTime(jid string) string {
	if times, ok := j.store.(runners.EndTimes); ok {
		return times.EndTime(jid)
	}
	return ""
}

// AwaitJobs waits until every return that the bus has told of is stored. Without it a tool that asks for a job it has
// just seen the end of may come before the disk has.
func (m *Master) AwaitJobs(ctx context.Context) error {
	err := m.core.jobs.await(ctx)
	m.core.jobs.copies.handed(ctx)
	return err
}

// KeepJob stores a job of one participant with its return, such as a runner that a tool has run.
func (m *Master) KeepJob(ctx context.Context, jid, id string, load *payload.Map) error {
	if jid == "" || id == "" || load == nil {
		return errors.New("a job needs jid, id and load")
	}
	stored := make(chan error, 1)
	m.core.jobs.writer.Send(&SaveLoad{JID: jid, Minions: []string{id}, Load: runnerLoad(load, id)})
	m.core.jobs.writer.Send(&StoreReturn{JID: jid, ID: id, Load: load, Keep: true, Stored: func(err error) {
		stored <- err
	}})
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runnerLoad is the publish load that stands for a run on the master.
func runnerLoad(load *payload.Map, id string) *payload.Map {
	ret := payload.NewReturn(load)
	words := ret.FunArgs()
	if words == nil {
		words = []any{} // Salt's runners cannot list a job whose arg is nil
	}
	out := payload.M("fun", ret.Fun(), "arg", words, "tgt", id, "tgt_type", "glob", "ret", "", "jid",
		ret.Field(payload.FieldJID))
	ret.Pass(out, payload.FieldUser)
	return out
}
