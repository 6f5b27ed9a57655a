package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectMost is how long a server may take to answer a new connection, where no option says it.
const connectMost = 20 * time.Second

// postgres is the returner of that name: JSON in columns of text.
func postgres() *dialect {
	d := postgresLike("postgres", "passwd")
	d.value = textJSON
	d.row = func(_ *loader.Call, ret *payload.Map) ([]any, error) { return pgRow(ret, textJSON) }
	d.sql = statements{
		ret:   `INSERT INTO salt_returns (fun, jid, return, id, success, full_ret) VALUES ($1, $2, $3, $4, $5, $6)`,
		event: `INSERT INTO salt_events (tag, data, master_id) VALUES`, eventRow: `($%d, $%d, $%d)`,
		load:    `INSERT INTO jids (jid, load) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		getLoad: `SELECT jid, load FROM jids WHERE jid = $1`,
		getJID:  `SELECT id, full_ret FROM salt_returns WHERE jid = $1 ORDER BY alter_time`,
		getFun: `SELECT s.id, s.full_ret FROM salt_returns s
			JOIN (SELECT id, MAX(jid) AS jid FROM salt_returns WHERE fun = $1 GROUP BY id) latest ON s.id = latest.id AND s.jid = latest.jid
			WHERE s.fun = $1 ORDER BY s.alter_time`,
		getJIDs: `SELECT jid, load FROM jids`,
		minions: `SELECT DISTINCT id, NULL FROM salt_returns`,
	}
	return d
}

// pgjsonb is the returner of that name: JSON in columns of jsonb.
// Unlike Salt: a row has the time of the database, by which clean_old_jobs goes, not that of a minion whose clock may
// be wrong.
func pgjsonb() *dialect {
	d := postgresLike("pgjsonb", "pass")
	d.want.Options = append(d.want.Options, "connect_timeout", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl")
	d.wire = append(d.wire, "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl")
	d.value = binaryJSON
	d.row = func(_ *loader.Call, ret *payload.Map) ([]any, error) { return pgRow(ret, binaryJSON) }
	d.sql = statements{
		ret:   `INSERT INTO salt_returns (fun, jid, return, id, success, full_ret) VALUES ($1, $2, $3::jsonb, $4, $5, $6::jsonb)`,
		event: `INSERT INTO salt_events (tag, data, master_id) VALUES`, eventRow: `($%d, $%d::jsonb, $%d)`,
		load:    `INSERT INTO jids (jid, load) VALUES ($1, $2::jsonb) ON CONFLICT (jid) DO UPDATE SET load = excluded.load`,
		getLoad: `SELECT jid, load::text FROM jids WHERE jid = $1`,
		getJID:  `SELECT id, full_ret::text FROM salt_returns WHERE jid = $1 ORDER BY alter_time`,
		getFun:  `SELECT DISTINCT ON (id) id, full_ret::text FROM salt_returns WHERE fun = $1 ORDER BY id, alter_time DESC`,
		getJIDs: `SELECT jid, load::text FROM jids`,
		minions: `SELECT DISTINCT id, NULL FROM salt_returns`,
	}
	d.archive = pgjsonbArchive()
	return d
}

// postgresLike is what both have in common.
func postgresLike(name, secret string) *dialect {
	d := &dialect{name: name, secret: secret, wire: []string{"host", "port"},
		kept: true, refuses: refusedByPostgres, filled: readJSON,
		want: options.Lookup{Name: "returner." + name, Options: []string{"host", "user", secret, "db", "port"},
			Defaults: options.Values{"host": "localhost", "user": "salt", secret: "salt", "db": "salt",
				"port": int64(5432)}}}
	d.open = func(opt values) (*sql.DB, error) { return openPostgres(opt, secret) }
	return d
}

// openPostgres prepares connections. What no option says comes from where libpq takes it: PGSSLMODE, ~/.pgpass, ...
func openPostgres(opt values, secret string) (*sql.DB, error) {
	port, err := opt.port()
	if err != nil {
		return nil, err
	}
	if opt.text("sslcrl") != "" {
		return nil, refuse("the option sslcrl is not honoured yet")
	}
	words := []string{"host", opt.text("host"), "port", port, "user", opt.text("user"), "password", opt.text(secret),
		"dbname", opt.text("db"), "connect_timeout", opt.text("connect_timeout"), "sslmode", opt.text("sslmode"),
		"sslcert", opt.text("sslcert"), "sslkey", opt.text("sslkey"), "sslrootcert", opt.text("sslrootcert")}
	var dsn strings.Builder
	for i := 0; i < len(words); i += 2 {
		if words[i+1] != "" {
			fmt.Fprintf(&dsn, "%s='%s' ", words[i], strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(words[i+1]))
		}
	}
	conf, err := pgconn.ParseConfig(dsn.String())
	if err != nil { // the text of the error may hold what it parsed
		return nil, refuse("options for the connection make no sense: %w", parseError(err, opt.text(secret)))
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = connectMost
	}
	conf.RuntimeParams["client_encoding"] = "UTF8"
	return sql.OpenDB(pgConnector{conf}), nil
}

// parseError is the cause of an error of pgconn.ParseConfig, without the connection string.
func parseError(err error, secret string) error {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) { // which file it is helps
		cause = file
	}
	text := cause.Error()
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	var e *pgconn.ParseConfigError
	if errors.As(cause, &e) {
		return errors.New("they cannot be parsed")
	}
	return errors.New(text)
}

// refusedByPostgres says whether the database will never take what it was given: data exceptions, violated constraints,
// values past its limits. All else ends: passwords, missing tables, full disks, servers that are away.
func refusedByPostgres(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) || len(e.Code) != 5 {
		return false
	}
	class := e.Code[:2]
	return class == "22" || class == "23" || class == "54"
}

// pgRow are the values of statements.ret.
func pgRow(ret *payload.Map, value func(any) (string, error)) ([]any, error) {
	short, err := value(ret.Value("return"))
	if err != nil {
		return nil, err
	}
	full, err := value(ret)
	if err != nil {
		return nil, err
	}
	row := []any{pgText(ret.Value("fun")), pgText(ret.Value("jid")), short, pgText(ret.Value("id")),
		success(ret, false, "true", "false"), full}
	for _, i := range []int{0, 1, 3, 4} {
		if text, ok := row[i].(string); ok && strings.Contains(text, "\x00") {
			return nil, refuse("the fields fun, jid, id and success cannot hold NUL: %s", strconv.Quote(text))
		}
	}
	return row, nil
}

// pgText is a field as PostgreSQL makes text of it: a list has the form of an array.
func pgText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return python.Str(v)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		text := python.Str(e)
		if text == "" || strings.EqualFold(text, "null") || strings.ContainsAny(text, "{},\"\\ \t\n\r\v\f") {
			text = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
		}
		b.WriteString(text)
	}
	b.WriteByte('}')
	return b.String()
}

// pgjsonbArchive moves rows in one statement for each table, so that two masters that clean at once keep each row once.
func pgjsonbArchive() *archive {
	const (
		oldJobs = `FROM jids j WHERE EXISTS (SELECT 1 FROM salt_returns r WHERE r.jid = j.jid)
			AND NOT EXISTS (SELECT 1 FROM salt_returns r WHERE r.jid = j.jid AND r.alter_time >= $1::timestamptz)`
		oldReturns = `FROM salt_returns WHERE alter_time < $1::timestamptz`
		oldEvents  = `FROM salt_events WHERE alter_time < $1::timestamptz`
	)
	move := func(table, old string) string {
		return `WITH moved AS (DELETE ` + old + ` RETURNING *) INSERT INTO ` + table + `_archive SELECT * FROM moved`
	}
	return &archive{
		stamp: `SELECT (now() - make_interval(secs => $1::float8))::text`,
		make: []string{`CREATE TABLE IF NOT EXISTS jids_archive (LIKE jids)`,
			`CREATE TABLE IF NOT EXISTS salt_returns_archive (LIKE salt_returns)`,
			`CREATE TABLE IF NOT EXISTS salt_events_archive (LIKE salt_events)`},
		keep:   []string{move("jids", oldJobs), move("salt_returns", oldReturns), move("salt_events", oldEvents)},
		remove: []string{`DELETE ` + oldJobs, `DELETE ` + oldReturns, `DELETE ` + oldEvents},
	}
}
