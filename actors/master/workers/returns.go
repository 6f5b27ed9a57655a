package workers

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/answers"
	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/meter"
	"brine/actors/master/record"
	"brine/modules/fleet/door"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/speakers"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// ReturnOptions are what the configuration says of returns.
type ReturnOptions struct {
	Version2     bool   // version_2_returns: they may come without a token
	Stored       bool   // they go to the job store (job_cache, and no ext_job_cache)
	OrderMasters bool   // order_masters: there may be syndics
	SyndicDir    string // where those are noted
}

// syndicPatience is how long a syndic waits for room, which hears nothing of what becomes of its returns.
const syndicPatience = 10 * time.Second

// returnHandler takes what minions and syndics return.
type returnHandler struct {
	opt       ReturnOptions
	auth      *auth.Master
	admission *access.Admission
	answers   *answers.Service
	jobs      *jobs.Jobs
	events    *eventbus.Bus
	record    *record.Record
	meter     *meter.Meter
	meant     *speakers.Jobs
	log       *slog.Logger
}

// storeReturn takes the return of a job: check its signature, fire its event at once, and answer when the
// store has it (salt/master.py, AESFuncs._return; salt/utils/job.py, store_job). The answer is nil whatever
// becomes of it, but false for a return that must be signed and is not.
func (d *returnHandler) storeReturn(r *call) (any, error) {
	ret := payload.NewReturn(r.load)
	accept, err := d.auth.VerifyReturn(r.req.Opened.Load())
	if err != nil {
		d.log.Info("signature of a return", "minion", r.id, "accepted", accept, "err", err)
	}
	if !accept {
		d.record.Refused(r.id, ret, r.from.At, err)
		return false, nil
	}
	if !d.admission.Proven(r.id, r.vouched(), d.opt.Version2, "a return without a token (version_2_returns)") {
		return false, nil
	}
	d.admission.Voices.AsMinion(r.id)
	r.from.Minion = d.record.TakeFacts(r.id, r.req.Opened.Load().TokenOK, r.load, r.from)
	if d.answers.Take(ret, r.from.At) {
		return nil, nil
	}
	since, ok := d.ofResource(r.id, ret)
	if !ok || !d.isReturn(ret) {
		return nil, nil
	}
	who, answer := access.Speaker{ID: r.id}, speakers.Answer{JID: ret.JID(), Minion: r.id, ID: ret.ID(), Since: since}
	if !d.mayReturn(who, r.req.Size) {
		return false, nil
	}
	named := d.meant.Named(answer)
	if !d.mayStore(who, ret, named) {
		return false, nil
	}
	if !named && !d.counts(answer) {
		return nil, nil
	}
	if !d.jobs.HasRoom(0) { // the minion keeps it, and sends it again
		d.meter.Fail(meter.FailedShed)
		r.req.Fail()
		return nil, errLater
	}
	all := newReceipt(r, d.record)
	d.returned(who, ret, r.from, all)
	all.Tell(nil)
	return nil, errLater
}

// ofResource puts the id of a resource that a minion manages (3008) into the place of the minion's, and tells
// since when it does. Not ok: the minion does not manage it.
func (d *returnHandler) ofResource(minion string, ret *payload.Return) (since time.Time, ok bool) {
	id, has := ret.Resource()
	if !has {
		return since, true
	}
	if minion == "" || !auth.ValidID(id) {
		return since, false
	}
	if since, ok = d.admission.Managed.Since(minion, id); id != minion && !ok {
		why := "a return for " + payload.Show(id) + ", which is no resource that it has registered"
		d.admission.Deny(minion, ledger.DeniedReturn, 1, why)
		return since, false
	}
	ret.TakeResource()
	return since, true
}

// counts tells whether a job that does not name who answers takes the return all the same.
func (d *returnHandler) counts(a speakers.Answer) bool {
	if d.meant.Counts(a) {
		return true
	}
	why := "a return for " + payload.Show(a.ID) + " in job " + payload.Show(a.JID) + ", which expects none of it"
	d.admission.Deny(a.Minion, ledger.DeniedReturn, 1, why)
	return false
}

// isReturn tells whether a load has what a return needs. The job id becomes a part of a tag.
func (d *returnHandler) isReturn(ret *payload.Return) bool {
	return ret.HasValue() && d.returnsTo(ret.JID()) && auth.ValidID(ret.ID())
}

// returnsTo tells whether a minion may return under a job id: one that has the form of one, a word of Salt's in its
// place (req asks the master for one, nocache belongs to none that is stored), or whatever an operator gave to --jid.
func (d *returnHandler) returnsTo(jid string) bool {
	return payload.IsJID(jid) || jid == "req" || jid == "nocache" || jobs.ValidJID(jid) && d.jobs.Knows(jid)
}

// mayStore takes a return out of the quota of who sent it, unless it is the first to a job that names who answers.
// Minions answer jobs that began before this master did, and jobs of their own (schedule, salt-call); a syndic
// answers for minions that the master does not know.
func (d *returnHandler) mayStore(who access.Speaker, ret *payload.Return, named bool) bool {
	announced, _, again := d.record.Book.Stance(ret.JID(), ret.ID())
	if again && d.record.Book.Told(ret.JID(), ret.ID()) { // it could not be stored before
		return true
	}
	if announced && !again && (named || who.Syndic) {
		return true
	}
	if d.admission.Quotas.Take(who.ID, access.QuotaJobs, 1, who.Share(), time.Now()) > 0 {
		return true
	}
	d.admission.Deny(who.ID, ledger.DeniedJobs, 1, fmt.Sprintf("more returns of jobs that are not this master's than "+
		"minion_quota_jobs (%d an hour)", d.admission.Opt.Hourly.Jobs))
	return false
}

// mayReturn takes a request with returns out of the bytes that its sender may return. What is refused brine's minions
// send again.
func (d *returnHandler) mayReturn(who access.Speaker, size int) bool {
	if d.admission.Quotas.Spend(who.ID, access.QuotaReturnBytes, size, who.Share(), time.Now()) {
		return true
	}
	d.admission.Deny(who.ID, ledger.DeniedBytes, 1, fmt.Sprintf("more bytes of returns than minion_quota_return_bytes "+
		"(%d an hour)", d.admission.Opt.Hourly.ReturnBytes))
	return false
}

// returned announces a return and hands it to the job store. all waits until it is on disk, or could not be put there.
func (d *returnHandler) returned(who access.Speaker, ret *payload.Return, from record.Origin, all *receipt) {
	load := ret.Map()
	for _, field := range access.Believed { // by which tools would learn of other minions, or end
		if field != "return" {
			load.Delete(field)
		}
	}
	id, jid := ret.ID(), ret.JID()
	if jid == "req" {
		jid = d.assignJID(who, ret)
	}
	told := d.record.Book.Told(jid, id)
	d.record.Returned(ret, from)
	door.Known(d.log).Info(fmt.Sprintf("Got return from %s for job %s", id, jid))
	if !told { // it comes again because it could not be stored: the event has done what it does
		d.events.Fire(event.TagJobReturn(jid, id), load)
		d.record.Book.Fired(jid, id, ledger.At(time.Now()))
		d.fireStateErrors(ret)
	}
	if !d.opt.Stored || jid == "nocache" {
		d.record.Kept(jid, id, 0, ledger.NotKept)
		return
	}
	all.expect()
	d.jobs.Keep(&jobs.StoreReturn{JID: jid, ID: id, By: who.ID, Load: load, Receipt: all, Keep: who.Syndic})
}

// assignJID numbers a job the minion began itself (startup states, salt-call, schedule).
func (d *returnHandler) assignJID(who access.Speaker, ret *payload.Return) string {
	jid, load := d.jobs.IDs.NextForGuest(time.Now()), ret.Map()
	ret.Number(jid)
	d.jobs.Send(&jobs.SaveLoad{JID: jid, Load: load, Minions: []string{ret.ID()}, NoCache: ret.NoCache(), By: who.ID,
		Again: d.opt.Stored})
	return jid
}

// syndicReturn takes the returns that a syndic has collected: only with order_masters, only from a syndic, and signed
// by it where returns must be.
func (d *returnHandler) syndicReturn(r *call) (any, error) {
	if accept, err := d.auth.VerifyReturn(r.req.Opened.Load()); !accept {
		d.log.Info("signature of the returns of a syndic", "minion", r.id, "err", err)
		return false, nil
	}
	if r.id == "" || !d.admission.Proven(r.id, r.vouched(), d.opt.Version2,
		"returns of a syndic without a token (version_2_returns)") {
		return false, nil
	}
	if !d.admission.Voices.AsSyndic(r.id) {
		why := "returns of a syndic, which it is not (syndics names them)"
		if !d.opt.OrderMasters {
			why = "returns of a syndic, which need order_masters"
		}
		d.admission.Deny(r.id, ledger.DeniedSyndic, 1, why)
		return false, nil
	}
	d.touchSyndic(r.id)
	who := access.Speaker{ID: r.id, Syndic: true}
	if !d.mayReturn(who, r.req.Size) {
		return false, nil
	}
	all := newReceipt(r, d.record)
	for _, said := range payload.NewSyndicReturns(r.load).List() {
		d.syndicJob(who, said, r.from, all)
	}
	all.Tell(nil)
	return nil, errLater
}

// syndicJob takes the returns of one job. A load that comes with them is that of a job which this master does not know;
// what it knows of a job is not changed.
func (d *returnHandler) syndicJob(who access.Speaker, said payload.SyndicReturns, from record.Origin, all *receipt) {
	jid, returns := said.JID(), said.Returns()
	if !d.returnsTo(jid) || returns == nil {
		return
	}
	job, has := said.Job()
	for k, v := range returns.All() {
		id, _ := k.(string)
		if !d.admission.SpeaksFor(who, id) {
			d.admission.Deny(who.ID, ledger.DeniedReturn, 1, "a return for "+payload.Show(id)+", which is a minion of "+
				"this master")
			continue
		}
		ret := said.Return(id, v)
		if !d.isReturn(ret) || jid == "req" || !d.mayStore(who, ret, false) {
			continue
		}
		if id != who.ID {
			if err := d.admission.Managed.Below(who.ID, id); err != nil {
				d.log.Error("that a minion is below a syndic could not be kept", "minion", id, "err", err)
			}
		}
		if has && !d.jobs.Knows(jid) {
			d.jobs.Send(&jobs.SaveLoad{JID: jid, Load: job.WithoutSecrets(), By: who.ID})
		}
		has = false
		d.jobs.HasRoom(syndicPatience)
		d.returned(who, ret, from, all)
	}
}

// touchSyndic marks a syndic as known to the command line.
func (d *returnHandler) touchSyndic(id string) {
	if !auth.ValidID(id) {
		return
	}
	path := filepath.Join(d.opt.SyndicDir, id)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(f.Close(), os.Chtimes(path, time.Time{}, time.Now()))
	}
	if err != nil {
		d.log.Error("syndic could not be noted", "minion", id, "err", err)
	}
}
