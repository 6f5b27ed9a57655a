package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// query hands each row of two columns to add.
func (s *store) query(c *loader.Call, text string, args []any, add func(a, b string)) error {
	return s.with(c, nil, func(ctx context.Context, db *sql.DB) (err error) {
		rows, err := db.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer func() {
			if e := rows.Close(); err == nil {
				err = e
			}
		}()
		for rows.Next() {
			var a, b sql.NullString
			if err := rows.Scan(&a, &b); err != nil {
				return err
			}
			add(a.String, b.String)
		}
		return rows.Err()
	})
}

// getLoad is the publication of a job; an empty map for one that is not there.
func (s *store) getLoad(c *loader.Call, a ofJob) (any, error) {
	out := payload.NewMap(0)
	err := s.query(c, s.sql.getLoad, []any{python.Str(a.JID)}, func(_, load string) { out = readLoad(load) })
	return out, err
}

// getJID is what the minions of a job returned: the whole return of each (with sqlite3: its field return only).
func (s *store) getJID(c *loader.Call, a ofJob) (any, error) {
	return s.returns(c, s.sql.getJID, python.Str(a.JID))
}

// getFun is the latest return of a function, by minion.
// Unlike Salt, whose statements for sqlite3 and postgres fail.
func (s *store) getFun(c *loader.Call, a ofFunction) (any, error) {
	return s.returns(c, s.sql.getFun, python.Str(a.Fun))
}

// returns are returns by minion; the later of two rows of one minion counts.
func (s *store) returns(c *loader.Call, text, arg string) (any, error) {
	out := payload.NewMap(0)
	err := s.query(c, text, []any{arg}, func(id, full string) { out.Set(id, s.filled(full)) })
	return out, err
}

// getJIDs are all jobs, as format_jid_instance shows them.
func (s *store) getJIDs(c *loader.Call, _ struct{}) (any, error) {
	out := payload.NewMap(0)
	err := s.query(c, s.sql.getJIDs, nil, func(jid, load string) { out.Set(jid, jobrecord.Dated(jid, readLoad(load))) })
	return out, err
}

// getJIDsFilter is a list of the latest jobs, the oldest first.
func (s *store) getJIDsFilter(c *loader.Call, a newest) (any, error) {
	count, err := loader.ToInt(a.Count)
	if err != nil || count < 0 {
		return nil, refuse("get_jids_filter wants a count")
	}
	text := s.sql.filtered
	if a.SkipFindJob {
		text = s.sql.unfound
	}
	out := []any{}
	err = s.query(c, text, []any{count}, func(jid, load string) {
		out = append(out, jobrecord.Of(readLoad(load)).Set("JID", jid).Set("StartTime", jobrecord.Time(jid)))
	})
	return out, err
}

// getMinions are the minions that have returned something.
func (s *store) getMinions(c *loader.Call, _ struct{}) (any, error) {
	out := []any{}
	err := s.query(c, s.sql.minions, nil, func(id, _ string) { out = append(out, id) })
	return out, err
}

// prepJID makes a job id, or gives back the one that is there.
func prepJID(c *loader.Call, a passed) (any, error) {
	if a.JID != nil {
		return a.JID, nil
	}
	return newJID(c), nil
}

func newJID(c *loader.Call) string {
	return payload.NewUniqueJID(time.Now(), c.Opts().Bool("unique_jid"))
}
