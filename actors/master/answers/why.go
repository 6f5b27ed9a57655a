package answers

import (
	"context"
	"fmt"
	"slices"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// Why is the reason for the silence of each minion of a job, and of each whose return is not stored, or of those that
// are named: also of one that is not silent. Without a job it tells why a target that means these minions gives none.
func (d *Service) Why(ctx context.Context, jid string, ids ...string) (*payload.Map, error) {
	s, here, err := d.Snapshot(jid)
	if err != nil {
		return nil, err
	}
	if s == nil && len(ids) == 0 {
		return nil, fmt.Errorf("job %s: %w", jid, errNoJob)
	}
	out := payload.M("jid", jid)
	if s != nil {
		silent, err := d.silent(s)
		if err != nil {
			return nil, err
		}
		if out = jobMap(s, len(silent)); len(ids) == 0 {
			ids = slices.Concat(silent, unstored(s), s.Turns())
		}
	}
	cases, err := d.cases(jid, s, here, ids)
	if err != nil {
		return nil, err
	}
	d.ask(ctx, jid, cases)
	list := make([]any, len(cases))
	for i := range cases {
		list[i] = reasonMap(&cases[i])
	}
	return out.Set("reasons", list), nil
}

// reasonMap is one reason with the facts it stands on.
func reasonMap(one *ledger.Case) *payload.Map {
	r := ledger.Why(*one)
	facts := payload.M("key", one.Key, "connected_at_publish", one.Link.String(), "connected", one.LinkNow.String(),
		"by_address", one.Address.String(), "last_heard", int64(one.Peer.Heard))
	if row := one.Job.Row(one.ID); row != nil {
		facts.Set("master", row.Map())
	}
	if one.Answer != nil {
		facts.Set("answer", one.Answer.Map())
	}
	return payload.M("minion", one.ID, "code", string(r.Code), "text", r.Text, "asked", one.Asked != ledger.NotAsked,
		"facts", facts)
}

// Reasons tells why minions of a job are silent, as far as is known here: nobody is asked.
func (d *Service) Reasons(s *ledger.Snapshot) (map[string]ledger.Reason, error) {
	var ids []string
	for _, id := range slices.Concat(s.Job.Minions, s.Job.Missing) {
		if r := s.Rows[id]; r == nil || r.Returned == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	cases, err := d.cases(s.Job.JID, s, true, ids)
	out := make(map[string]ledger.Reason, len(ids))
	for _, one := range cases {
		out[one.ID] = ledger.Why(one)
	}
	return out, err
}
