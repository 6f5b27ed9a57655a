package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// storeReturn takes the return of a job: check its signature, fire its event at once, and answer when the
// store has it (salt/master.py, AESFuncs._return; salt/utils/job.py, store_job). The answer is nil whatever
// becomes of it, but false for a return that must be signed and is not.
func storeReturn(c *core, r *call) (any, error) {
	accept, err := c.auth.VerifyReturn(r.req.opened.Load())
	if err != nil {
		c.log.Info("signature of a return", "minion", r.id, "accepted", accept, "err", err)
	}
	if !accept {
		c.record.refused(r, err)
		return false, nil
	}
	if !c.proven(r, c.cfg.Version2Returns, "a return without a token (version_2_returns)") {
		return false, nil
	}
	c.asMinion(r.id)
	r.from.minion = c.record.takeFacts(r.id, r.req.opened.Load().TokenOK, r.load, r.from)
	if c.answers.Take(r.load, r.from.at) {
		return nil, nil
	}
	if !c.ofResource(r) || !c.isReturn(r.load) {
		return nil, nil
	}
	who := speaker{id: r.id}
	if !c.mayReturn(who, r.req.size) {
		return false, nil
	}
	if !c.mayStore(who, r.load) {
		return false, nil
	}
	if !c.jobs.room.wait(context.Background(), 0) { // the minion keeps it, and sends it again
		c.meter.fail(failedShed)
		r.req.fail()
		return nil, errLater
	}
	c.returned(who, r.load, r.from, func(err error) { c.acknowledge(r, err) })
	return nil, errLater
}

// acknowledge answers for returns, as soon as they are on disk.
func (c *core) acknowledge(r *call, err error) {
	if err != nil {
		r.req.fail()
		return
	}
	c.finish(r.req, nil)
}

// ofResource puts the id of a resource that a minion manages (3008) into the place of the minion's. False: the minion does not
// manage it.
func (c *core) ofResource(r *call) bool {
	rid, ok := r.load.Get("resource_id")
	if !ok {
		return true
	}
	id, _ := rid.(string)
	if r.id == "" || !auth.ValidID(id) {
		return false
	}
	if id != r.id && !c.managed.MayReturn(r.id, id) {
		c.deny(r.id, ledger.DeniedReturn, 1, "a return for "+payload.Show(id)+", which is no resource that it manages")
		return false
	}
	r.load.Set("id", id).Delete("resource_id")
	return true
}

// isReturn tells whether a load has what a return needs. The job id becomes a part of a tag.
func (c *core) isReturn(load *payload.Map) bool {
	return load.Has("return") && c.returnsTo(load.Str("jid")) && auth.ValidID(load.Str("id"))
}

// returnsTo tells whether a minion may return under a job id: one that has the form of one, a word of Salt's in its place (req asks
// the master for one, nocache belongs to none that is stored), or whatever an operator gave to --jid.
func (c *core) returnsTo(jid string) bool {
	return payload.IsJID(jid) || jid == "req" || jid == "nocache" || validJID(jid) && c.jobs.knows(jid)
}

// mayStore takes a return out of the quota of who sent it, unless it is the first to a job that the master gave to that minion.
// Minions answer jobs that began before this master did, and jobs of their own (schedule, salt-call); a syndic answers for
// minions that the master does not know.
func (c *core) mayStore(who speaker, load *payload.Map) bool {
	announced, meant, again := c.book.Stance(load.Str("jid"), load.Str("id"))
	if again && c.book.Told(load.Str("jid"), load.Str("id")) { // it could not be stored before
		return true
	}
	if announced && !again && (meant || who.syndic) || c.quotas.Take(who.id, quotaJobs, 1, who.share(), time.Now()) > 0 {
		return true
	}
	c.deny(who.id, ledger.DeniedJobs, 1, fmt.Sprintf("more returns of jobs that are not this master's than minion_quota_jobs (%d an hour)", c.cfg.MinionQuotaJobs))
	return false
}

// mayReturn takes a request with returns out of the bytes that its sender may return. What is refused brine's minions send again.
func (c *core) mayReturn(who speaker, size int) bool {
	if c.quotas.Spend(who.id, quotaReturnBytes, size, who.share(), time.Now()) {
		return true
	}
	c.deny(who.id, ledger.DeniedBytes, 1, fmt.Sprintf("more bytes of returns than minion_quota_return_bytes (%d an hour)", c.cfg.MinionQuotaReturnBytes))
	return false
}

// returned announces a return and hands it to the job store. stored is called when it is on disk, or could not be put there.
func (c *core) returned(who speaker, load *payload.Map, from origin, stored func(error)) {
	for _, field := range believed { // by which tools would learn of other minions, or end
		if field != "return" {
			load.Delete(field)
		}
	}
	id, jid := load.Str("id"), load.Str("jid")
	if jid == "req" {
		jid = c.assignJID(who, load)
	}
	told := c.book.Told(jid, id)
	c.record.returned(jid, id, load, from)
	c.log.Info(fmt.Sprintf("Got return from %s for job %s", id, jid))
	if !told { // it comes again because it could not be stored: the event has done what it does
		c.events.fire(event.TagJobReturn(jid, id), load)
		c.book.Fired(jid, id, ledger.At(time.Now()))
		c.fireStateErrors(load)
	}
	if !c.storesReturns() || jid == "nocache" {
		c.record.kept(jid, id, 0, ledger.NotKept)
		stored(nil)
		return
	}
	c.jobs.room.enter(0)
	kept := func(err error) {
		c.jobs.room.leave(0)
		c.record.stored(jid, id, err)
		stored(err)
	}
	if !c.jobs.writer.Send(&StoreReturn{JID: jid, ID: id, By: who.id, Load: load, Stored: kept, Keep: who.syndic}) {
		stored(errors.New("the job store does not take returns"))
	}
}

// storesReturns tells whether returns go to the job store.
func (c *core) storesReturns() bool { return c.cfg.JobCache && c.cfg.ExtJobCache == "" }

// assignJID numbers a job the minion began itself (startup states, salt-call, schedule).
func (c *core) assignJID(who speaker, load *payload.Map) string {
	jid, id := c.jobs.ids.Next(time.Now()), load.Str("id")
	arg := load.Value("arg")
	if arg == nil {
		arg = load.Value("fun_args")
	}
	load.Set("arg", arg).Set("tgt_type", "glob").Set("tgt", id).Set("jid", jid)
	c.jobs.writer.Send(&SaveLoad{JID: jid, Load: load, Minions: []string{id}, NoCache: load.Bool("nocache"), By: who.id, Again: c.storesReturns()})
	return jid
}

// syndicReturn takes the returns that a syndic has collected: only with order_masters, only from a syndic, and signed by it
// where returns must be.
func syndicReturn(c *core, r *call) (any, error) {
	if accept, err := c.auth.VerifyReturn(r.req.opened.Load()); !accept {
		c.log.Info("signature of the returns of a syndic", "minion", r.id, "err", err)
		return false, nil
	}
	if r.id == "" || !c.proven(r, c.cfg.Version2Returns, "returns of a syndic without a token (version_2_returns)") {
		return false, nil
	}
	if !c.asSyndic(r.id) {
		why := "returns of a syndic, which it is not (syndics names them)"
		if !c.cfg.OrderMasters {
			why = "returns of a syndic, which need order_masters"
		}
		c.deny(r.id, ledger.DeniedSyndic, 1, why)
		return false, nil
	}
	loads, several := r.load.Value("load").([]any)
	if !several {
		loads = []any{r.load}
	}
	c.touchSyndic(r.id)
	who := speaker{id: r.id, syndic: true}
	if !c.mayReturn(who, r.req.size) {
		return false, nil
	}
	all := newGathering(func(err error) { c.acknowledge(r, err) })
	for _, l := range loads {
		if load, ok := l.(*payload.Map); ok {
			c.syndicJob(who, load, r.from, all)
		}
	}
	all.tell(nil)
	return nil, errLater
}

// gathering waits for several outcomes.
type gathering struct {
	left   atomic.Int64
	failed atomic.Pointer[error]
	done   func(error)
}

// newGathering calls done with the first error, or nil, when as many outcomes are told as were announced.
func newGathering(done func(error)) *gathering {
	g := &gathering{done: done}
	g.left.Store(1) // that of whoever announces
	return g
}

// one announces an outcome. When all are announced, tell(nil) says so.
func (g *gathering) one() func(error) {
	g.left.Add(1)
	return g.tell
}

func (g *gathering) tell(err error) {
	if err != nil {
		g.failed.CompareAndSwap(nil, &err)
	}
	if g.left.Add(-1) > 0 {
		return
	}
	if why := g.failed.Load(); why != nil {
		g.done(*why)
		return
	}
	g.done(nil)
}

// syndicJob takes the returns of one job. A load that comes with them is that of a job which this master does not know; what it
// knows of a job is not changed.
func (c *core) syndicJob(who speaker, load *payload.Map, from origin, all *gathering) {
	jid, returns := load.Str("jid"), load.Map("return")
	if !c.returnsTo(jid) || returns == nil {
		return
	}
	job := load.Map("load")
	for k, v := range returns.All() {
		id, _ := k.(string)
		if !c.speaksFor(who, id) {
			c.deny(who.id, ledger.DeniedReturn, 1, "a return for "+payload.Show(id)+", which is a minion of this master")
			continue
		}
		one := payload.M("jid", jid, "id", id)
		if ret, ok := v.(*payload.Map); ok {
			one.Update(ret)
		} else {
			one.Set("return", v)
		}
		one.Set("jid", jid).Set("id", id)
		for _, k := range []string{"master_id", "fun", "fun_args", "out", "sig"} {
			if v, ok := load.Get(k); ok && !one.Has(k) {
				one.Set(k, v)
			}
		}
		if !c.isReturn(one) || jid == "req" || !c.mayStore(who, one) {
			continue
		}
		if id != who.id {
			if err := c.managed.Below(who.id, id); err != nil {
				c.log.Error("that a minion is below a syndic could not be kept", "minion", id, "err", err)
			}
		}
		if job != nil && !c.jobs.knows(jid) {
			c.jobs.writer.Send(&SaveLoad{JID: jid, Load: withoutSecrets(job), By: who.id})
		}
		job = nil
		c.jobs.room.wait(context.Background(), syndicPatience)
		c.returned(who, one, from, all.one())
	}
}

// touchSyndic marks a syndic as known to the command line.
func (c *core) touchSyndic(id string) {
	if !auth.ValidID(id) {
		return
	}
	path := filepath.Join(c.cfg.SyndicDir, id)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(f.Close(), os.Chtimes(path, time.Time{}, time.Now()))
	}
	if err != nil {
		c.log.Error("syndic could not be noted", "minion", id, "err", err)
	}
}
