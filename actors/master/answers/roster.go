package answers

import (
	"context"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/supervisor/stats"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// rosterReads bounds the time in which a roster reads grains that were not read before.
const rosterReads = 80 * time.Millisecond

// heardLately is for how long an authentic request shows that a minion is there which names itself on no connection of
// its own: one of Salt's, or one of an emulated fleet.
const heardLately = time.Minute

// Roster tells of all minions with a key whose ids match a glob, "" for all: the state of the key, whether they are
// connected, when they were last heard, what they speak, their last job. It reads memory, for Salt's minions also the
// addresses in their cached grains. What is not known since this process began is missing.
func (d *Service) Roster(ctx context.Context, glob string) (*payload.Map, error) {
	now := time.Now()
	status, denied, err := d.keyStates()
	if err != nil {
		return nil, err
	}
	for id := range denied {
		if status[id] == "" {
			status[id] = keys.Denied.State()
		}
	}
	ids := make([]string, 0, len(status))
	match := fnmatch.Compile(glob)
	for id := range status {
		if glob == "" || match.Match(id) {
			ids = append(ids, id)
		}
	}
	keys.SortIDs(ids)
	list, counts, guess := make([]any, len(ids)), map[string]int{}, []string{}
	links := make([]ledger.State, len(ids))
	for i, id := range ids {
		if links[i] = d.Book.Peers.At(id, ledger.At(now)); links[i] != ledger.LinkUnknown ||
			status[id] != keys.Accepted.State() {
			continue
		}
		if heard := d.Book.Peers.Get(id).Heard; heard != 0 && now.Sub(heard.Time()) < heardLately {
			links[i] = ledger.LinkUp
			continue
		}
		guess = append(guess, id)
	}
	ends := now.Add(rosterReads)
	up, whole, err := d.Addresses.Connected(guess, func() bool { return ctx.Err() != nil || time.Now().After(ends) })
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		guess := ledger.LinkUnknown
		if there, known := up[id]; known && there {
			guess = ledger.LinkUp
		} else if known {
			guess = ledger.LinkDown
		}
		list[i] = rosterRow(id, status[id], links[i], guess, d.Book.Peers.Get(id))
		counts[status[id]]++
		counts["connected_"+links[i].String()]++
	}
	return payload.M("minions", list, "counts", countMap(counts), "whole", whole), nil
}

// rosterRow is one minion. by_address tells, where it is not known whether it is connected, whether somebody is from an
// address of it, which several minions and anybody else may share.
func rosterRow(id, key string, link, byAddress ledger.State, p ledger.Peer) *payload.Map {
	row := payload.M("id", id, "key", key, "connected", link.String(), "by_address", byAddress.String(), "brine",
		p.Brine, "protocol", nil, "heard", stampOrNil(max(p.Heard, p.JobAt)), "signed_in", stampOrNil(p.SignedAt),
		"sign_in", p.SignAct, "last_job", nil)
	if p.Speaks > 0 || p.Heard > 0 {
		row.Set("protocol", p.Speaks)
	}
	if refused := deniedMap(p.Denied); refused != nil {
		row.Set("refused", refused)
	}
	if p.JobAt > 0 {
		row.Set("last_job", payload.M("jid", p.JobJID, "fun", p.JobFun, "time", stats.Stamp(p.JobAt.Time())))
	}
	return row
}

// deniedMap is how often a minion was refused what, since this process began; nil: never.
func deniedMap(d *ledger.Denials) *payload.Map {
	var m *payload.Map
	d.Each(func(what ledger.Denial, n uint64) {
		if m == nil {
			m = payload.NewMap(1)
		}
		m.Set(what.String(), n)
	})
	return m
}

func stampOrNil(s ledger.Stamp) any {
	if s == 0 {
		return nil
	}
	return stats.Stamp(s.Time())
}

func countMap(counts map[string]int) *payload.Map {
	m := payload.NewMap(7)
	for _, name := range []string{"accepted", "pending", "rejected", "denied", "connected_yes", "connected_no",
		"connected_unknown"} {
		m.Set(name, counts[name])
	}
	return m
}
