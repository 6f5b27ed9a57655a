package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/journal"
	"brine/actors/minion/returns"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
)

// Messages of a Job whose return is not taken.
type (
	// returnFailed says that no ReturnSender has taken the return.
	returnFailed struct{ why error }
	// reasonNoted says that the reason why there is no return is in the journal (put), that a return is there already,
	// or that nothing can be put there.
	reasonNoted struct {
		ret    *returns.Send // the reason
		put    bool
		err    error
		detail string
	}
)

func (m *reasonNoted) Decided(put bool, err error) any {
	return &reasonNoted{m.ret, put, err, m.detail}
}

// receiveFailure takes what has to do with a return that is not taken.
func (j *job) receiveFailure(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *answerAgain:
		j.send(ctx)
	case *returnFailed:
		j.onReturnFailed(ctx, m.why)
	case *reasonNoted:
		j.onReasonNoted(ctx, m)
	}
}

// onReturnFailed sends a return again that a ReturnSender died of. The second time it is set aside, and the reason
// takes its place.
func (j *job) onReturnFailed(ctx supervisor.Context, why error) {
	switch {
	case j.rec.answered.Load():
	case errors.Is(why, supervisor.ErrQuarantined):
		j.setAside(ctx)
	case errors.Is(why, supervisor.ErrCrashed), errors.Is(why, supervisor.ErrAbandoned):
		j.fatal = why
		j.send(ctx)
	case errors.Is(why, supervisor.ErrMailboxFull):
		daemon.After(ctx, j.opt.clock, answerPause, &answerAgain{})
	}
}

// textReturnAside is the return in place of one that was set aside.
const textReturnAside = "The return of the job is lost: the minion's ReturnSender died of it twice (%v); it is set " +
	"aside as %s"

// setAside puts the reason into the journal, not by way of the ReturnSender. A ReturnSender may have put the return
// there before it died: then that one counts.
func (j *job) setAside(ctx supervisor.Context) {
	why, key := j.fatal, j.rec.key
	if why == nil {
		why = supervisor.ErrQuarantined
	}
	if f, _ := j.opt.diary.Get(key); f.Acked != 0 { // it has come through all the same
		j.kept()
		return
	}
	sum := sha256.Sum256([]byte(key))
	hash := hex.EncodeToString(sum[:])
	j.opt.log.Error("a return is set aside: the ReturnSender died of it twice", "jid", j.jid(), "hash", hash, "err",
		why)
	reason := toMaster(j.opt.id, j.rec.ret.Load()).DropArgs().Fail(fmt.Sprintf(textReturnAside, why, hash))
	body, err := returns.PackReason(j.opt.diary, key, reason, func(f *ledger.Minion) {
		f.Outcome, f.Detail, f.Error, f.Spooled = ledger.ReturnAside, why.Error(), "", ledger.At(j.opt.clock.Now())
	})
	if err != nil {
		supervisor.Crash(fmt.Errorf("pack reason for %s: %w", j.jid(), err))
	}
	ret := &returns.Send{Key: key, JID: j.jid(), Return: reason, Body: body, Kept: j.kept, Reason: true}
	supervisor.Send(ctx, j.opt.journal, &journal.WriteReason{Record: journal.Record{Kind: journal.Returned, Key: key,
		Link: j.rec.link.Name(), Body: body},
		Asker: j.self, Note: &reasonNoted{ret: ret, detail: why.Error()}})
}

// onReasonNoted ends the job. Where nothing can be put on disk, the ReturnSender holds the reason in memory.
func (j *job) onReasonNoted(ctx supervisor.Context, m *reasonNoted) {
	if j.rec.answered.Load() {
		return
	}
	if m.err == nil && !m.put {
		j.kept()
		return
	}
	j.note(func(f *ledger.Minion, now ledger.Stamp) {
		f.Outcome, f.Detail, f.Error = ledger.ReturnAside, m.detail, ""
		if m.put {
			f.Spooled = now
		}
	})
	if m.err != nil {
		supervisor.Send(ctx, j.rec.link.Sender(), m.ret)
		return
	}
	at := journal.Spooled{Key: m.ret.Key, Size: int64(len(m.ret.Body)), At: j.opt.clock.Now(), Reason: true}
	supervisor.Send(ctx, j.rec.link.Sender(), &returns.Take{JID: m.ret.JID, Return: at})
	j.kept()
}

// answerPause is how long a job waits for room at its ReturnSender.
const answerPause = time.Second
