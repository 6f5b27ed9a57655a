package minion

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"brine/actors/minion/jobfiles"
	"brine/modules/execution/brine"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/wire/payload"
)

// diaryJobs is of how many publications a minion knows what became of them.
const diaryJobs = 1000

// note notes what becomes of a publication that is no job yet. What is known of a job of that jid stays.
func (d *dispatcher) note(m *JobReceived, outcome ledger.Outcome, detail string) {
	jid := m.Job.JID()
	if jid == "" || jid == jidReq || m.Job.Function() == brine.Job { // that one asks
		return
	}
	at := ledger.At(m.at)
	d.opt.diary.Note(jobfiles.Name(jid), func(f *ledger.Minion) {
		if f.Received == 0 && f.Made == 0 {
			f.Received, f.Outcome, f.Detail = at, outcome, detail
		}
	})
}

// noteQueued notes a job that has to wait, and lets the master know.
func (d *dispatcher) noteQueued(jid string, l *link) {
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

// takeFacts takes the facts out of what an earlier process has kept of a job.
func (m *Minion) takeFacts(key string, load *payload.Map) {
	restore(m.diary, key, load)
	load.Delete(ledger.Field)
}

// restore takes the facts that an earlier process has kept of a job.
func restore(d *ledger.Diary, key string, load *payload.Map) {
	if f, err := ledger.UnpackMinion(load.Bytes(ledger.Field)); err == nil {
		d.Restore(key, f)
	}
}

// addFacts makes the load of one attempt to deliver a return: with the facts of its job where the master is brine's,
// never where it is Salt's.
func (o *returnSenderOptions) addFacts(ret *payload.Return, p *pendingReturn) *payload.Map {
	load := ret.Map()
	if load.Has(ledger.Field) { // from the journal
		restore(o.diary, p.Key, load)
		load = load.Clone()
		load.Delete(ledger.Field)
	}
	f, known := o.diary.Get(p.Key)
	if !known || !o.link.brine.Load() {
		return load
	}
	f.Attempts, f.Now = f.Attempts+1, ledger.At(o.link.clock.Now())
	if f.Spooled == 0 && p.onDisk() && !p.bulky {
		f.Spooled = ledger.At(p.At)
	}
	return load.Clone().Set(ledger.Field, f.Pack())
}

// noteSpooled notes that a return is on disk, or why it is not.
func (r *returnSender) noteSpooled(p *pendingReturn, err error) {
	now := ledger.At(r.opt.link.clock.Now())
	r.opt.diary.Note(p.Key, func(f *ledger.Minion) {
		f.Size = p.bytes
		switch {
		case err != nil:
			f.Tried, f.Error = now, err.Error()
		case p.bulky:
			f.Tried, f.Error = now, "it is larger than the minion may keep: "+r.opt.unkeptText(p.bytes)
		default:
			f.Spooled = now
		}
	})
}

// noteTried notes the outcome of an attempt to deliver a return.
func (r *returnSender) noteTried(p *pendingReturn, err error) {
	r.opt.link.meter.tried(r.opt.link, err)
	now := ledger.At(r.opt.link.clock.Now())
	r.opt.diary.Note(p.Key, func(f *ledger.Minion) {
		f.Attempts++
		if f.Size == 0 {
			f.Size = p.bytes
		}
		if err == nil {
			f.Acked, f.Error = now, ""
			return
		}
		f.Tried, f.Error = now, err.Error()
	})
}

// noteReplaced notes a return for which there is no room. The reason is on disk in its place.
func (r *returnSender) noteReplaced(p *pendingReturn) {
	r.opt.log.Error("a return is replaced by the reason why it is not kept", "jid", p.jid, "bytes", p.bytes,
		"return_spool_max_bytes", r.opt.maxBytes)
	r.opt.link.meter.drop(r.opt.link)
	now := ledger.At(r.opt.link.clock.Now())
	r.opt.diary.Note(p.Key, func(f *ledger.Minion) {
		f.Outcome, f.Detail, f.Spooled = ledger.Unkept, r.opt.unkeptText(p.bytes), now
	})
}

// noteDropped notes a return that is given up.
func (r *returnSender) noteDropped(key string) {
	r.opt.link.meter.drop(r.opt.link)
	now := ledger.At(r.opt.link.clock.Now())
	r.opt.diary.Note(key, func(f *ledger.Minion) { f.Tried, f.Outcome = now, ledger.Dropped })
}

// JobFacts is what this minion knows of a job, and of the publications that it could not open.
func (m *Minion) JobFacts(jid string) *payload.Map {
	f, known := m.diary.Get(jobfiles.Name(jid))
	if !known {
		f.Outcome = ledger.Unknown
	}
	f.Now = ledger.At(m.clock.Now())
	out := f.Map()
	if refusals := m.diary.Refusals(); len(refusals) > 0 && !known {
		out.Set(ledger.FieldRefused, ledger.PackRefusals(refusals))
	}
	return out
}

// JobFacts answers a job function.
func (h host) JobFacts(_ context.Context, jid string) (*payload.Map, error) {
	return h.m.JobFacts(jid), nil
}
