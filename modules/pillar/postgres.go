package pillar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/jackc/pgx/v5/pgconn"
)

// Bounds of what a database gives for one pillar. Salt has none.
const (
	sqlMostBytes  = 16 << 20
	sqlMostRows   = 1 << 17
	pgConnectMost = 20 * time.Second
)

// postgresExt asks a PostgreSQL database (salt/pillar/postgres.py). The minion's id goes as a parameter.
//
// Unlike Salt: a query that fails is an error of the pillar, where Salt logs it and gives the minion what the queries
// before it gave.
func postgresExt(e *extCall) (any, error) {
	queries, err := sqlQueries(e.rest, e.kw)
	if err != nil {
		return nil, err
	}
	conf, err := e.postgresConfig()
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(e.ctx, conf)
	if err != nil {
		return nil, loader.ExecErr("connection to PostgreSQL failed: %s", pgReason(err))
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // what queries have changed goes with it, as in Salt
	}()
	out := &sqlRows{payload.NewMap(0)}
	left := sqlMostBytes
	if _, _, err := pgRows(e.ctx, conn, "BEGIN", nil, &left); err != nil {
		return nil, err
	}
	for _, q := range queries {
		text, params, err := q.bound(e.q.ID)
		if err != nil {
			return nil, err
		}
		names, rows, err := pgRows(e.ctx, conn, text, params, &left)
		if err != nil {
			return nil, err
		}
		if err := out.add(q, names, rows); err != nil {
			return nil, err
		}
	}
	return out.result, nil
}

// postgresConfig reads the option postgres of the master. What it does not say comes from where libpq takes it.
func (e *extCall) postgresConfig() (*pgconn.Config, error) {
	given := e.opts.Map("postgres")
	var dsn strings.Builder
	for _, o := range []struct {
		name, word string
		usual      any
	}{{"host", "host", "localhost"}, {"user", "user", "salt"}, {"pass", "password", "salt"}, {"db", "dbname", "salt"},
		{"port", "port", int64(5432)}} {
		v, ok := given.Get(o.name)
		if !ok {
			v = o.usual
		}
		if v != nil {
			fmt.Fprintf(&dsn, "%s='%s' ", o.word, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(python.Str(v)))
		}
	}
	conf, err := pgconn.ParseConfig(dsn.String())
	if err != nil { // its text may hold the password
		return nil, loader.ExecErr("the option postgres makes no connection: look at host, port and the variables " +
			"of libpq (PGSSLMODE, ...)")
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = pgConnectMost
	}
	conf.RuntimeParams["client_encoding"], conf.RuntimeParams["datestyle"] = "UTF8", "ISO"
	return conf, nil
}

// pgReason is why there is no connection, without the text of what was parsed.
func pgReason(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Severity + ": " + failed.Message
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// pgRows runs one statement and returns the names of its columns and its rows; left is how many bytes may still come.
func pgRows(ctx context.Context, conn *pgconn.PgConn, text string, params [][]byte, left *int) (names []string,
	rows [][]any, err error) {
	r := conn.ExecParams(ctx, text, params, nil, nil, nil) // values come as text
	var types []uint32
	for _, f := range r.FieldDescriptions() {
		names, types = append(names, f.Name), append(types, f.DataTypeOID)
	}
	for r.NextRow() {
		row := make([]any, len(types))
		for i, raw := range r.Values() {
			if *left -= len(raw); *left < 0 || len(rows) >= sqlMostRows {
				_ = conn.Close(ctx)
				return nil, nil, loader.ExecErr("the database gives more than %d bytes or %d rows", sqlMostBytes,
					sqlMostRows)
			}
			if raw == nil {
				continue
			}
			if row[i], err = pgValue(types[i], string(raw)); err != nil {
				_ = conn.Close(ctx)
				return nil, nil, err
			}
		}
		rows = append(rows, row)
	}
	if _, err := r.Close(); err != nil {
		var failed *pgconn.PgError
		if errors.As(err, &failed) {
			return nil, nil, loader.ExecErr("%s: %s", failed.Severity, failed.Message)
		}
		return nil, nil, loader.ExecErr("%s", pgReason(err))
	}
	return names, rows, nil
}
