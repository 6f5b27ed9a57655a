package answers

import (
	"context"
	"fmt"
	"slices"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// Trace is the way of a job through every hop, as a map with documented names; of one minion when id is set.
func (d *Service) Trace(_ context.Context, jid, id string) (*payload.Map, error) {
	s, _, err := d.Snapshot(jid)
	if err == nil && s == nil {
		err = fmt.Errorf("job %s: %w", jid, errNoJob)
	}
	if err != nil {
		return nil, err
	}
	silent, err := d.silent(s)
	if err != nil {
		return nil, err
	}
	out := jobMap(s, len(silent))
	if id != "" {
		row := s.Rows[id]
		s.Rows = map[string]*ledger.Row{}
		if row != nil {
			s.Rows[id] = row
		}
		silent = slices.DeleteFunc(silent, func(other string) bool { return other != id })
	}
	hops := ledger.Trace(s, silent)
	first := firstStamp(hops)
	list := make([]any, len(hops))
	for i, h := range hops {
		list[i] = hopMap(h, first)
	}
	return out.Set("began", int64(first)).Set("hops", list).Set("late",
		payload.AnyList(ledger.Named(hops, ledger.HopLate))).
		Set("open", payload.AnyList(ledger.Named(hops, ledger.HopOpen))).Set("missing",
		payload.AnyList(ledger.Named(hops, ledger.HopMissing))), nil
}

// jobMap is what trace and why say of the job as a whole.
func jobMap(s *ledger.Snapshot, silent int) *payload.Map {
	j := &s.Job
	returned := 0
	for _, r := range s.Rows {
		if r.Returned != 0 {
			returned++
		}
	}
	return payload.M("jid", j.JID, "fun", j.Fun, "tgt", j.Tgt, "tgt_type", j.TgtType, "user", j.User,
		"minions", int64(len(j.Minions)), "returned", int64(returned), "silent", int64(silent))
}

func firstStamp(hops []ledger.Hop) (first ledger.Stamp) {
	for _, h := range hops {
		if h.At != 0 && (first == 0 || h.At < first) {
			first = h.At
		}
	}
	return first
}

func hopMap(h ledger.Hop, first ledger.Stamp) *payload.Map {
	m := payload.M("hop", h.Name, "minion", h.Minion, "state", string(h.State), "at", nil, "after_us", nil, "where",
		h.Where)
	if h.At != 0 {
		m.Set("at", int64(h.At)).Set("after_us", int64(h.At-first))
	}
	return m
}
