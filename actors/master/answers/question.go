package answers

import (
	"context"
	"sync"
	"time"

	"brine/modules/execution/brine"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// questions are what this master asks its minions for itself: publications that nobody hears of, whose returns are
// neither events nor stored.
type questions struct{ open sync.Map } // jid → *question

type question struct {
	answers chan answer // has room for one of each
	open    sync.Map    // ids that were asked and have not answered
}

// answer is what one minion says.
type answer struct {
	ret *payload.Return
	at  time.Time
}

// take hands a return over that answers a question. False: it answers none.
func (q *questions) take(ret *payload.Return, at time.Time) bool {
	if ret.Function() != brine.Job {
		return false
	}
	v, ok := q.open.Load(ret.JID())
	if !ok {
		return false
	}
	asked := v.(*question)
	if _, first := asked.open.LoadAndDelete(ret.ID()); first {
		asked.answers <- answer{ret, at}
	}
	return true
}

// askPatience is how long brine why waits for the minions that it asks.
const askPatience = 1500 * time.Millisecond

// knownEnough tells whether the facts of the master say all that can be known of a minion. If not, it is asked: one of
// brine's that may be connected and have the job.
func knownEnough(one *ledger.Case) bool {
	r := one.Job.Row(one.ID)
	switch {
	case one.Job == nil || one.Stored || r != nil && (r.Returned != 0 || r.RefusedAt != 0):
		return true
	case one.Key != "accepted" || one.Target == ledger.NotMeant || one.Target == ledger.Missing:
		return true
	case !one.Peer.Brine || one.LinkNow == ledger.LinkDown:
		return true
	}
	return one.Link == ledger.LinkDown && (r == nil || r.Minion == nil)
}

// ask asks minions what they know of a job, and waits for their answers.
func (d *Service) ask(ctx context.Context, jid string, all []ledger.Case) {
	waiting := map[string]*ledger.Case{}
	ids := []string{}
	for i := range all {
		if one := &all[i]; !knownEnough(one) {
			waiting[one.ID] = one
			ids = append(ids, one.ID)
			one.Asked = ledger.Silent
		}
	}
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	own, q := d.NextJID(), &question{answers: make(chan answer, len(ids))}
	for _, id := range ids {
		q.open.Store(id, true)
	}
	d.questions.open.Store(own, q)
	defer d.questions.open.Delete(own)
	d.Ask(own, brine.Job, []any{jid}, ids)
	for len(waiting) > 0 {
		select {
		case a := <-q.answers:
			if one := waiting[a.ret.ID()]; one != nil {
				delete(waiting, one.ID)
				d.hear(one, a)
			}
		case <-ctx.Done():
			return
		}
	}
}

// hear takes the answer of a minion.
func (d *Service) hear(one *ledger.Case, a answer) {
	said, ok := a.ret.Value().(*payload.Map)
	if !ok || !said.Has("now") { // it does not know the function
		one.Asked = ledger.NotAsked
		return
	}
	m := d.Book.Peers.Timed(one.ID, ledger.ReadMinion(said), a.ret.Map(), a.at)
	one.Asked, one.Answer, one.Peer = ledger.Answered, m.ByMaster(), d.Book.Peers.Get(one.ID)
	if m.Outcome != ledger.Unknown {
		return
	}
	for _, r := range ledger.ReadRefusals(said.List(ledger.FieldRefused)) {
		if at := r.At + ledger.Stamp(m.Offset); at+ledger.Stamp(refusedAround/time.Microsecond) >= one.Job.Job.Sent {
			one.Answer.Outcome, one.Answer.Detail, one.Answer.Received = r.Outcome, r.Why, at
			return
		}
	}
}

// refusedAround is by how much a publication may seem to have been refused before it was sent.
const refusedAround = time.Second
