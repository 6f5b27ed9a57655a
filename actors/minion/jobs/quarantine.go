package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"brine/actors/minion/jobfiles"
	"brine/actors/minion/link"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// The messages that are sent again when an actor died of them say what they are, so that the second death is the
// last (see supervisor.Content).

// Content is the job, whoever published it.
func (m *Received) Content() []byte { return []byte(m.Job.JID()) }

// Lost sends a job again that a Dispatcher died of, once. The second time the message is set aside.
func (m *Received) Lost(why error) {
	died := errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned)
	switch {
	case m.to == nil:
	case died && !m.again:
		m.to.Send(&Received{Publication: m.Publication, to: m.to, again: true})
	case died || errors.Is(why, supervisor.ErrQuarantined):
		sum := sha256.Sum256(m.Content())
		m.to.Send(&jobSetAside{Job: m.Job, Link: m.Link, mark: m.Mark, Why: why, Hash: hex.EncodeToString(sum[:]),
			at: m.At})
	}
}

// textSetAside is the return of a job that was set aside.
const textSetAside = "The job was not run: the minion's Dispatcher died of it twice (%v); it is set aside as %s"

// onJobSetAside answers for a job, unless it has begun: then it answers by itself. A minion that the target may not
// mean does not answer; what it knows the master is told.
func (d *dispatcher) onJobSetAside(ctx supervisor.Context, m *jobSetAside) {
	jid := m.Job.JID()
	if jid == "" || m.Job.Lacks() != "" {
		return
	}
	matched := d.reg.taken(jid) || d.named(m.Job)
	if !d.reg.take(jid, d.opt.seenMost) {
		return
	}
	d.reg.began(jid)
	d.remember(m.Job, m.mark)
	if d.begun(jid) {
		return
	}
	d.opt.log.Error("a job is set aside: the Dispatcher died of it twice", "jid", jid, "matched", matched, "hash",
		m.Hash, "err", m.Why)
	if !matched {
		d.note(&Received{Publication: link.Publication{Job: m.Job, At: m.at}}, ledger.MatchFailed,
			fmt.Sprintf("%s: %v", shownTarget(m.Job), m.Why))
		d.opt.tell(jobfiles.Name(jid), m.Link)
		return
	}
	d.note(&Received{Publication: link.Publication{Job: m.Job, At: m.at}}, ledger.OutcomeNone, "")
	d.spawn(ctx, &jobRecord{job: m.Job, link: m.Link, told: fmt.Sprintf(textSetAside, m.Why, m.Hash),
		outcome: ledger.SetAside, detail: m.Why.Error()})
}

// named tells whether a target is or lists the id of this minion, so that no matching is needed.
func (d *dispatcher) named(job *payload.Job) bool {
	id := any(d.opt.id)
	switch job.TgtType() {
	case "", "glob":
		return job.Tgt() == id
	case "list":
		return slices.Contains(job.Listed(), id)
	}
	return false
}

// begun tells of a job that a Dispatcher died of whether that had started it, or put it into the queue.
func (d *dispatcher) begun(jid string) bool {
	if jid == JIDReq {
		return false
	}
	_, lives := d.opt.tree.Supervisor().Lookup(jobName(jobfiles.Name(jid)))
	waits := slices.ContainsFunc(d.reg.waiting, func(q *queuedJob) bool { return q.jid == jid })
	return lives || waits || d.reg.find(jid) != nil || d.answered(jid)
}

// answered tells whether a job has a return.
func (d *dispatcher) answered(jid string) bool {
	facts, known := d.opt.diary.Get(jobfiles.Name(jid))
	return known && jid != JIDReq && facts.Made != 0
}
