package jobcache

import (
	"context"
	"errors"
	"slices"

	"brine/modules/returners"
	"brine/wire/payload"
)

// Record is what is to be written to job caches: a load, more minions of a job, or a return.
type Record struct {
	To      []string // names of the returners
	JID     string
	Load    *payload.Map // of the job
	Minions []string
	Syndic  string       // that reports Minions; "": they go with Load
	Return  *payload.Map // of a minion
	End     string       // when it came (job_cache_store_endtime); "": that is not kept
}

// chosen are the fields of a return by which it would choose where its returner writes. What a minion sends does not:
// it would have the master open connections, with the master's password, wherever it likes.
var chosen = []string{payload.FieldRetConfig, payload.FieldRetKwargs}

// Pack makes a record of bytes. A return is written without what would choose where it goes.
func (r Record) Pack() ([]byte, error) {
	m := payload.M("to", r.To, "jid", r.JID)
	if r.Load != nil {
		m.Set("load", without(r.Load, chosen))
	}
	if r.Minions != nil {
		m.Set("minions", r.Minions)
	}
	if r.Syndic != "" {
		m.Set("syndic", r.Syndic)
	}
	if r.Return != nil {
		m.Set("return", without(r.Return, chosen))
	}
	if r.End != "" {
		m.Set("end", r.End)
	}
	return payload.MarshalBin(m)
}

func without(m *payload.Map, fields []string) *payload.Map {
	if !slices.ContainsFunc(fields, func(f string) bool { return m.Has(f) }) {
		return m
	}
	m = m.Clone()
	for _, f := range fields {
		m.Delete(f)
	}
	return m
}

// Unpack reads what Pack made.
func Unpack(b []byte) (Record, error) {
	m, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return Record{}, &returners.Unusable{Err: err}
	}
	r := Record{To: payload.Texts(m.Value("to")), JID: m.Str("jid"), Load: m.Map("load"), Syndic: m.Str("syndic"),
		Return: m.Map("return"), End: m.Str("end")}
	if v, ok := m.Get("minions"); ok {
		r.Minions = payload.Texts(v)
	}
	if r.JID == "" {
		return Record{}, &returners.Unusable{Err: errors.New("the record has no job")}
	}
	return r, nil
}

// Replay writes a record to the cache. It may have been written before: a load that is there is left alone, when the
// returner does not take it again.
func (c Cache) Replay(ctx context.Context, r Record) error {
	if r.Return != nil {
		if _, err := c.call(ctx, returner, r.Return); err != nil {
			return err
		}
		if r.End != "" && c.has(updateEnd) {
			_, err := c.call(ctx, updateEnd, r.JID, r.End)
			return err
		}
		return nil
	}
	if r.Load == nil {
		if !c.has(minions) {
			return nil
		}
		var syndic any
		if r.Syndic != "" {
			syndic = r.Syndic
		}
		_, err := c.call(ctx, minions, r.JID, payload.AnyList(r.Minions), syndic)
		return err
	}
	err := c.SaveLoad(ctx, r.JID, r.Load, r.Minions)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if known, e := c.GetLoad(ctx, r.JID); e == nil && known.Len() > 0 {
		return nil
	}
	return err
}
