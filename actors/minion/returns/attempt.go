package returns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"brine/actors/daemon"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
)

// fly sends what waits, as far as there is room.
func (r *sender) fly(ctx supervisor.Context) {
	for len(r.waiting) > 0 && r.flying < r.window {
		p := r.waiting[0]
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		r.flying++
		l, self := r.opt.Link, r.self
		supervisor.Go(ctx, "return", func(ctx context.Context) error {
			err := r.opt.deliver(ctx, l, p)
			if err == nil { // not left to the actor, which may be about to end: the journal ends later
				if p.held != nil {
					p.held.taken.Store(true)
				}
				r.opt.over(p.Key)
			}
			self.Send(&delivered{ret: p, err: err, sender: r})
			return nil
		})
	}
}

// deliver makes one attempt. It runs outside the actor.
func (o *Options) deliver(ctx context.Context, l *link.Link, p *pending) error {
	ret := p.ret
	if ret == nil {
		var err error
		if ret, err = o.read(ctx, p.Key); err != nil {
			return err
		}
	}
	if l.Sessions() == 0 { // whether the master is brine's shows at the sign-in
		if err := l.Renew(ctx, 0); err != nil {
			return fmt.Errorf("deliver the return: %w", err)
		}
	}
	load := o.addFacts(ret, p)
	answer, err := l.Ask(ctx, load, l.ReturnTimeout(), l.Times().ReturnRetryTries)
	if err != nil {
		return err
	}
	return payload.ReturnTaken(answer)
}

// read takes a return from the journal.
func (o *Options) read(ctx context.Context, key string) (*payload.Return, error) {
	type found struct {
		ret *payload.Return
		err error
	}
	reply := make(chan found, 1)
	o.Journal.Send(&journal.Read{Key: key, Done: func(ret *payload.Return, err error) {
		select {
		case reply <- found{ret, err}:
		default: // told already
		}
	}})
	select {
	case f := <-reply:
		if f.err != nil {
			return nil, fmt.Errorf("read the return: %w", f.err)
		}
		return f.ret, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (r *sender) onDelivered(ctx supervisor.Context, m *delivered) {
	if m.sender != r {
		r.onDeliveredBefore(m)
		return
	}
	r.flying--
	r.noteTried(m.ret, m.err)
	switch {
	case r.known[m.ret.Key] != m.ret: // dropped meanwhile
	case m.err == nil:
		r.window = min(r.window+1, link.MostReturns)
		r.forget(m.ret)
		r.answered(ctx)
		if m.ret.probe {
			r.releaseUntaken(ctx)
		}
	case errors.Is(m.err, journal.ErrUnreadable):
		r.opt.Log.Error("a return is lost", "jid", m.ret.jid, "err", m.err)
		r.opt.over(m.ret.Key)
		r.forget(m.ret)
	case supervisor.Lifetime(ctx).Err() != nil: // broken off by our own end, which says nothing of the master
		r.failed = append(r.failed, m.ret)
		return
	case notTaken(m.err):
		r.window = max(r.window/2, 1)
		r.refuse(ctx, m.ret, m.err)
		r.answered(ctx)
	default:
		r.window = max(r.window/2, 1)
		r.hold(ctx, m.ret, m.err)
	}
	r.fly(ctx)
}

// answered goes on after an answer of the master: what has failed because it was away is tried again.
func (r *sender) answered(ctx supervisor.Context) {
	back := r.pauses > 1 // for one that failed alone the pause stands
	r.pauses, r.away = 0, false
	if back {
		r.retry(ctx)
	}
}

// onDeliveredBefore takes the outcome of a predecessor's attempt. What failed is in the journal; what did not needs
// no other attempt.
func (r *sender) onDeliveredBefore(m *delivered) {
	if m.err != nil {
		return
	}
	p := r.known[m.ret.Key]
	if p == nil {
		return
	}
	p.taken = true // it may be on its way to the journal once more
	mine := func(q *pending) bool { return q == p }
	if p.untaken || slices.ContainsFunc(r.waiting, mine) || slices.ContainsFunc(r.failed, mine) {
		r.waiting, r.failed = slices.DeleteFunc(r.waiting, mine), slices.DeleteFunc(r.failed, mine)
		r.untaken.drop(mine)
		r.opt.over(p.Key)
		r.forget(p)
	}
}

// hold keeps a return for the next retry.
func (r *sender) hold(ctx supervisor.Context, p *pending, err error) {
	level := slog.LevelWarn
	if p.failed {
		level = slog.LevelDebug // said before
	}
	r.opt.Log.Log(context.Background(), level, "the return waits for the master", "jid", p.jid, "err", err)
	p.failed, r.away = true, true
	r.setBack(p)
	r.again(ctx, p)
	r.failed = append(r.failed, p)
	if !r.timer {
		r.timer = true
		r.pauses++
		pause := min(retryPause<<min(r.pauses, 5), retryPauseMax)
		daemon.After(ctx, r.opt.Clock, daemon.Between(pause/2, pause), &retryTimer{})
		if errors.Is(err, transport.ErrUnconnected) {
			link.WhenListening(ctx, r.opt.Link, pause, r.self, &link.MasterBack{})
		}
	}
	r.trim(ctx)
}

// setBack counts an attempt that failed, and lets go what need not be held in memory.
func (r *sender) setBack(p *pending) {
	p.tries++
	switch {
	case p.bulky && p.tries >= bulkTries:
		r.giveUp(p)
	case !p.bulky && p.onDisk() && len(r.failed)+len(r.untaken.list) >= maxLoaded:
		p.ret = nil
	}
}

// retry sends again what has failed, before what came later.
func (r *sender) retry(ctx supervisor.Context) {
	r.trim(ctx)
	r.waiting = append(r.failed, r.waiting...)
	r.failed = nil
	r.fly(ctx)
}
