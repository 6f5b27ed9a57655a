package answers

import (
	"errors"
	"maps"
	"slices"
	"syscall"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// cases puts together what is known of some minions of a job.
func (d *Service) cases(jid string, s *ledger.Snapshot, here bool, ids []string) ([]ledger.Case, error) {
	status, denied, err := d.keyStates()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	meant := map[string]bool{}
	missing := map[string]bool{}
	var sent ledger.Stamp
	var links *ledger.Links
	if s != nil {
		addAll(meant, s.Job.Minions)
		addAll(missing, s.Job.Missing)
		sent, links = s.Job.Sent, s.Links
	}
	all := make([]ledger.Case, len(ids))
	for i, id := range ids {
		one := ledger.Case{Now: ledger.At(now), JID: jid, ID: id, Job: s, Here: here, Age: ageOf(jid, now),
			Keep: d.Keep, Key: status[id], Denied: denied[id], Peer: d.Book.Peers.Get(id), LinkNow: d.Book.Peers.At(id,
				ledger.At(now))}
		if one.Link = d.Book.Peers.At(id, sent); one.Link == ledger.LinkUnknown {
			one.Link = links.Of(id)
		}
		one.Undriven = s != nil && s.Job.Client != nil && syscall.Kill(int(s.Job.Client.PID), 0) == syscall.ESRCH
		switch {
		case meant[id]:
			one.Target = ledger.Meant
		case missing[id]:
			one.Target = ledger.Missing
		case len(meant) > 0:
			one.Target = ledger.NotMeant
		}
		if r := s.Row(id); jid != "" && (r == nil || r.Returned == 0) && (s == nil || s.Job.Announced == 0) {
			// facts that are not whole
			one.Stored = d.hasReturned(jid, id)
		}
		all[i] = one
	}
	return all, d.guessLinks(all)
}

func addAll(set map[string]bool, ids []string) {
	for _, id := range ids {
		set[id] = true
	}
}

// ageOf is how long ago a job was published by its jid; 0 when that holds no time.
func ageOf(jid string, now time.Time) time.Duration {
	if !payload.IsJID(jid) {
		return 0
	}
	t, err := time.Parse("20060102150405", jid[:14])
	if err != nil {
		return 0
	}
	return now.Sub(t)
}

// keyStates tells the state of every key.
func (d *Service) keyStates() (status map[string]string, denied map[string]bool, err error) {
	status, denied = map[string]string{}, map[string]bool{}
	for _, st := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected} { // the last one counts, as with Salt
		ids, listErr := d.Keys.IDs(st)
		err = errors.Join(err, listErr)
		for _, id := range ids {
			status[id] = st.State()
		}
	}
	ids, listErr := d.Keys.IDs(keys.Denied)
	addAll(denied, ids)
	return status, denied, errors.Join(err, listErr)
}

// hasReturned tells whether the job store holds a return.
func (d *Service) hasReturned(jid, id string) bool {
	store, ok := d.Store.(interface {
		Returned(jid, id string) (bool, error)
	})
	if !ok {
		returns, err := d.Store.Returns(jid)
		return err == nil && returns.Has(id)
	}
	found, err := store.Returned(jid, id)
	return err == nil && found
}

// maxGuesses bounds for how many minions connections are guessed by addresses.
const maxGuesses = 1000

// guessLinks looks for connections from the addresses of minions of which it is not known whether they are connected.
// What it finds is said, and nothing follows from it.
func (d *Service) guessLinks(all []ledger.Case) error {
	byID := map[string]*ledger.Case{}
	for i := range all {
		if one := &all[i]; one.LinkNow == ledger.LinkUnknown && one.Key == "accepted" && len(byID) < maxGuesses {
			byID[one.ID] = one
		}
	}
	if len(byID) == 0 {
		return nil
	}
	up, down, err := d.Finder.Among(slices.Sorted(maps.Keys(byID)))
	for _, id := range up {
		byID[id].Address = ledger.LinkUp
	}
	for _, id := range down {
		byID[id].Address = ledger.LinkDown
	}
	return err
}
