package link

import (
	"errors"
	"fmt"
	"time"

	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// heldFrames are the publications that are not opened yet, in order. They outlive the Subscriber, and the one
// that lives is the only one to touch them. Order counts: what overtakes another makes it look like a
// repetition, which would be dropped.
type heldFrames struct {
	most, mostBytes int
	list            []heldFrame
	bytes           int // of list
}

type heldFrame struct {
	frame    []byte
	tries    int // that did not come to their end: a Subscriber has died of it
	renewals int // sign-ins for it
}

// Limits of heldFrames.
const (
	maxTries = 5 // of opening one
	// maxRenewals is how many sign-ins one request or publication may ask for. The first may be one that was under
	// way already, with an answer from before the key has changed.
	maxRenewals = 2
)

// add appends a frame; beyond the limits the oldest go.
func (h *heldFrames) add(frame []byte) (dropped int) {
	for ; len(h.list) > 0 && (len(h.list) >= h.most || h.bytes+len(frame) > h.mostBytes); dropped++ {
		h.pop()
	}
	h.list = append(h.list, heldFrame{frame: frame})
	h.bytes += len(frame)
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
	h.bytes -= len(h.list[0].frame)
	h.list[0] = heldFrame{}
	if h.list = h.list[1:]; len(h.list) == 0 {
		h.list = nil
	}
}

// drain opens what waits, until something needs a sign-in first.
func (s *subscriber) drain(ctx supervisor.Context) {
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
		if first := &s.held.list[0]; first.renewals < maxRenewals && (errors.Is(err, auth.ErrReauth) ||
			errors.Is(err, auth.ErrNotSignedIn)) {
			first.renewals++
			s.renew(ctx, session)
			return
		}
		s.held.pop()
		s.deliver(ctx, Publication{Job: payload.NewJob(load), Link: s.link, Mark: mark,
			At: s.link.clock.Now(), Size: len(frame)}, err)
	}
}

// renew asks for a session after the given one.
func (s *subscriber) renew(ctx supervisor.Context, session int64) {
	s.asked = true
	self := s.self
	supervisor.Send(ctx, s.link.authenticator, &SignIn{After: session, Done: func(err error) {
		self.Send(&renewed{err, s})
	}})
}

// onRenewed goes on after a sign-in. Where there is none to be had soon, what waits is dropped: a job must not
// begin hours after it was asked for.
func (s *subscriber) onRenewed(ctx supervisor.Context, err error) {
	s.asked = false
	if errors.Is(err, errBrokenOff) || errors.Is(err, supervisor.ErrCrashed) ||
		errors.Is(err, supervisor.ErrAbandoned) {
		err = nil // the Authenticator died: its successor signs in
		s.held.reset()
	}
	for err != nil && len(s.held.list) > 0 {
		s.held.pop()
		s.drop(ctx, ledger.OutcomeNotReady, err)
	}
	s.drain(ctx)
}

func (s *subscriber) drop(ctx supervisor.Context, outcome ledger.Outcome, why error) {
	supervisor.Failed(ctx)
	s.refuse(outcome, why)
	s.link.log.Error("publication dropped", "why", why)
}

func (s *subscriber) deliver(ctx supervisor.Context, p Publication, err error) {
	switch {
	case errors.Is(err, auth.ErrIgnore):
		s.refuse(ledger.Unopened, err)
		s.link.log.Debug("publication ignored", "why", err)
	case err != nil:
		s.drop(ctx, ledger.Unopened, err)
	default:
		s.link.opt.Deliver(ctx, p)
	}
}

// refuse notes a publication that becomes no job.
func (s *subscriber) refuse(outcome ledger.Outcome, why error) {
	s.link.opt.Diary.Refuse(ledger.Refusal{At: ledger.At(s.link.clock.Now()), Why: why.Error(), Outcome: outcome})
}

// full is why the oldest publication is dropped.
func (h *heldFrames) full() error {
	return fmt.Errorf("%d publications waited already", len(h.list))
}

// Publication is a publication that was opened and verified.
type Publication struct {
	Job  *payload.Job
	Link *Link
	Mark auth.Mark // where it stands among those of its master
	At   time.Time // when it was opened
	Size int       // of the frame
}
