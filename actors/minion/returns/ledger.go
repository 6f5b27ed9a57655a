package returns

import (
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// Restore takes the facts that an earlier process has kept of a job.
func Restore(d *ledger.Diary, key string, load *payload.Map) {
	if f, err := ledger.UnpackMinion(load.Bytes(ledger.Field)); err == nil {
		d.Restore(key, f)
	}
}

// addFacts makes the load of one attempt to deliver a return: with the facts of its job where the master is brine's,
// never where it is Salt's.
func (o *Options) addFacts(ret *payload.Return, p *pending) *payload.Map {
	load := ret.Map()
	if load.Has(ledger.Field) { // from the journal
		Restore(o.Diary, p.Key, load)
		load = load.Clone()
		load.Delete(ledger.Field)
	}
	f, known := o.Diary.Get(p.Key)
	if !known || !o.Link.Brine() {
		return load
	}
	f.Attempts, f.Now = f.Attempts+1, ledger.At(o.Clock.Now())
	if f.Spooled == 0 && p.onDisk() && !p.bulky {
		f.Spooled = ledger.At(p.At)
	}
	return load.Clone().Set(ledger.Field, f.Pack())
}

// noteSpooled notes that a return is on disk, or why it is not.
func (r *sender) noteSpooled(p *pending, err error) {
	now := ledger.At(r.opt.Clock.Now())
	r.opt.Diary.Note(p.Key, func(f *ledger.Minion) {
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
func (r *sender) noteTried(p *pending, err error) {
	r.opt.Meter.Tried(r.opt.Link.Name(), err)
	now := ledger.At(r.opt.Clock.Now())
	r.opt.Diary.Note(p.Key, func(f *ledger.Minion) {
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
func (r *sender) noteReplaced(p *pending) {
	r.opt.Log.Error("a return is replaced by the reason why it is not kept", "jid", p.jid, "bytes", p.bytes,
		"return_spool_max_bytes", r.opt.MaxBytes)
	r.opt.Meter.Drop(r.opt.Link.Name())
	now := ledger.At(r.opt.Clock.Now())
	r.opt.Diary.Note(p.Key, func(f *ledger.Minion) {
		f.Outcome, f.Detail, f.Spooled = ledger.Unkept, r.opt.unkeptText(p.bytes), now
	})
}

// noteDropped notes a return that is given up.
func (r *sender) noteDropped(key string) {
	r.opt.Meter.Drop(r.opt.Link.Name())
	now := ledger.At(r.opt.Clock.Now())
	r.opt.Diary.Note(key, func(f *ledger.Minion) { f.Tried, f.Outcome = now, ledger.Dropped })
}
