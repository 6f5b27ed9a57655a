package sqlstore_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/modules/returners"
	"brine/wire/payload"
)

// sqliteTables are those of the documentation of Salt.
const sqliteTables = `
CREATE TABLE jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE salt_returns (fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL);`

// newSQLite makes a file with the tables.
func newSQLite(t testing.TB) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a?mode=ro&x#%41 b.db") // a name that is no address
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(sqliteTables); err != nil {
		t.Fatal(err)
	}
	return path, db
}

// pythonTime is what stands in the column date.
var pythonTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?$`)

// sqliteRow is the row of a job, by column, with its types; the time is only looked at.
func sqliteRow(t testing.TB, db *sql.DB, jid string) map[string]string {
	t.Helper()
	return tableRow(t, db, `SELECT fun, jid, id, coalesce(fun_args, 'NULL') AS fun_args, full_ret, success, typeof(fun_args) || typeof(full_ret) || typeof(success) AS types, date
		FROM salt_returns WHERE jid = ?`, jid)
}

// tableRow is a row by column; the column date must be a time.
func tableRow(t testing.TB, db *sql.DB, text, jid string) map[string]string {
	t.Helper()
	rows, err := db.Query(text, jid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Error(err)
		}
	}()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]string
	for rows.Next() {
		values, places := make([]string, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		out = map[string]string{}
		for i, name := range names {
			out[name] = values[i]
		}
		if !pythonTime.MatchString(out["date"]) {
			t.Errorf("date %q", out["date"])
		}
		delete(out, "date")
	}
	return out
}

// Rows are those of Salt, and what Salt does not store is there, too.
func TestSQLiteRows(t *testing.T) {
	path, db := newSQLite(t)
	h := newHost(t, "sqlite3.database", path, "sqlite3.timeout", 5.0)
	for _, c := range cases() {
		h.must("sqlite3.returner", c.ret)
	}
	more := compareRows(t, "sqlite3", func(jid string) map[string]string { return sqliteRow(t, db, jid) })
	if want := []string{"bytes", "several functions", "odd bytes"}; !slices.Equal(more, want) {
		t.Errorf("Salt does not store %q, want %q", more, want)
	}
	for jid, want := range map[string]string{"20261123000000000003": `["text ü", {"in": "deep"}]`,
		"20261123000000000013": `"b'\\xff\\xfe'"`} {
		if got := sqliteRow(t, db, jid)["full_ret"]; got != want {
			t.Errorf("job %s: %s, want %s", jid, got, want)
		}
	}
	if got := sqliteRow(t, db, "20261123000000000012")["fun"]; got != "['test.ping', 'test.echo']" {
		t.Errorf("several functions: %s", got)
	}
}

// What was written is read.
func TestSQLiteReads(t *testing.T) {
	path, db := newSQLite(t)
	h := newHost(t, "sqlite3", payload.M("database", path, "timeout", "5"))
	reads(t, h, "sqlite3", func(ret *payload.Map) any { return payload.M("return", ret.Value("return")) })
	if _, err := db.Exec(
		`INSERT INTO jids VALUES ('9', '{broken'); UPDATE salt_returns SET full_ret = 'no JSON' WHERE id = 'web1' AND jid = ?`, jobs[0]); err != nil {
		t.Fatal(err)
	}
	same(t, "unreadable return", h.must("sqlite3.get_jid", jobs[0]).(*payload.Map).Map("web1").Value("return"),
		"no JSON")
	same(t, "unreadable load", h.must("sqlite3.get_load", "9"), payload.NewMap(0))
	if n := h.must("sqlite3.get_jids").(*payload.Map).Len(); n != 3 {
		t.Errorf("%d jobs", n)
	}
}

// jobs are ids of two jobs, the older first.
var jobs = []string{"20261123101010000001", "20261123101010000002"}

// reads writes two jobs and reads them by all functions. stored is what get_jid gives of a return.
func reads(t *testing.T, h *host, name string, stored func(ret *payload.Map) any) {
	t.Helper()
	load := payload.M("fun", "test.echo", "arg", []any{"ü"}, "tgt", "web*", "tgt_type", "glob", "user", "root", "jid",
		jobs[0], "ret", "", "metadata", payload.M("a", int64(1)))
	h.must(name+".save_load", jobs[0], load)
	h.must(name+".save_load", jobs[1], payload.M("fun", "test.ping", "jid", jobs[1]), []any{"web1"})
	h.must(name+".save_load", jobs[1], payload.M("fun", "test.ping", "jid", jobs[1])) // again
	h.must(name+".save_minions", jobs[0], []any{"web1"}, "syndic")
	ret := func(id, jid string, v any) *payload.Map {
		return payload.M("id", id, "jid", jid, "fun", "test.echo", "fun_args", []any{"ü"}, "return", v, "retcode",
			int64(0), "success", true)
	}
	rets := []*payload.Map{ret("web1", jobs[0], "old"), ret("web2", jobs[0], payload.M("big", uint64(1<<63))),
		ret("web1", jobs[1], []any{nil, 1.5})}
	for _, r := range rets {
		h.must(name+".returner", r)
	}
	same(t, "get_load", h.must(name+".get_load", jobs[0]), load)
	same(t, "get_load of none", h.must(name+".get_load", "nosuch"), payload.NewMap(0))
	same(t, "get_jid", h.must(name+".get_jid", jobs[0]), payload.M("web1", stored(rets[0]), "web2", stored(rets[1])))
	same(t, "get_jid of none", h.must(name+".get_jid", "' OR 1=1 --"), payload.NewMap(0))
	same(t, "get_fun", h.must(name+".get_fun", "test.echo"), payload.M("web2", stored(rets[1]), "web1",
		stored(rets[2])))
	same(t, "get_fun of none", h.must(name+".get_fun", "test.none"), payload.NewMap(0))
	all := h.must(name + ".get_jids").(*payload.Map)
	same(t, "get_jids", all.Map(jobs[0]), payload.M("Function", "test.echo", "Arguments", []any{"ü"}, "Target", "web*",
		"Target-type", "glob", "User", "root", "Metadata", payload.M("a", int64(1)), "StartTime",
		"2026, Nov 23 10:10:10.000001"))
	if all.Len() != 2 {
		t.Errorf("get_jids: %v", all)
	}
	minions := h.must(name + ".get_minions").([]any)
	slices.SortFunc(minions, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	same(t, "get_minions", minions, []any{"web1", "web2"})
	same(t, "prep_jid", h.must(name+".prep_jid", false, jobs[0]), jobs[0])
	if jid := h.must(name + ".prep_jid"); !payload.IsJID(jid.(string)) {
		t.Errorf("prep_jid gives %v", jid)
	}
}

// Errors that another try cannot mend are told from those it can.
func TestSQLiteErrors(t *testing.T) {
	path, db := newSQLite(t)
	c := cases()[0]
	try := func(ret *payload.Map, opts ...any) error {
		_, err := newHost(t, opts...).call("sqlite3.returner", ret)
		return err
	}
	for _, tt := range []struct {
		name, text string
		hopeless   bool
		err        error
	}{
		{"no database", `"sqlite3.database" is missing`, false, try(c.ret)},
		{"no timeout", `"sqlite3.timeout" is missing`, false, try(c.ret, "sqlite3.database", path)},
		{"bad timeout", "no number of seconds", false, try(c.ret, "sqlite3.database", path, "sqlite3.timeout", "soon")},
		{"no file", "unable to open", false, try(c.ret, "sqlite3.database", path+"x", "sqlite3.timeout", 1)},
		{"memory", "unable to open", false, try(c.ret, "sqlite3.database", ":memory:", "sqlite3.timeout", 1)},
		{"no return", "has no return", true, try(payload.M("id", "a", "jid", "1", "fun", "x"), "sqlite3.database", path,
			"sqlite3.timeout", 1)},
		{"null success", "NOT NULL", true, try(c.ret.Clone().Set("success", nil), "sqlite3.database", path,
			"sqlite3.timeout", 1)},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.text) || returners.Hopeless(tt.err) != tt.hopeless {
			t.Errorf("%s: %v, hopeless %v", tt.name, tt.err, returners.Hopeless(tt.err))
		}
	}
	if _, err := os.Stat(path + "x"); err == nil {
		t.Error("a file was made")
	}
	// A lock of another program is waited for, and is no reason to give up.
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	if err := try(c.ret, "sqlite3.database", path, "sqlite3.timeout", 0.01); err == nil || returners.Hopeless(err) ||
		!strings.Contains(err.Error(), "locked") {
		t.Errorf("locked: %v", err)
	}
	if _, err := db.Exec("ROLLBACK; DROP TABLE salt_returns"); err != nil {
		t.Fatal(err)
	}
	if err := try(c.ret, "sqlite3.database", path, "sqlite3.timeout", 1); err == nil || returners.Hopeless(err) {
		t.Errorf("no table: %v", err)
	}
}
