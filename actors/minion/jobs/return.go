package jobs

import (
	"fmt"

	"brine/actors/minion/journal"
	"brine/actors/minion/returns"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// send hands the return over. Its record takes the place of the one that the job has begun.
func (j *job) send(ctx supervisor.Context) {
	rec, self := j.rec, j.self
	if !j.opt.pubRet || rec.link == nil || unreturned(rec.job) {
		j.drop(ctx)
		return
	}
	ret, body := j.packed()
	supervisor.Send(ctx, rec.link.Sender(), &returns.Send{Key: rec.key, JID: j.jid(), Return: ret, Body: body,
		Kept:   j.kept,
		Failed: func(why error) { self.Send(&returnFailed{why}) }})
}

// kept ends a job that is answered even if this process dies. It may be called by any goroutine.
func (j *job) kept() {
	j.forget()
	j.rec.answered.Store(true)
	j.self.Send(&jobAnswered{})
}

// mostReturn is how many bytes a return may have: no master of brine reads a larger message, with what is around the
// return in it. Unlike Salt: it would be sent again and again.
const mostReturn = payload.MaxFrame / 16 * 15

// packed is the load of the return, and its bytes for the journal. What cannot be sent is replaced by the reason.
func (j *job) packed() (*payload.Return, []byte) {
	ret := toMaster(j.opt.id, j.rec.ret.Load())
	body, err := j.pack(ret)
	why, outcome := "", ledger.Unpackable
	switch {
	case err != nil:
		why = fmt.Sprintf("The return cannot be packed: %v", err)
	case len(body) > j.opt.mostReturn:
		why, outcome = fmt.Sprintf("The return is too large to be sent: %d bytes, at most %d", len(body),
			j.opt.mostReturn), ledger.TooBig
	default:
		return ret, body
	}
	j.noteEnd(outcome, why)
	j.opt.log.Error("a return is replaced by the reason why it cannot be sent", "jid", j.jid(), "why", why)
	if body, err = j.pack(ret.Fail(why)); err != nil {
		supervisor.Crash(fmt.Errorf("pack return of %s: %w", j.jid(), err))
	}
	return ret, body
}

// drop ends a job whose return nobody wants.
func (j *job) drop(ctx supervisor.Context) {
	j.forget()
	j.rec.answered.Store(true)
	supervisor.Send(ctx, j.opt.journal, &journal.Write{Record: journal.Record{Kind: journal.Gone, Key: j.rec.key}})
	j.onAnswered(ctx)
}

// toMaster is the load of a _return request, in Salt's order.
func toMaster(id string, ret *payload.Return) *payload.Return {
	load := payload.M("cmd", payload.CmdReturn, payload.FieldID, id)
	load.Update(ret.Map())
	return payload.NewReturn(load)
}
