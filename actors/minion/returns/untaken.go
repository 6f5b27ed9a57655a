package returns

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"brine/actors/daemon"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// A master may answer and yet not take a return: its disk is full, a signature is missing, it dies of just this one.
// Such a return waits in a list of its own, so that it holds up no other. One of them at a time is tried again, the one
// that has waited for longest, with pauses that grow as long as none is taken; each of them has pauses of its own, too.
// When one is taken all are tried.

// Pauses before another attempt with a return that was not taken.
const (
	untakenPauseMax = time.Minute
	refusedPauseMax = 10 * time.Minute // of one that is not taken before somebody changes something
)

// probeTimer tries one of the returns that were not taken.
type probeTimer struct{}

// untaken are the returns that the master has answered and not taken.
type untaken struct {
	list   []*pending
	size   int64 // of those on disk, in bytes
	probes int   // attempts since one was taken
	timer  bool  // a probeTimer is on its way
}

// notTaken tells whether an attempt failed because of what was to be delivered: the master is there.
func notTaken(err error) bool {
	var no *payload.NotTaken
	return errors.As(err, &no) || errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrBadReply) ||
		errors.Is(err, payload.ErrUnencodable)
}

func (u *untaken) add(p *pending) {
	p.untaken = true
	u.list = append(u.list, p)
	if p.onDisk() {
		u.size += p.Size
	}
}

// drop takes out of the list what is to go.
func (u *untaken) drop(gone func(*pending) bool) {
	u.list = slices.DeleteFunc(u.list, func(p *pending) bool {
		if !gone(p) {
			return false
		}
		u.leave(p)
		return true
	})
}

func (u *untaken) leave(p *pending) {
	p.untaken = false
	if p.onDisk() {
		u.size -= p.Size
	}
}

// take empties the list.
func (u *untaken) take() []*pending {
	all := u.list
	u.list, u.probes = nil, 0
	for _, p := range all {
		u.leave(p)
	}
	return all
}

// next is the one that is to be tried next; nil: there is none.
func (u *untaken) next() *pending {
	if len(u.list) == 0 {
		return nil
	}
	return slices.MinFunc(u.list, func(a, b *pending) int { return a.due.Compare(b.due) })
}

// refuse keeps a return that the master has not taken.
func (r *sender) refuse(ctx supervisor.Context, p *pending, err error) {
	level, most := slog.LevelWarn, untakenPauseMax
	if p.refusals > 0 {
		level = slog.LevelDebug // said before
	}
	r.opt.Log.Log(context.Background(), level, "the master does not take a return; it is kept and tried again", "jid",
		p.jid, "err", err)
	var no *payload.NotTaken
	if errors.As(err, &no) && no.Refused {
		most = refusedPauseMax
	}
	p.probe = false
	p.due = r.opt.Clock.Now().Add(growing(p.refusals, most))
	p.refusals++
	r.setBack(p)
	r.again(ctx, p)
	r.untaken.add(p)
	r.probeLater(ctx)
	r.trim(ctx)
}

// growing is the pause after n attempts.
func growing(n int, most time.Duration) time.Duration {
	pause := min(retryPause<<min(n, 16), most)
	return daemon.Between(pause/2, pause)
}

// probeLater sets the timer for the next attempt, unless it is set.
func (r *sender) probeLater(ctx supervisor.Context) {
	p := r.untaken.next()
	if p == nil || r.untaken.timer {
		return
	}
	r.untaken.timer = true
	pause := max(growing(r.untaken.probes, retryPauseMax), p.due.Sub(r.opt.Clock.Now()))
	daemon.After(ctx, r.opt.Clock, pause, &probeTimer{})
}

// onProbe tries the return that is due.
func (r *sender) onProbe(ctx supervisor.Context) {
	r.untaken.timer = false
	r.trimAged(ctx)
	p := r.untaken.next()
	if p == nil {
		return
	}
	if p.due.After(r.opt.Clock.Now()) {
		r.probeLater(ctx)
		return
	}
	r.untaken.probes++
	p.probe = true
	r.untaken.drop(func(q *pending) bool { return q == p })
	r.waiting = append([]*pending{p}, r.waiting...)
	r.fly(ctx)
	r.probeLater(ctx)
}

// releaseUntaken tries all of them: the master has taken one, or is back.
func (r *sender) releaseUntaken(ctx supervisor.Context) {
	if len(r.untaken.list) == 0 {
		return
	}
	r.waiting = append(r.untaken.take(), r.waiting...)
	r.fly(ctx)
}

// again puts a return into the journal that could not be put there before: there may be room by now.
func (r *sender) again(ctx supervisor.Context, p *pending) {
	if m := p.asked; m != nil && len(m.Body) > 0 && !p.noting &&
		(r.opt.MaxBytes <= 0 || int64(len(m.Body)) <= r.opt.MaxBytes) {
		p.noting = true
		r.write(ctx, m, m.Body, &notedLate{ret: p, sender: r})
	}
}

// notedLate says that a return is in the journal by now, or still not.
type notedLate struct {
	ret    *pending
	err    error
	sender *sender
}

func (m *notedLate) Written(err error) any { return &notedLate{m.ret, err, m.sender} }

// onNotedLate ends the time in which a return is in memory only.
func (r *sender) onNotedLate(m *notedLate) {
	p := m.ret
	p.noting = false
	if m.err != nil || m.sender != r || r.known[p.Key] != p || p.onDisk() {
		return
	}
	r.noteSpooled(p, nil)
	r.release(p)
	r.size += p.Size
	if p.untaken {
		r.untaken.size += p.Size
	}
	p.asked.kept()
	p.asked = nil
}
