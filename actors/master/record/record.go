// Package record notes what happens to jobs: in the ledger, in the metrics, and for the Tracer. A Record owns nothing
// itself; the parts that publish jobs and take returns tell it.
package record

import (
	"cmp"
	"time"

	"brine/actors/master/meter"
	"brine/actors/master/targets"
	"brine/actors/master/tracing"
	"brine/modules/execution/brine"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
	"brine/wire/python"
)

// What of jobs and minions is remembered in memory; older jobs are read from the store.
const (
	ledgerJobs = 4096
	ledgerRows = 32768
)

// NewBook is a ledger within limits; zero: those of every master.
func NewBook(l ledger.Limits) *ledger.Book {
	return ledger.NewBook(ledger.Limits{Jobs: cmp.Or(l.Jobs, ledgerJobs), Rows: cmp.Or(l.Rows, ledgerRows)})
}

// Origin is where a request came from, as the ledger tells it. The zero value: nobody asked.
type Origin struct {
	At, Began, Matched time.Time
	Lane, Worker       string
	NoFiles            bool           // nobody looks in the files of its job
	Minion             *ledger.Minion // what a brine minion says of the job that it returns
}

// New notes it in a book. meter and trace may be nil.
func New(book *ledger.Book, meter *meter.Meter, trace *tracing.Tracing) *Record {
	return &Record{Book: book, meter: meter, Trace: trace}
}

// Record notes what happens to jobs: in the ledger, for brine why and brine trace, in the metrics, and for the Tracer.
// Any number of goroutines may use it.
type Record struct {
	Book  *ledger.Book
	meter *meter.Meter     // nil: nothing is counted
	Trace *tracing.Tracing // nil: nothing is traced
}

// Announced begins the facts of a job, of which pub is sent to the minions.
func (n *Record) Announced(ask payload.PublishRequest, pub payload.Job, who targets.Found, from Origin) {
	job := ledger.Job{
		JID: ask.JID(), Fun: python.Str(ask.Fun()), Tgt: python.Str(ask.Tgt()), TgtType: ask.TgtType(),
		User: ask.User(), Lane: from.Lane, Worker: from.Worker, Request: ledger.At(from.At),
		Work: ledger.At(from.Began), Matched: ledger.At(from.Matched), Announced: ledger.At(time.Now()),
		Minions: who.Minions, Missing: who.Missing,
		Bound: pub.TgtType() == "list" && ask.TgtType() != "list",
	}
	if arg := ask.Args(); job.Fun == funFindJob && len(arg) > 0 {
		job.Asks, _ = arg[0].(string)
	}
	n.Book.Begin(job)
	n.meter.Job(ask.Fun())
}

// funFindJob asks minions whether they run a job; what they say is a fact of that job.
const funFindJob = "saltutil.find_job"

// Sent notes what became of a publication (JobPublished, PublishRefused).
func (n *Record) Sent(jid string, sealed, sent time.Time, err error) {
	n.Book.Note(jid, func(j *ledger.Job) {
		j.Sealed, j.Sent, j.Failed = ledger.At(sealed), ledger.At(sent), ""
		if err != nil {
			j.Failed = err.Error()
		}
	})
}

// Replied is told when the command line has been answered.
func (n *Record) Replied(jid string) {
	now := ledger.At(time.Now())
	n.Book.Note(jid, func(j *ledger.Job) { j.Replied = now })
}

// Returned notes a return, and what it says of another job.
func (n *Record) Returned(ret *payload.Return, from Origin) {
	at, jid, id, retcode := from.At, ret.JID(), ret.ID(), ret.Code()
	if at.IsZero() {
		at = time.Now()
	}
	if n.meter != nil {
		n.meter.Ret(ret, n.Book.Announced(jid), ledger.At(at))
	}
	asks := n.Book.Returned(jid, id, ledger.Return{At: ledger.At(at), Worker: from.Worker, Retcode: retcode,
		Minion: from.Minion})
	if fun := python.Str(ret.Fun()); fun != funFindJob && fun != brine.Actors && fun != brine.Jobs &&
		fun != brine.Job {
		n.Book.Peers.Worked(id, jid, fun, ledger.At(at))
	}
	if asks == "" || retcode != 0 {
		return
	}
	if found, ok := ret.Value().(*payload.Map); ok {
		n.Book.NoteRow(asks, id, func(r *ledger.Row) { r.FoundAt, r.Running = ledger.At(at), found.Len() > 0 })
	}
}

// TakeFacts takes out of a request what a brine minion says of its job: nobody else is to see it. It counts when the
// minion's token vouches for it.
func (n *Record) TakeFacts(id string, vouched bool, load *payload.Map, from Origin) *ledger.Minion {
	said, has := load.Get(ledger.Field)
	if !has {
		return nil
	}
	load.Delete(ledger.Field)
	m, err := ledger.UnpackMinion(payload.AsBytes(said))
	if err != nil || !vouched {
		return nil
	}
	return n.Book.Peers.Timed(id, m, load, from.At)
}

// Stored notes that a return is on disk, or why it is not.
func (n *Record) Stored(jid, id string, err error) {
	lost := ""
	if err != nil {
		lost = err.Error()
	}
	n.Kept(jid, id, ledger.At(time.Now()), lost)
}

// Kept notes that a return is kept, or in lost why it is not.
func (n *Record) Kept(jid, id string, at ledger.Stamp, lost string) {
	if first := n.Book.Kept(jid, id, at, lost); first && n.Trace != nil && n.Book.Meant(jid, id) {
		n.Trace.Returned(jid, id)
	}
}

// Refused notes a return whose signature does not do.
func (n *Record) Refused(id string, ret *payload.Return, at time.Time, err error) {
	why := "its signature does not match"
	if err != nil {
		why = err.Error()
	}
	if jid := ret.JID(); jid != "" && id != "" {
		n.Book.NoteRow(jid, id, func(row *ledger.Row) { row.RefusedAt, row.Refused = ledger.At(at), why })
	}
}
