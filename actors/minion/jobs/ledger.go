package jobs

import (
	"fmt"
	"strings"
	"syscall"

	"brine/actors/minion/jobfiles"
	"brine/actors/minion/link"
	"brine/modules/execution/brine"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/wire/payload"
)

// DiaryJobs is of how many publications a minion knows what became of them.
const DiaryJobs = 1000

// note notes what becomes of a publication that is no job yet. What is known of a job of that jid stays.
func (d *dispatcher) note(m *Received, outcome ledger.Outcome, detail string) {
	jid := m.Job.JID()
	if jid == "" || jid == JIDReq || m.Job.Function() == brine.Job { // that one asks
		return
	}
	at := ledger.At(m.At)
	d.opt.diary.Note(jobfiles.Name(jid), func(f *ledger.Minion) {
		if f.Received == 0 && f.Made == 0 {
			f.Received, f.Outcome, f.Detail = at, outcome, detail
		}
	})
}

// noteQueued notes a job that has to wait, and lets the master know.
func (d *dispatcher) noteQueued(jid string, l *link.Link) {
	key, now := jobfiles.Name(jid), ledger.At(d.opt.clock.Now())
	behind := int64(d.reg.counted() + len(d.reg.waiting))
	d.opt.diary.Note(key, func(f *ledger.Minion) { f.Queued, f.Behind = now, behind })
	d.opt.tell(key, l)
}

// note notes something of a job.
func (j *job) note(change func(f *ledger.Minion, now ledger.Stamp)) {
	now := ledger.At(j.opt.clock.Now())
	j.opt.diary.Note(j.rec.key, func(f *ledger.Minion) { change(f, now) })
}

// noteEnd notes how a job ended.
func (j *job) noteEnd(outcome ledger.Outcome, detail string) {
	j.note(func(f *ledger.Minion, now ledger.Stamp) {
		if f.Made == 0 {
			f.Made = now
		}
		if f.Started != 0 && f.Ended == 0 && outcome != ledger.Restarted { // that one did not see the end
			f.Ended = now
		}
		f.Outcome, f.Detail = outcome, detail
	})
}

// outcomeOf is the outcome of a function.
func outcomeOf(ret *payload.Return, noReturn bool) ledger.Outcome {
	switch {
	case noReturn:
		return ledger.NoReturn
	case loader.BlackedOut(ret.Value()):
		return ledger.BlackedOut
	}
	return ledger.Done
}

// outcomeOfDeath is the outcome of a job whose process has died.
func outcomeOfDeath(d *jobprocess.Death) (ledger.Outcome, string) {
	switch {
	case d.OOM:
		return ledger.OutOfMemory, d.Text()
	case d.Signal != 0 && d.Why == "":
		return ledger.Killed, signalText(d.Signal)
	case strings.HasPrefix(d.Words, "panic:"):
		return ledger.Panicked, d.Words
	}
	return ledger.Died, d.Text()
}

func signalText(sig syscall.Signal) string { return fmt.Sprintf("signal %d (%v)", int(sig), sig) }

// withFacts is what is kept of a job on disk: with the facts, for a later process.
func (j *job) withFacts(load *payload.Map) *payload.Map {
	if f, ok := j.opt.diary.Get(j.rec.key); ok {
		return load.Clone().Set(ledger.Field, f.Pack())
	}
	return load
}

// pack makes the bytes of a return for the journal, with the facts, which the load itself does not keep.
func (j *job) pack(ret *payload.Return) ([]byte, error) {
	load := ret.Map()
	if f, ok := j.opt.diary.Get(j.rec.key); ok {
		load.Set(ledger.Field, f.Pack())
		defer load.Delete(ledger.Field)
	}
	return payload.MarshalBinLoad(load)
}

// Facts is what this minion knows of a job, and of the publications that it could not open.
func (m *Jobs) Facts(jid string) *payload.Map {
	f, known := m.opt.Diary.Get(jobfiles.Name(jid))
	if !known {
		f.Outcome = ledger.Unknown
	}
	f.Now = ledger.At(m.opt.Clock.Now())
	out := f.Map()
	if refusals := m.opt.Diary.Refusals(); len(refusals) > 0 && !known {
		out.Set(ledger.FieldRefused, ledger.PackRefusals(refusals))
	}
	return out
}
