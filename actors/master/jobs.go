package master

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/modules/fleet/jobids"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/payload"
)

// jobsStore is the master job cache: the JobStore actor is its only writer, workers and runners read.
type jobsStore interface {
	jobWriter
	jobReader
	pendingReader
	runners.JobStore
}

// jobReader reads what the job cache holds.
type jobReader interface {
	GetJID(jid string) (*payload.Map, error)
	// Asked is the load of a job that somebody asked this master for, with its minions.
	Asked(jid string) (*payload.Map, error)
	// Announce writes the files in which Salt's own salt command looks for a job as soon as it has its answer.
	Announce(jobstore.Load) error
	// Note keeps a load past the death of the process until it is stored, without such files.
	Note(jobstore.Load) error
}

// jobs knows the jobs of this master: what is stored of them, and whose their ids are. Any number of goroutines may use
// it.
type jobs struct {
	store  jobsStore
	files  bool            // store is Salt's own layout of files
	writer *supervisor.Ref // JobStore
	room   *daemon.Bound   // of the returns that wait in it
	owed   *owed           // to the store
	ids    *jobids.Book
	users  []string // of the master, who may do everything
	book   *ledger.Book
}

// jobsOptions are what the configuration says of jobs.
type jobsOptions struct {
	queueMax int      // so many returns may wait in the writer (job_store_queue_max)
	unique   bool     // unique_jid
	users    []string // of the master, who may do everything
}

// newJobs reads and writes a store.
func newJobs(opt jobsOptions, store jobsStore, book *ledger.Book, log *slog.Logger) *jobs {
	_, files := store.(*jobstore.LocalCache)
	owed := &owed{log: log}
	if kept, ok := store.(interface{ Left() []jobstore.Load }); ok {
		for _, l := range kept.Left() {
			owed.add(&group{loads: []*SaveLoad{{JID: l.JID, Load: l.Load, Minions: l.Minions, NoCache: l.NoCache,
				Announced: true}}})
		}
	}
	room := daemon.NewBound(daemon.BoundOptions{What: "returns for the job store", Most: opt.queueMax,
		Log: log}) // their bytes are the request port's
	return &jobs{store: store, files: files, writer: supervisor.NewRef(), room: room, owed: owed,
		ids: jobids.New(opt.unique), users: opt.users, book: book}
}

// child is the JobStore as a child of the master.
func (j *jobs) child(opt jobStoreOptions) supervisor.Spec {
	opt.store, opt.facts, opt.owed = j.store, jobFacts{j.book, opt.log}, j.owed
	return supervisor.Spec{Name: "JobStore", Store: true, Ref: j.writer,
		New: func() supervisor.Actor { return &jobStore{opt: opt} }}
}

// knows tells whether there is a job of that id: others are not remembered because a minion speaks of them.
func (j *jobs) knows(jid string) bool {
	if j.book.Knows(jid) {
		return true
	}
	load, err := j.store.Load(jid)
	return err == nil && load != nil
}

// send sends a message to the JobStore.
func (j *jobs) send(msg any) { j.writer.Send(msg) }

// hasRoom waits until one more return may be kept; false when that takes longer than patience.
func (j *jobs) hasRoom(patience time.Duration) bool {
	if j.room.Has() {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return j.room.Wait(ctx)
}

// keep hands a return of a minion to the store.
func (j *jobs) keep(m *StoreReturn) {
	m.place.Enter(j.room, 0)
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

// endTime is when the last return of a job came, in Salt's form; "" when that is not known.
func (j *jobs) endTime(jid string) string {
	if times, ok := j.store.(runners.EndTimes); ok {
		return times.EndTime(jid)
	}
	return ""
}

// keepRun stores a job of one participant with its return, such as a runner that a tool has run.
func (j *jobs) keepRun(ctx context.Context, jid, id string, load *payload.Map) error {
	if jid == "" || id == "" || load == nil {
		return errors.New("a job needs jid, id and load")
	}
	stored := make(chan error, 1)
	j.writer.Send(&SaveLoad{JID: jid, Minions: []string{id}, Load: runnerLoad(load, id)})
	j.writer.Send(&StoreReturn{JID: jid, ID: id, Load: load, Keep: true, Stored: func(err error) {
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
