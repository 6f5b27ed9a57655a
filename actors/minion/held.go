package minion

import (
	"errors"
	"fmt"

	"brine/modules/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// heldFrames are the publications that are not opened yet, in order. They outlive the Subscriber, and the one
// that lives is the only one to touch them. Order counts: what overtakes another makes it look like a
// repetition, which would be dropped.
type heldFrames struct{ list []heldFrame }

type heldFrame struct {
	frame    []byte
	tries    int // that did not come to their end: a Subscriber has died of it
	renewals int // sign-ins for it
}

// Limits of heldFrames.
const (
	maxHeld  = 1000 // as many as a socket of Salt holds
	maxTries = 5    // of opening one
	// maxRenewals is how many sign-ins one request or publication may ask for. The first may be one that was under
	// way already, with an answer from before the key has changed.
	maxRenewals = 2
)

// add appends a frame; beyond the limit the oldest goes.
func (h *heldFrames) add(frame []byte) (dropped bool) {
	if dropped = len(h.list) >= maxHeld; dropped {
		h.list = h.list[1:]
	}
	h.list = append(h.list, heldFrame{frame: frame})
	return dropped
}

// front begins a try of the first frame; opened ends it. ok is false when there is none; spoilt when it had its tries.
func (h *heldFrames) front() (frame []byte, spoilt, ok bool) {
	if len(h.list) == 0 {
		return nil, false, false
	}
	f := &h.list[0]
	f.tries++
	return f.frame, f.tries > maxTries, true
}

func (h *heldFrames) opened() { h.list[0].tries-- }

// reset lets a new Subscriber ask for a sign-in again: nobody tells it of the one before.
func (h *heldFrames) reset() {
	if len(h.list) > 0 {
		h.list[0].renewals = 0
	}
}

func (h *heldFrames) pop() {
	h.list[0] = heldFrame{}
	if h.list = h.list[1:]; len(h.list) == 0 {
		h.list = nil
	}
}

// drain opens what waits, until something needs a sign-in first.
func (s *subscriber) drain(ctx actor.Context) {
	for s.link.ready.Load() && !s.asked {
		session := s.link.sessions.Load()
		frame, spoilt, ok := s.held.front()
		if !ok {
			return
		}
		if spoilt {
			s.held.pop()
			s.drop(ctx, ledger.Unopened, errors.New("it cannot be opened"))
			continue
		}
		load, mark, err := s.link.auth.OpenMarked(frame)
		s.held.opened()
		if first := &s.held.list[0]; first.renewals < maxRenewals && (errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrNotSignedIn)) {
			first.renewals++
			s.renew(ctx, session)
			return
		}
		s.held.pop()
		s.deliver(ctx, load, mark, err)
	}
}

// renew asks for a session after the given one.
func (s *subscriber) renew(ctx actor.Context, session int64) {
	s.asked = true
	self := s.self
	supervisor.Send(ctx, s.link.authenticator, &SignIn{After: session, Done: func(err error) { self.Send(&renewed{err, s}) }})
}

// onRenewed goes on after a sign-in. Where there is none to be had soon, what waits is dropped: a job must not
// begin hours after it was asked for.
func (s *subscriber) onRenewed(ctx actor.Context, err error) {
	s.asked = false
	if errors.Is(err, errBrokenOff) || errors.Is(err, supervisor.ErrCrashed) || errors.Is(err, supervisor.ErrAbandoned) {
		err = nil // the Authenticator died: its successor signs in
		s.held.reset()
	}
	for err != nil && len(s.held.list) > 0 {
		s.held.pop()
		s.drop(ctx, ledger.OutcomeNotReady, err)
	}
	s.drain(ctx)
}

func (s *subscriber) drop(ctx actor.Context, outcome ledger.Outcome, why error) {
	supervisor.Failed(ctx)
	s.refuse(outcome, why)
	s.link.log.Error("publication dropped", "why", why)
}

func (s *subscriber) deliver(ctx actor.Context, load *payload.Map, mark auth.Mark, err error) {
	switch {
	case errors.Is(err, auth.ErrIgnore):
		s.refuse(ledger.Unopened, err)
		s.link.log.Debug("publication ignored", "why", err)
	case err != nil:
		s.drop(ctx, ledger.Unopened, err)
	default:
		to := s.opt.dispatcher()
		supervisor.Send(ctx, to, &JobReceived{Load: load, Link: s.link, mark: mark, at: s.link.clock.Now(), to: to})
	}
}

// refuse notes a publication that becomes no job.
func (s *subscriber) refuse(outcome ledger.Outcome, why error) {
	s.opt.diary.Refuse(ledger.Refusal{At: ledger.At(s.link.clock.Now()), Why: why.Error(), Outcome: outcome})
}

var errHeldFull = fmt.Errorf("%d publications waited already", maxHeld)
