package sqlstore

import (
	"database/sql"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"brine/modules/loader"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// sqlite is the returner sqlite3: a file of the machine, opened for each call.
func sqlite() *dialect {
	return &dialect{
		name:    "sqlite3",
		want:    options.Lookup{Name: "sqlite3", Options: []string{"database", "timeout"}},
		open:    openSQLite,
		refuses: refusedBySQLite,
		row:     sqliteRow,
		value:   textJSON,
		filled:  func(full string) any { return payload.M("return", readJSON(full)) },
		sql: statements{
			ret:     `INSERT INTO salt_returns (fun, jid, id, fun_args, date, full_ret, success) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			load:    `INSERT INTO jids (jid, load) VALUES (?, ?) ON CONFLICT DO NOTHING`,
			getLoad: `SELECT jid, load FROM jids WHERE jid = ?`,
			getJID:  `SELECT id, full_ret FROM salt_returns WHERE jid = ? ORDER BY rowid`,
			getFun: `SELECT s.id, s.full_ret FROM salt_returns s
				JOIN (SELECT id, MAX(jid) AS jid FROM salt_returns WHERE fun = ?1 GROUP BY id) latest ON s.id = latest.id AND s.jid = latest.jid
				WHERE s.fun = ?1 ORDER BY s.rowid`,
			getJIDs: `SELECT jid, load FROM jids ORDER BY rowid`,
			minions: `SELECT DISTINCT id, NULL FROM salt_returns`,
		},
	}
}

// openSQLite opens the file of the option database; timeout is how long a lock of others is waited for, in seconds.
// Unlike Salt, a file that is not there is not made: it would hold no tables.
func openSQLite(opt values) (*sql.DB, error) {
	if !python.Truth(opt["database"]) {
		return nil, refuse(`config option "sqlite3.database" is missing`)
	}
	if !python.Truth(opt["timeout"]) {
		return nil, refuse(`config option "sqlite3.timeout" is missing`)
	}
	seconds, ok := python.Number(opt["timeout"])
	if text, isText := opt["timeout"].(string); isText {
		var err error
		seconds, err = strconv.ParseFloat(text, 64)
		ok = err == nil
	}
	if !ok || !(seconds > 0) {
		return nil, refuse("the option timeout is no number of seconds: %s", python.Repr(opt["timeout"]))
	}
	path, err := filepath.Abs(python.Str(opt["database"]))
	if err != nil {
		return nil, err
	}
	ms := int64(min(seconds*1000, math.MaxInt32))
	name := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_busy_timeout=" + strconv.FormatInt(ms, 10)}
	db, err := sql.Open("sqlite3", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// sqliteRow has the value of the return only in full_ret, and the arguments as Python prints them.
func sqliteRow(_ *loader.Call, ret *payload.Map) ([]any, error) {
	full, err := textJSON(ret.Value("return"))
	if err != nil {
		return nil, err
	}
	var args any
	if v := ret.Value("fun_args"); python.Truth(v) {
		args = python.Str(v)
	}
	return []any{textField(ret, "fun"), textField(ret, "jid"), textField(ret, "id"), args, pythonNow(time.Now()), full,
		success(ret, "", "1", "0")}, nil
}

// pythonNow is str() of a Python datetime.
func pythonNow(t time.Time) string {
	if t = t.Truncate(time.Microsecond); t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}
