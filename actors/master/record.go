package master

import (
	"cmp"
	"time"

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

func newBook(l ledger.Limits) *ledger.Book {
	return ledger.NewBook(ledger.Limits{Jobs: cmp.Or(l.Jobs, ledgerJobs), Rows: cmp.Or(l.Rows, ledgerRows)})
}

// origin is where a request came from, as the ledger tells it. The zero value: nobody asked.
type origin struct {
	at, began, matched time.Time
	lane, worker       string
	noFiles            bool           // nobody looks in the files of its job
	minion             *ledger.Minion // what a brine minion says of the job that it returns
}

// record notes what happens to jobs: in the ledger, for brine why and brine trace, in the metrics, and for the Tracer.
// Any number of goroutines may use it.
type record struct {
	book  *ledger.Book
	meter *meter           // nil: nothing is counted
	trace *tracing.Tracing // nil: nothing is traced
}

// announced begins the facts of a job, of which pub is sent to the minions.
func (n *record) announced(ask payload.PublishRequest, pub payload.Job, who found, from origin) {
	job := ledger.Job{
		JID: ask.JID(), Fun: python.Str(ask.Fun()), Tgt: python.Str(ask.Tgt()), TgtType: ask.TgtType(),
		User: ask.User(), Lane: from.lane, Worker: from.worker, Request: ledger.At(from.at),
		Work: ledger.At(from.began), Matched: ledger.At(from.matched), Announced: ledger.At(time.Now()),
		Minions: who.Minions, Missing: who.Missing,
		Bound: pub.TgtType() == "list" && ask.TgtType() != "list",
	}
	if arg := ask.Args(); job.Fun == funFindJob && len(arg) > 0 {
		job.Asks, _ = arg[0].(string)
	}
	n.book.Begin(job)
	n.meter.job(ask.Fun())
}

// funFindJob asks minions whether they run a job; what they say is a fact of that job.
const funFindJob = "saltutil.find_job"

// sent notes what became of a publication (JobPublished, PublishRefused).
func (n *record) sent(jid string, sealed, sent time.Time, err error) {
	n.book.Note(jid, func(j *ledger.Job) {
		j.Sealed, j.Sent, j.Failed = ledger.At(sealed), ledger.At(sent), ""
		if err != nil {
			j.Failed = err.Error()
		}
	})
}

// replied is told when the command line has been answered.
func (n *record) replied(jid string) {
	now := ledger.At(time.Now())
	n.book.Note(jid, func(j *ledger.Job) { j.Replied = now })
}

// returned notes a return, and what it says of another job.
func (n *record) returned(ret *payload.Return, from origin) {
	at, jid, id, retcode := from.at, ret.JID(), ret.ID(), ret.Code()
	if at.IsZero() {
		at = time.Now()
	}
	if n.meter != nil {
		n.meter.ret(ret, n.book.Announced(jid), ledger.At(at))
	}
	asks := n.book.Returned(jid, id, ledger.Return{At: ledger.At(at), Worker: from.worker, Retcode: retcode,
		Minion: from.minion})
	if fun := python.Str(ret.Fun()); fun != funFindJob && fun != brine.Actors && fun != brine.Jobs &&
		fun != brine.Job {
		n.book.Peers.Worked(id, jid, fun, ledger.At(at))
	}
	if asks == "" || retcode != 0 {
		return
	}
	if found, ok := ret.Value().(*payload.Map); ok {
		n.book.NoteRow(asks, id, func(r *ledger.Row) { r.FoundAt, r.Running = ledger.At(at), found.Len() > 0 })
	}
}

// takeFacts takes out of a request what a brine minion says of its job: nobody else is to see it. It counts when the
// minion's token vouches for it.
func (n *record) takeFacts(id string, vouched bool, load *payload.Map, from origin) *ledger.Minion {
	said, has := load.Get(ledger.Field)
	if !has {
		return nil
	}
	load.Delete(ledger.Field)
	m, err := ledger.UnpackMinion(payload.AsBytes(said))
	if err != nil || !vouched {
		return nil
	}
	return n.book.Peers.Timed(id, m, load, from.at)
}

// stored notes that a return is on disk, or why it is not.
func (n *record) stored(jid, id string, err error) {
	lost := ""
	if err != nil {
		lost = err.Error()
	}
	n.kept(jid, id, ledger.At(time.Now()), lost)
}

func (n *record) kept(jid, id string, at ledger.Stamp, lost string) {
	if first := n.book.Kept(jid, id, at, lost); first && n.trace != nil && n.book.Meant(jid, id) {
		n.trace.Returned(jid, id)
	}
}

// refused notes a return whose signature does not do.
func (n *record) refused(r *call, ret *payload.Return, err error) {
	why := "its signature does not match"
	if err != nil {
		why = err.Error()
	}
	if jid := ret.JID(); jid != "" && r.id != "" {
		n.book.NoteRow(jid, r.id, func(row *ledger.Row) { row.RefusedAt, row.Refused = ledger.At(r.from.at), why })
	}
}
