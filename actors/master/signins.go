package master

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

// signInOptions are what the configuration says of what comes of sign-ins.
type signInOptions struct {
	events     bool     // auth_events
	withGrains []string // auth_events_autosign_grains: of which acts the event tells the grains
	rotate     bool     // rotate_aes_key: a key that goes takes the shared key with it
	weakToo    bool     // allow_weak_keys: minions may sign in with keys that others can break

	pendingMax  int // max_pending_keys
	pendingRate int // pending_keys_rate
}

// signIns is what comes of the sign-ins of minions, and of what their requests show of them. Any number of goroutines
// may use it.
type signIns struct {
	signInParts
	opt    signInOptions
	auth   *auth.Master
	weak   weakKeys
	spoilt weakKeys
	anew   atomic.Bool // a new shared key is to be made
	log    *slog.Logger
}

// signInParts are the parts of the master that sign-ins have something to do with.
type signInParts struct {
	keys       *keys.Store
	manager    func(preserve bool) *keys.Manager // of keys
	voices     prover
	attendance *attendance.Book
	peers      *ledger.Peers
	events     *eventbus.Bus
	complaints *complaints.Log
	meter      *meter.Meter
	checkKeys  func() // has Maintenance look at the keys at once
}

// prover is told of authentic requests of version 3.
type prover interface {
	Proves(id string)
}

// newSignIns makes the sign-in side of the master out of side, which says what is not done here.
func newSignIns(opt signInOptions, side auth.MasterOptions, parts signInParts, log *slog.Logger) (s *signIns,
	err error) {
	s = &signIns{signInParts: parts, opt: opt, log: log}
	waiting := newPending(opt.pendingMax, opt.pendingRate, parts.keys, parts.complaints, log)
	side.Refused, side.Exchanged, side.Connected = s.refused, s.exchanged, parts.attendance.Count
	side.Admit, side.Warn = waiting.admit, parts.complaints.Warn
	s.auth, err = auth.NewMaster(side)
	return s, err
}

// done fires the event of a sign-in and notes who is there.
func (s *signIns) done(o auth.Outcome) {
	s.meter.SignIn(o.Act)
	s.peers.SignedIn(o.ID, o.Act, refusedFor(auth.Why{Cause: o.Cause, Text: o.Reason}), ledger.At(time.Now()))
	if o.Act == auth.ActAccept {
		s.attendance.Relink(o.ID)
		s.spoilt.told.Delete(o.ID)
	}
	switch {
	case o.Weak:
		s.weak.say(s.log, o.ID, o.Reason)
	case o.Cause == auth.CauseSpoilt:
		s.spoilt.say(s.log, o.ID, fmt.Sprintf("%s: %s; put the key back, or delete it (salt-key -d %s) and accept "+
			"the minion anew",
			o.Reason, filepath.Join(s.keys.Folder(keys.Accepted), o.ID), o.ID))
	case o.Reason != "":
		s.log.Info("sign-in", "minion", o.ID, "act", o.Act, "why", o.Reason)
	}
	withGrains := false
	for _, act := range s.opt.withGrains {
		withGrains = withGrains || act == o.Act
	}
	if data := o.Event(withGrains); data != nil && s.opt.events {
		s.events.Fire(event.TagAuth, data)
	}
}

// met notes an authentic request of a minion.
func (s *signIns) met(o *auth.Opened) {
	if o.TokenOK {
		if o.Version >= 3 {
			s.voices.Proves(o.ID)
		}
		s.peers.Met(o.ID, o.Version, ledger.At(time.Now()))
	}
}

// refused notes a request that could not be opened.
func (s *signIns) refused(id string, why auth.Why, proven bool) {
	if auth.ValidID(id) {
		s.peers.Refused(id, refusedFor(why), proven, ledger.At(time.Now()))
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

// claimedID is the id that a sign-in names which was refused before anybody looked at its id.
func claimedID(req *payload.Request) string {
	load, _ := req.Load.(*payload.Map)
	if id := load.Str(payload.FieldID); auth.ValidID(id) {
		return id
	}
	return ""
}

// revokeKey deletes the key of a minion that asks for it.
func (s *signIns) revokeKey(id string, preserve bool) error {
	m := s.manager(preserve)
	sel, err := m.MatchList([]string{id})
	if err != nil {
		return err
	}
	done, err := m.Delete(sel)
	for _, e := range done.Events {
		s.events.Fire(event.TagKey, e.Data())
	}
	s.attendance.Relink(id)
	return errors.Join(err, s.auth.Revoke(id))
}

// exchanged is told when another key than before is accepted for a minion. The one before is not to read on.
func (s *signIns) exchanged(id string) {
	s.log.Warn("another key is accepted for a minion: the session of the one before is ended", "minion", id)
	s.attendance.Relink(id)
	if s.opt.rotate && !s.anew.Swap(true) {
		s.checkKeys()
	}
}

// TakeAnew tells whether a new shared key is to be made; once.
func (s *signIns) TakeAnew() bool { return s.anew.Swap(false) }

// Lost ends the session of an id that has no accepted key any more.
func (s *signIns) Lost(id string) error {
	s.anew.Store(s.opt.rotate)
	s.attendance.Relink(id)
	return s.auth.Revoke(id)
}

// trusted tells whether a command may run: those that need a token ran its check, and the id, when there is
// one, is accepted. Unlike Salt: real masters take returns of versions 0 to 2 for any id.
func (s *signIns) trusted(o *auth.Opened) bool {
	if o.TokenOK || o.Cmd == payload.CmdPillar { // the private reply looks at the key itself
		return true
	}
	if auth.NeedsToken(o.Cmd) {
		return false
	}
	return o.ID == "" || s.keys.Has(keys.Accepted, o.ID)
}
