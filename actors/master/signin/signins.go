// Package signin is the sign-in side of the master. A Side owns the session keys (wire/auth) and the count of keys that
// wait for an operator. It notes what sign-ins show of minions, in the ledger and by the event bus, and has Maintenance
// look at keys by a function of its options.
package signin

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"brine/actors/master/attendance"
	"brine/actors/master/complaints"
	"brine/actors/master/eventbus"
	"brine/actors/master/meter"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// Options are what the configuration says of what comes of sign-ins.
type Options struct {
	Events     bool     // auth_events
	WithGrains []string // auth_events_autosign_grains: of which acts the event tells the grains
	Rotate     bool     // rotate_aes_key: a key that goes takes the shared key with it
	WeakToo    bool     // allow_weak_keys: minions may sign in with keys that others can break

	PendingMax  int // max_pending_keys
	PendingRate int // pending_keys_rate
}

// Side is what comes of the sign-ins of minions, and of what their requests show of them. Any number of goroutines
// may use it.
type Side struct {
	parts  Parts
	opt    Options
	auth   *auth.Master
	weak   weakKeys
	spoilt weakKeys
	anew   atomic.Bool // a new shared key is to be made
	log    *slog.Logger
}

// Parts are the parts of the master that sign-ins have something to do with.
type Parts struct {
	Keys       *keys.Store
	Manager    func(preserve bool) *keys.Manager // of keys
	Voices     prover
	Attendance *attendance.Book
	Peers      *ledger.Peers
	Events     *eventbus.Bus
	Complaints *complaints.Log
	Meter      *meter.Meter
	CheckKeys  func() // has Maintenance look at the keys at once
}

// prover is told of authentic requests of version 3.
type prover interface {
	Proves(id string)
}

// New makes the sign-in side of the master out of side, which says what is not done here.
func New(opt Options, side auth.MasterOptions, parts Parts, log *slog.Logger) (s *Side,
	err error) {
	s = &Side{parts: parts, opt: opt, log: log}
	waiting := newPending(opt.PendingMax, opt.PendingRate, parts.Keys, parts.Complaints, log)
	side.Refused, side.Exchanged, side.Connected = s.refused, s.exchanged, parts.Attendance.Count
	side.Admit, side.Warn = waiting.admit, parts.Complaints.Warn
	s.auth, err = auth.NewMaster(side)
	return s, err
}

// Auth is the side of the master in the sign-in exchange, with all session keys.
func (s *Side) Auth() *auth.Master { return s.auth }

// Done fires the event of a sign-in and notes who is there.
func (s *Side) Done(o auth.Outcome) {
	s.parts.Meter.SignIn(o.Act)
	s.parts.Peers.SignedIn(o.ID, o.Act, refusedFor(auth.Why{Cause: o.Cause, Text: o.Reason}), ledger.At(time.Now()))
	if o.Act == auth.ActAccept {
		s.parts.Attendance.Relink(o.ID)
		s.spoilt.told.Delete(o.ID)
	}
	switch {
	case o.Weak:
		s.weak.say(s.log, o.ID, o.Reason)
	case o.Cause == auth.CauseSpoilt:
		s.spoilt.say(s.log, o.ID, fmt.Sprintf("%s: %s; put the key back, or delete it (salt-key -d %s) and accept "+
			"the minion anew",
			o.Reason, filepath.Join(s.parts.Keys.Folder(keys.Accepted), o.ID), o.ID))
	case o.Reason != "":
		s.log.Info("sign-in", "minion", o.ID, "act", o.Act, "why", o.Reason)
	}
	withGrains := false
	for _, act := range s.opt.WithGrains {
		withGrains = withGrains || act == o.Act
	}
	if data := o.Event(withGrains); data != nil && s.opt.Events {
		s.parts.Events.Fire(event.TagAuth, data)
	}
}

// Met notes an authentic request of a minion.
func (s *Side) Met(o *auth.Opened) {
	if o.TokenOK {
		if o.Version >= 3 {
			s.parts.Voices.Proves(o.ID)
		}
		s.parts.Peers.Met(o.ID, o.Version, ledger.At(time.Now()))
	}
}

// refused notes a request that could not be opened.
func (s *Side) refused(id string, why auth.Why, proven bool) {
	if auth.ValidID(id) {
		s.parts.Peers.Refused(id, refusedFor(why), proven, ledger.At(time.Now()))
	}
}

// refusedFor is why a request was refused, with the code that operators see.
func refusedFor(why auth.Why) ledger.Reason {
	code := ledger.RefusedRequest
	switch why.Cause {
	case auth.CauseVersion:
		code = ledger.RefusedVersion
	case auth.CauseClock:
		code = ledger.RefusedClock
	case auth.CauseWeakKey:
		code = ledger.KeyWeak
	case auth.CauseSpoilt:
		code = ledger.KeyDamaged
	}
	return ledger.Reason{Code: code, Text: why.Text}
}

// ClaimedID is the id that a sign-in names which was refused before anybody looked at its id.
func ClaimedID(req *payload.Request) string {
	load, _ := req.Load.(*payload.Map)
	if id := load.Str(payload.FieldID); auth.ValidID(id) {
		return id
	}
	return ""
}

// RevokeKey deletes the key of a minion that asks for it.
func (s *Side) RevokeKey(id string, preserve bool) error {
	m := s.parts.Manager(preserve)
	sel, err := m.MatchList([]string{id})
	if err != nil {
		return err
	}
	done, err := m.Delete(sel)
	for _, e := range done.Events {
		s.parts.Events.Fire(event.TagKey, e.Data())
	}
	s.parts.Attendance.Relink(id)
	return errors.Join(err, s.auth.Revoke(id))
}

// exchanged is told when another key than before is accepted for a minion. The one before is not to read on.
func (s *Side) exchanged(id string) {
	s.log.Warn("another key is accepted for a minion: the session of the one before is ended", "minion", id)
	s.parts.Attendance.Relink(id)
	if s.opt.Rotate && !s.anew.Swap(true) {
		s.parts.CheckKeys()
	}
}

// TakeAnew tells whether a new shared key is to be made; once.
func (s *Side) TakeAnew() bool { return s.anew.Swap(false) }

// Lost ends the session of an id that has no accepted key any more.
func (s *Side) Lost(id string) error {
	s.anew.Store(s.opt.Rotate)
	s.parts.Attendance.Relink(id)
	return s.auth.Revoke(id)
}

// Trusted tells whether a command may run: those that need a token ran its check, and the id, when there is
// one, is accepted. Unlike Salt: real masters take returns of versions 0 to 2 for any id.
func (s *Side) Trusted(o *auth.Opened) bool {
	if o.TokenOK || o.Cmd == payload.CmdPillar { // the private reply looks at the key itself
		return true
	}
	if auth.NeedsToken(o.Cmd) {
		return false
	}
	return o.ID == "" || s.parts.Keys.Has(keys.Accepted, o.ID)
}
