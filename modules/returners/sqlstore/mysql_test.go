package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"brine/modules/returners"
	"brine/wire/payload"
)

// mysqlPassword is the one of the user salt.
const mysqlPassword = `s'3 cr\et@tcp(evil)/x?a=b`

// startMySQL starts MariaDB. The tables are made by mysqlDatabase.
func startMySQL(t testing.TB, more ...string) *server {
	t.Helper()
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		t.Skip("no MariaDB here (package mariadb-server): ", err)
	}
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/mariadbd"); err != nil {
			t.Skip("no MariaDB here (package mariadb-server): ", err)
		}
	}
	dir, as := unprivileged(t)
	data := filepath.Join(dir, "data")
	run(t, as, dir, "", install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-name-resolve")
	s := &server{port: freePort(t)}
	s.stop = start(t, as, dir, syscall.SIGKILL, program, append([]string{"--no-defaults", "--datadir=" + data,
		"--port=" + strconv.Itoa(s.port), "--bind-address=127.0.0.1", "--socket=" + filepath.Join(dir, "s"),
		"--pid-file=" + filepath.Join(dir, "pid"), "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
		// not strict: brine is
		"--innodb-buffer-pool-size=16M", "--innodb-log-file-size=16M", "--sql-mode="}, more...)...)
	db, err := sql.Open("mysql", fmt.Sprintf("root@unix(%s)/?multiStatements=true", filepath.Join(dir, "s")))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	await(t, db)
	if _, err := db.Exec("CREATE USER salt@'127.0.0.1' IDENTIFIED BY " + quoted(mysqlPassword)); err != nil {
		t.Fatal(err)
	}
	s.db = db
	return s
}

func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

// mysqlDatabase is a new database with Salt's tables, and the options that lead there.
func mysqlDatabase(t testing.TB, s *server, charset string) (*sql.DB, *payload.Map) {
	t.Helper()
	tables := strings.ReplaceAll(pgTables(t, "mysql"), "CHARSET=utf8", "CHARSET="+charset)
	if _, err := s.db.Exec("DROP DATABASE IF EXISTS salt; CREATE DATABASE salt; USE salt; GRANT ALL ON salt.* TO " +
		"salt@'127.0.0.1'; " + tables); err != nil {
		t.Fatal(err)
	}
	return s.db, payload.M("mysql.host", "127.0.0.1", "mysql", payload.M("user", "salt", "db", "salt"), "mysql.port",
		int64(s.port), "mysql.pass", mysqlPassword)
}

// mysqlRow is the row of a job, by column.
func mysqlRow(t testing.TB, db *sql.DB, jid string) map[string]string {
	t.Helper()
	return tableRow(t, db, "SELECT `fun`, `jid`, `return`, `id`, `success`, `full_ret`, CAST(`alter_time` AS CHAR) "+
		"AS `date` FROM `salt_returns` WHERE `jid` = ?", jid)
}

func TestMySQL(t *testing.T) {
	s := startMySQL(t)
	t.Run("rows", func(t *testing.T) { mysqlRows(t, s) })
	t.Run("reads", func(t *testing.T) {
		_, opts := mysqlDatabase(t, s, "utf8")
		reads(t, hostOf(t, opts), "mysql", func(ret *payload.Map) any { return ret })
	})
	t.Run("events", func(t *testing.T) {
		db, opts := mysqlDatabase(t, s, "utf8")
		h := hostOf(t, opts)
		events(t, h, "mysql", db)
		h.must("mysql.event_return", []any{payload.M("tag", "plain", "data", "x"), payload.M("tag", "smile", "data",
			"😀")})
		var data string
		if err := db.QueryRow("SELECT `data` FROM `salt_events` WHERE `tag` = 'smile'").Scan(&data); err != nil ||
			data != `"\ud83d\ude00"` {
			t.Errorf("%s, %v", data, err)
		}
	})
	t.Run("filter", func(t *testing.T) { mysqlFilter(t, s) })
	t.Run("request", func(t *testing.T) { mysqlRequest(t, s) })
	t.Run("clean", func(t *testing.T) {
		db, opts := mysqlDatabase(t, s, "utf8")
		cleans(t, opts, "mysql", db, "UPDATE `salt_returns` SET `alter_time` = DATE_SUB(NOW(), INTERVAL 1 HOUR) "+
			"WHERE `return` = '\"old\"'",
			"UPDATE `salt_events` SET `alter_time` = DATE_SUB(NOW(), INTERVAL 1 HOUR) WHERE `tag` = 'old'")
	})
	t.Run("large", func(t *testing.T) {
		_, opts := mysqlDatabase(t, s, "utf8")
		if _, err := s.db.Exec("ALTER TABLE salt_returns MODIFY `return` longtext, MODIFY full_ret longtext; SET " +
			"GLOBAL max_allowed_packet = 128*1024*1024"); err != nil {
			t.Fatal(err)
		}
		large(t, hostOf(t, opts), "mysql", false)
	})
	t.Run("errors", func(t *testing.T) { mysqlErrors(t, s) }) // last: the server is gone then
}

// mysqlRows compares rows with those of Salt, in tables with the letters of utf8 and of utf8mb4.
func mysqlRows(t *testing.T, s *server) {
	for charset, smile := range map[string]string{"utf8": `"\ud83d\ude00 is outside of the first plane"`,
		"utf8mb4": `"😀 is outside of the first plane"`} {
		db, opts := mysqlDatabase(t, s, charset)
		h := hostOf(t, opts)
		for _, c := range cases() {
			h.must("mysql.returner", c.ret)
		}
		row := func(jid string) map[string]string { return mysqlRow(t, db, jid) }
		more := compareRows(t, "mysql", row)
		if want := []string{"emoji", "several functions", "odd bytes"}; !slices.Equal(more, want) {
			t.Errorf("Salt does not store %q, want %q", more, want)
		}
		for jid, want := range map[string]string{"20261123000000000010": smile,
			"20261123000000000013": `"b'\\xff\\xfe'"`} {
			if got := row(jid)["return"]; got != want {
				t.Errorf("%s, job %s: %s, want %s", charset, jid, got, want)
			}
		}
		same(t, "emoji", h.must("mysql.get_jid", "20261123000000000010").(*payload.Map).Map("web1").Value("return"),
			"😀 is outside of the first plane")
	}
}

// mysqlFilter asks for the latest jobs.
func mysqlFilter(t *testing.T, s *server) {
	_, opts := mysqlDatabase(t, s, "utf8")
	h := hostOf(t, opts)
	for i, fun := range []string{"test.a", "saltutil.find_job", "test.b", "saltutil.find_job"} {
		h.must("mysql.save_load", fmt.Sprintf("2026112310101000000%d", i), payload.M("fun", fun, "tgt", "*"))
	}
	job := func(i int, fun string) any {
		return payload.M("Function", fun, "Arguments", []any{}, "Target", "*", "Target-type", "list", "User", "root",
			"JID", fmt.Sprintf("2026112310101000000%d", i), "StartTime", fmt.Sprintf("2026, Nov 23 10:10:10.00000%d",
				i))
	}
	same(t, "two", h.must("mysql.get_jids_filter", int64(2)), []any{job(0, "test.a"), job(2, "test.b")})
	same(t, "two of all", h.must("mysql.get_jids_filter", int64(2), false),
		[]any{job(2, "test.b"), job(3, "saltutil.find_job")})
	if _, err := h.call("mysql.get_jids_filter", "1; DROP TABLE jids"); !returners.Hopeless(err) {
		t.Errorf("a count that is none: %v", err)
	}
}

// mysqlRequest writes the return of a standalone job, which gets an id and a load of its own.
func mysqlRequest(t *testing.T, s *server) {
	_, opts := mysqlDatabase(t, s, "utf8")
	h := hostOf(t, opts)
	ret := payload.M("id", "web1", "jid", "req", "fun", "test.ping", "return", true)
	h.must("mysql.returner", ret)
	jids := h.must("mysql.get_jids").(*payload.Map)
	if jids.Len() != 1 || ret.Str("jid") != "req" {
		t.Fatalf("%v, %v", jids, ret)
	}
	for jid := range jids.All() {
		want := ret.Clone().Set("jid", jid)
		same(t, "load", h.must("mysql.get_load", jid), want)
		same(t, "return", h.must("mysql.get_jid", jid), payload.M("web1", want))
	}
}

// mysqlErrors tells what another try mends from what it does not.
func mysqlErrors(t *testing.T, s *server) {
	_, opts := mysqlDatabase(t, s, "utf8")
	if _, err := s.db.Exec("SET GLOBAL max_allowed_packet = 20*1024*1024"); err != nil {
		t.Fatal(err)
	}
	ret := cases()[0].ret
	with := func(option string, v any) error {
		_, err := hostOf(t, opts, option, v).call("mysql.returner", ret)
		return err
	}
	write := func(field string, v any) error {
		_, err := hostOf(t, opts).call("mysql.returner", ret.Clone().Set(field, v))
		return err
	}
	writeBulk := func(size int) error {
		if !bulky {
			return errors.ErrUnsupported
		}
		return write("return", strings.Repeat("x", size))
	}
	for _, tt := range []struct {
		name, text string
		hopeless   bool
		err        error
	}{
		{"wrong password", "Access denied", false, with("mysql.pass", "hunter2 wrong")},
		{"no database", "Access denied", false, with("mysql", payload.M("user", "salt", "db", "nosuch"))},
		{"nobody there", "connect", false, with("mysql.port", freePort(t))},
		{"no port", "no port", false, with("mysql.port", "x")},
		{"no TLS there", "TLS", false, with("mysql.ssl_ca", "/etc/ssl/certs/ca-certificates.crt")},
		{"no file of TLS", "no such file", false, with("mysql.ssl_ca", "/nonexistent")},
		{"host of a job", "ret_kwargs name host", true, write("ret_kwargs", payload.M("host", "127.0.0.2"))},
		{"long function", "too long", true, write("fun", strings.Repeat("f", 51))},
		{"long for mediumtext", "too long", true, writeBulk(17 << 20)},
		{"long for a packet", "max_allowed_packet", true, writeBulk(30 << 20)},
	} {
		if errors.Is(tt.err, errors.ErrUnsupported) {
			continue
		}
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.text) || returners.Hopeless(tt.err) != tt.hopeless {
			t.Errorf("%s: %v, hopeless %v", tt.name, tt.err, returners.Hopeless(tt.err))
		}
		if tt.err != nil && (strings.Contains(tt.err.Error(), "hunter2") || strings.Contains(tt.err.Error(), "3 cr")) {
			t.Errorf("%s: the error tells the password: %v", tt.name, tt.err)
		}
	}
	for _, none := range []any{"None", nil, ""} {
		if err := with("mysql.ssl_key", none); err != nil {
			t.Errorf("ssl_key %v: %v", none, err)
		}
	}
	if err := s.db.Close(); err != nil { // it would tell that the server is gone
		t.Error(err)
	}
	s.stop()
	if err := write("jid", "2"); err == nil || returners.Hopeless(err) {
		t.Errorf("no server: %v", err)
	}
}
