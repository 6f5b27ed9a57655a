// Package jobs keeps the jobs of the master. Jobs owns the job store and the ids of jobs; the actor JobStore is the
// only writer of the store, and holds what the disk does not take. Package jobs tells the meter of commits, and the
// ReqServer what became of returns. Answers to salt/utils/job.py and salt/returners/local_cache.py.
package jobs

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

// Store is the master job cache: the JobStore actor is its only writer, workers and runners read.
type Store interface {
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

// Jobs knows the jobs of this master: what is stored of them, and whose their ids are. Any number of goroutines may use
// it.
type Jobs struct {
	Store  Store
	Files  bool            // store is Salt's own layout of files
	Writer *supervisor.Ref // JobStore
	Room   *daemon.Bound   // of the returns that wait in it
	owed   *owed           // to the store
	IDs    *jobids.Book
	users  []string // of the master, who may do everything
	book   *ledger.Book
}

// Options are what the configuration says of jobs.
type Options struct {
	QueueMax int      // so many returns may wait in the writer (job_store_queue_max)
	Unique   bool     // unique_jid
	Users    []string // of the master, who may do everything
}

// New reads and writes a store.
func New(opt Options, store Store, book *ledger.Book, log *slog.Logger) *Jobs {
	_, files := store.(*jobstore.LocalCache)
	owed := &owed{log: log}
	if kept, ok := store.(interface{ Left() []jobstore.Load }); ok {
		for _, l := range kept.Left() {
			owed.add(&group{loads: []*SaveLoad{{JID: l.JID, Load: l.Load, Minions: l.Minions, NoCache: l.NoCache,
				Announced: true}}})
		}
	}
	room := daemon.NewBound(daemon.BoundOptions{What: "returns for the job store", Most: opt.QueueMax,
		Log: log}) // their bytes are the request port's
	return &Jobs{Store: store, Files: files, Writer: supervisor.NewRef(), Room: room, owed: owed,
		IDs: jobids.New(opt.Unique), users: opt.Users, book: book}
}

// Child is the JobStore as a child of the master.
func (j *Jobs) Child(opt WriterOptions) supervisor.Spec {
	opt.store, opt.facts, opt.owed = j.Store, jobFacts{j.book, opt.Log}, j.owed
	return supervisor.Spec{Name: "JobStore", Store: true, Ref: j.Writer,
		New: func() supervisor.Actor { return &jobStore{opt: opt} }}
}

// Knows tells whether there is a job of that id: others are not remembered because a minion speaks of them.
func (j *Jobs) Knows(jid string) bool {
	if j.book.Knows(jid) {
		return true
	}
	load, err := j.Store.Load(jid)
	return err == nil && load != nil
}

// Send sends a message to the JobStore.
func (j *Jobs) Send(msg any) { j.Writer.Send(msg) }

// HasRoom waits until one more return may be kept; false when that takes longer than patience.
func (j *Jobs) HasRoom(patience time.Duration) bool {
	if j.Room.Has() {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return j.Room.Wait(ctx)
}

// Keep hands a return of a minion to the store.
func (j *Jobs) Keep(m *StoreReturn) {
	m.place.Enter(j.Room, 0)
	j.Writer.Send(m) // one that is refused tells by itself that it is lost
}

// Await waits until all that was sent to the store before is on disk, or could not be put there.
func (j *Jobs) Await(ctx context.Context) error {
	stored := make(chan struct{})
	j.Writer.Send(&AwaitJobs{Done: func() { close(stored) }})
	select {
	case <-stored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// EndTime is when the last return of a job came, in Salt's form; "" when that is not known.
func (j *Jobs) EndTime(jid string) string {
	if times, ok := j.Store.(runners.EndTimes); ok {
		return times.EndTime(jid)
	}
	return ""
}

// KeepRun stores a job of one participant with its return, such as a runner that a tool has run.
func (j *Jobs) KeepRun(ctx context.Context, jid, id string, load *payload.Map) error {
	if jid == "" || id == "" || load == nil {
		return errors.New("a job needs jid, id and load")
	}
	stored := make(chan error, 1)
	j.Writer.Send(&SaveLoad{JID: jid, Minions: []string{id}, Load: runnerLoad(load, id)})
	j.Writer.Send(&StoreReturn{JID: jid, ID: id, Load: load, Keep: true, Stored: func(err error) {
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
