package master

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/modules/ledger"
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
		c.noteRefused(r, err)
		return false, nil
	}
	r.from.minion = c.takeFacts(r.id, r.load, r.from)
	if c.questions.take(r.load, r.from.at) {
		return nil, nil
	}
	return c.acceptReturn(r, r.load)
}

func (c *core) acceptReturn(r *call, load *payload.Map) (any, error) {
	if !c.returned(load, r.from, func(err error) {
		if err != nil {
			r.req.fail()
			return
		}
		c.finish(r.req, nil)
	}) {
		return nil, nil
	}
	return nil, errLater
}

// returned announces a return and hands it to the job store. False means that it is no return and nothing
// will happen; otherwise stored is called when it is on disk, or could not be put there.
func (c *core) returned(load *payload.Map, from origin, stored func(error)) bool {
	if rid, ok := load.Get("resource_id"); ok { // 3008: what a minion manages answers under its own id
		load.Set("id", rid)
		load.Delete("resource_id")
	}
	id, jid := load.Str("id"), load.Str("jid")
	if !load.Has("return") || !load.Has("jid") || !auth.ValidID(id) {
		return false
	}
	if jid == "req" {
		jid = c.assignJID(load, id)
	}
	c.noteReturn(jid, id, load, from)
	c.log.Info(fmt.Sprintf("Got return from %s for job %s", id, jid))
	c.fire(event.TagJobReturn(jid, id), load)
	c.book.Fired(jid, id, ledger.At(time.Now()))
	c.fireStateErrors(load)
	if !c.cfg.JobCache || c.cfg.ExtJobCache != "" || jid == "nocache" {
		c.kept(jid, id, 0, ledger.NotKept)
		stored(nil)
		return true
	}
	kept := func(err error) {
		c.noteKept(jid, id, err)
		stored(err)
	}
	if !c.jobs.Send(&StoreReturn{JID: jid, ID: id, Load: load, Stored: kept}) {
		stored(errors.New("the job store does not take returns"))
	}
	return true
}

// assignJID numbers a job the minion began itself (startup states, salt-call, schedule).
func (c *core) assignJID(load *payload.Map, id string) string {
	jid := c.jids.next(time.Now())
	arg := load.Value("arg")
	if arg == nil {
		arg = load.Value("fun_args")
	}
	load.Set("arg", arg).Set("tgt_type", "glob").Set("tgt", id).Set("jid", jid)
	c.jobs.Send(&SaveLoad{JID: jid, Load: load, Minions: []string{id}, NoCache: load.Bool("nocache")})
	return jid
}

// syndicReturn unpacks the returns a syndic has collected.
func syndicReturn(c *core, r *call) (any, error) {
	loads, several := r.load.Value("load").([]any)
	if !several {
		loads = []any{r.load}
	}
	c.touchSyndic(r.id)
	for _, l := range loads {
		load, _ := l.(*payload.Map)
		if load.Str("jid") == "" || load.Map("return") == nil {
			continue
		}
		if job := load.Map("load"); job != nil {
			c.jobs.Send(&SaveLoad{JID: load.Str("jid"), Load: withoutSecrets(job)})
		}
		for id, v := range load.Map("return").All() {
			ret, ok := v.(*payload.Map)
			if !ok {
				ret = payload.M("return", v)
			}
			one := payload.M("jid", load.Value("jid"), "id", id)
			one.Update(ret)
			for _, k := range []string{"master_id", "fun", "fun_args", "out", "sig"} {
				if v, ok := load.Get(k); ok && !one.Has(k) {
					one.Set(k, v)
				}
			}
			c.returned(one, r.from, func(err error) {
				if err != nil {
					c.log.Error("return from a syndic could not be stored", "minion", id, "err", err)
				}
			})
		}
	}
	return nil, nil
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
