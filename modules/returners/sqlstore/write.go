package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// returner writes one return.
func (s *store) returner(c *loader.Call, a oneReturn) (any, error) {
	ret, ok := a.Ret.(*payload.Map)
	if !ok {
		return nil, refuse("returner wants a return, which is a map")
	}
	for _, field := range []string{"fun", "jid", "id", "return"} {
		if !ret.Has(field) {
			return nil, refuse("the return has no %s", field)
		}
	}
	var load []any
	if s.wantsID && ret.Str("jid") == "req" {
		ret = ret.Clone().Set("jid", newJID(c))
		text, err := s.value(ret)
		if err != nil {
			return nil, err
		}
		load = []any{ret.Str("jid"), text}
	}
	values, err := s.row(c, ret)
	if err != nil {
		return nil, err
	}
	return nil, s.with(c, ret, func(ctx context.Context, db *sql.DB) error {
		if load == nil {
			return s.put(ctx, db, s.sql.ret, values)
		}
		return inTx(ctx, db, func(tx *sql.Tx) error {
			if err := s.put(ctx, tx, s.sql.load, load); err != nil {
				return err
			}
			return s.put(ctx, tx, s.sql.ret, values)
		})
	})
}

// executor is a database or a transaction of it.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// put runs a statement; where the table lacks letters for the values, with others that mean the same.
func (s *store) put(ctx context.Context, db executor, text string, values []any) error {
	_, err := db.ExecContext(ctx, text, values...)
	if err != nil && s.narrow != nil {
		if other, ok := s.narrow(values, err); ok {
			_, err = db.ExecContext(ctx, text, other...)
		}
	}
	return err
}

// saveLoad writes the publication of a job. One that is there stays (with pgjsonb it is replaced), as in Salt.
// Unlike Salt, whose sqlite3 fails then.
func (s *store) saveLoad(c *loader.Call, a published) (any, error) {
	text, err := s.value(a.Load)
	if err != nil {
		return nil, err
	}
	return nil, s.with(c, nil, func(ctx context.Context, db *sql.DB) error {
		return s.put(ctx, db, s.sql.load, []any{python.Str(a.JID), text})
	})
}

// Limits of one statement that writes events.
const (
	eventsRows  = 500
	eventsBytes = 4 << 20
)

// eventReturn writes events, all or none. When the database refuses one of them, the others are written and the error
// says how many were not. Unlike Salt, which writes none then.
func (s *store) eventReturn(c *loader.Call, a fired) (any, error) {
	events, ok := a.Events.([]any)
	if !ok {
		return nil, refuse("event_return wants a list of events")
	}
	if len(events) == 0 {
		return nil, nil
	}
	rows, lost := s.eventRows(c, events)
	err := s.with(c, nil, func(ctx context.Context, db *sql.DB) error {
		err := inTx(ctx, db, func(tx *sql.Tx) error { return s.putAll(ctx, tx, rows) })
		if err == nil || !s.refuses(err) {
			return err
		}
		return inTx(ctx, db, func(tx *sql.Tx) (err error) {
			var bad []error
			bad, err = s.putEach(ctx, tx, rows)
			lost = append(lost, bad...)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		return nil, refuse("%d of %d events are not written: %w", len(lost), len(events), lost[0])
	}
	return nil, nil
}

// eventRows are the values of events, and the errors of those that have no form in JSON.
func (s *store) eventRows(c *loader.Call, events []any) (rows [][]any, lost []error) {
	master := c.Opts().Str("id")
	if master == "" {
		master = c.ID
	}
	for _, v := range events {
		event, ok := v.(*payload.Map)
		if !ok {
			lost = append(lost, refuse("an event is no map"))
			continue
		}
		var data any = ""
		if v, ok := event.Get("data"); ok {
			data = v
		}
		text, err := s.value(data)
		if err != nil {
			lost = append(lost, err)
			continue
		}
		rows = append(rows, []any{python.Str(orEmpty(event.Value("tag"))), text, master})
	}
	return rows, lost
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// putAll writes rows, many with one statement.
func (s *store) putAll(ctx context.Context, tx *sql.Tx, rows [][]any) error {
	for len(rows) > 0 {
		n, size := 0, 0
		var values []any
		for n < len(rows) && n < eventsRows && (n == 0 || size+len(rows[n][1].(string)) <= eventsBytes) {
			size += len(rows[n][1].(string))
			values = append(values, rows[n]...)
			n++
		}
		if _, err := tx.ExecContext(ctx, s.eventInsert(n), values...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// putEach writes rows one by one, but those that the database refuses.
func (s *store) putEach(ctx context.Context, tx *sql.Tx, rows [][]any) (lost []error, err error) {
	text := s.eventInsert(1)
	for _, row := range rows {
		if _, err := tx.ExecContext(ctx, "SAVEPOINT event"); err != nil {
			return nil, err
		}
		err := s.put(ctx, tx, text, row)
		if err != nil && !s.refuses(err) {
			return nil, err
		}
		end := "RELEASE SAVEPOINT event"
		if err != nil {
			lost, end = append(lost, err), "ROLLBACK TO SAVEPOINT event"
		}
		if _, err := tx.ExecContext(ctx, end); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// eventInsert is the statement for n events.
func (s *store) eventInsert(n int) string {
	var b strings.Builder
	b.WriteString(s.sql.event)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(s.sql.eventRow, "%") {
			fmt.Fprintf(&b, s.sql.eventRow, 3*i+1, 3*i+2, 3*i+3)
		} else {
			b.WriteString(s.sql.eventRow)
		}
	}
	return b.String()
}

// textField makes text of the field fun, which is a list for a job of several functions.
func textField(ret *payload.Map, field string) string { return python.Str(ret.Value(field)) }

// success is the field of that name as a database shows it: the words for true and false, otherwise the text.
func success(ret *payload.Map, absent any, yes, no string) any {
	v, ok := ret.Get("success")
	if !ok {
		v = absent
	}
	switch v {
	case true:
		return yes
	case false:
		return no
	case nil:
		return nil
	}
	return python.Str(v)
}
