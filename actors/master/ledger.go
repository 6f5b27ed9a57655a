package master

import (
	"cmp"
	"log/slog"
	"time"

	"brine/modules/execution/brinemod"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/modules/text/pytext"
	"brine/wire/auth"
	"brine/wire/payload"
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

// noteJob begins the facts of a job.
func (c *core) noteJob(load *payload.Map, who found, from origin) {
	job := ledger.Job{
		JID: load.Str("jid"), Fun: pytext.Str(load.Value("fun")), Tgt: pytext.Str(load.Value("tgt")), TgtType: load.Str("tgt_type"), User: load.Str("user"),
		Lane: from.lane, Worker: from.worker, Request: ledger.At(from.at), Work: ledger.At(from.began), Matched: ledger.At(from.matched),
		Announced: ledger.At(time.Now()), Minions: who.Minions, Missing: who.Missing,
	}
	if arg := load.List("arg"); job.Fun == funFindJob && len(arg) > 0 {
		job.Asks, _ = arg[0].(string)
	}
	c.book.Begin(job)
	c.meter.job(load)
}

// funFindJob asks minions whether they run a job; what they say is a fact of that job.
const funFindJob = "saltutil.find_job"

// noteSent is told by the Publisher what became of a publication.
func (c *core) noteSent(jid string, sealed, sent time.Time, err error) {
	c.book.Note(jid, func(j *ledger.Job) {
		j.Sealed, j.Sent, j.Failed = ledger.At(sealed), ledger.At(sent), ""
		if err != nil {
			j.Failed = err.Error()
		}
	})
}

// noteReply is told when the command line has been answered.
func (c *core) noteReply(jid string) {
	now := ledger.At(time.Now())
	c.book.Note(jid, func(j *ledger.Job) { j.Replied = now })
}

// noteReturn notes a return, and what it says of another job.
func (c *core) noteReturn(jid, id string, load *payload.Map, from origin) {
	at := from.at
	if at.IsZero() {
		at = time.Now()
	}
	retcode, _ := load.Int("retcode")
	if c.meter != nil {
		c.meter.ret(load, c.book.Announced(jid), ledger.At(at))
	}
	asks := c.book.Returned(jid, id, ledger.Return{At: ledger.At(at), Worker: from.worker, Retcode: retcode, Minion: from.minion})
	if fun := pytext.Str(load.Value("fun")); fun != funFindJob && fun != brinemod.Actors && fun != brinemod.Jobs {
		c.book.Peers.Worked(id, jid, fun, ledger.At(at))
	}
	if asks == "" || retcode != 0 {
		return
	}
	if found, ok := load.Value("return").(*payload.Map); ok {
		c.book.NoteRow(asks, id, func(r *ledger.Row) { r.FoundAt, r.Running = ledger.At(at), found.Len() > 0 })
	}
}

// takeFacts takes out of a request what a brine minion says of its job: nobody else is to see it. It counts when the
// minion's token vouches for it.
func (c *core) takeFacts(id string, vouched bool, load *payload.Map, from origin) *ledger.Minion {
	said, has := load.Get(ledger.Field)
	if !has {
		return nil
	}
	load.Delete(ledger.Field)
	m, err := ledger.UnpackMinion(payload.AsBytes(said))
	if err != nil || !vouched {
		return nil
	}
	return c.timed(id, m, load, from)
}

// timed notes what a minion's word says about its clock.
func (c *core) timed(id string, m *ledger.Minion, load *payload.Map, from origin) *ledger.Minion {
	at := ledger.At(from.at)
	if ts, ok := load.Int("ts"); ok && m.Now.Time().Sub(time.Unix(ts, 0)).Abs() > stale {
		m.Offset = c.book.Peers.Get(id).Offset // the request was sealed once more, long after this was said
		return m
	}
	m.Offset = c.book.Peers.Clock(id, m.Now, at)
	return m
}

// stale is by how much a request may be younger than what it says.
const stale = 2 * time.Second

// maxFacts bounds the jobs of which one request may tell.
const maxFacts = 1000

// minionFacts takes what a brine minion says of jobs that are not over.
func minionFacts(c *core, r *call) (any, error) {
	jobs := r.load.Map("jobs")
	if !r.req.opened.Load().TokenOK || jobs.Len() > maxFacts {
		return false, nil
	}
	for k, v := range jobs.All() {
		jid, isText := k.(string)
		m, err := ledger.UnpackMinion(payload.AsBytes(v))
		if !isText || err != nil || !c.jobs.knows(jid) {
			continue
		}
		c.book.Hear(jid, r.id, c.timed(r.id, m, r.load, r.from))
	}
	return true, nil
}

// noteKept notes that a return is on disk, or why it is not.
func (c *core) noteKept(jid, id string, err error) {
	lost := ""
	if err != nil {
		lost = err.Error()
	}
	c.kept(jid, id, ledger.At(time.Now()), lost)
}

func (c *core) kept(jid, id string, at ledger.Stamp, lost string) {
	first := c.book.Kept(jid, id, at, lost)
	c.trace.ret(c.book, jid, id, first)
}

// noteRefused notes a return whose signature does not do.
func (c *core) noteRefused(r *call, err error) {
	why := "its signature does not match"
	if err != nil {
		why = err.Error()
	}
	if jid := r.load.Str("jid"); jid != "" && r.id != "" {
		c.book.NoteRow(jid, r.id, func(row *ledger.Row) { row.RefusedAt, row.Refused = ledger.At(r.from.at), why })
	}
}

// met notes an authentic request of a minion.
func (c *core) met(o *auth.Opened) {
	if o.TokenOK {
		if o.Version >= 3 {
			c.proves(o.ID)
		}
		c.book.Peers.Met(o.ID, o.Version, ledger.At(time.Now()))
	}
}

// refused notes a request that could not be opened.
func (c *core) refused(id, why string, proven bool) {
	if auth.ValidID(id) {
		c.book.Peers.Refused(id, why, proven, ledger.At(time.Now()))
	}
}

// claimedID is the id that a sign-in names which was refused before anybody looked at its id.
func claimedID(req *payload.Request) string {
	load, _ := req.Load.(*payload.Map)
	if id := load.Str("id"); auth.ValidID(id) {
		return id
	}
	return ""
}

// jobFacts makes pieces of the book for the JobStore.
type jobFacts struct {
	book *ledger.Book // nil: there are none
	log  *slog.Logger
}

// pieces takes what is new of the jobs in a group, or of all.
func (f jobFacts) pieces(g *group) []jobstore.Load {
	if f.book == nil {
		return nil
	}
	seen, all := map[string]bool{}, false
	var out []jobstore.Load
	take := func(jid string) {
		if seen[jid] && !all {
			return
		}
		seen[jid] = true
		piece, err := f.book.Take(jid, all)
		if err != nil {
			f.log.Error("what is known of a job cannot be packed", "jid", jid, "err", err)
		} else if piece != nil {
			out = append(out, jobstore.Load{JID: jid, Facts: piece, Announced: true})
		}
	}
	for _, r := range g.returns {
		take(r.JID)
	}
	if g.facts {
		all = true
		for _, jid := range f.book.Dirty() {
			take(jid)
		}
	}
	return out
}

// of takes what is new of a return.
func (f jobFacts) of(r *StoreReturn, now time.Time) []byte {
	if f.book == nil {
		return nil
	}
	piece, err := f.book.TakeReturn(r.JID, r.ID, ledger.At(now))
	if err != nil {
		f.log.Error("what is known of a return cannot be packed", "jid", r.JID, "minion", r.ID, "err", err)
	}
	return piece
}

// again gives the facts of a job back.
func (f jobFacts) again(jid string) {
	if f.book != nil {
		f.book.Again(jid)
	}
}

// unkept gives pieces back that were not stored.
func (f jobFacts) unkept(pieces []jobstore.Load, returns []jobstore.Return) {
	for _, p := range pieces {
		f.book.Again(p.JID)
	}
	for _, r := range returns {
		if r.Facts != nil {
			f.book.Again(r.JID)
		}
	}
}
