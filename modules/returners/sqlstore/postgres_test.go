package sqlstore_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/returners"
	"brine/modules/returners/sqlstore"
	"brine/wire/loopback"
	"brine/wire/payload"
)

// server is a database server that a test started.
type server struct {
	port int
	dir  string
	db   *sql.DB // as the owner of the tables
	stop func()
}

// unprivileged makes a directory, and a command run as the user that owns it: servers refuse to run as root.
func unprivileged(t testing.TB) (dir string, as func(*exec.Cmd)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "db") // short: sockets lie below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() != 0 {
		return dir, func(*exec.Cmd) {}
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("no user for a server: ", err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, uid, gid)); err != nil {
		t.Fatal(err)
	}
	return dir, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}

// run runs a program to its end.
func run(t testing.TB, as func(*exec.Cmd), dir, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(stdin), append(os.Environ(), "HOME="+dir, "LC_ALL=C")
	as(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts a server; its output goes to a file, which a failed test shows.
func start(t testing.TB, as func(*exec.Cmd), dir string, sig syscall.Signal, name string,
	args ...string) (stop func()) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, log, log, append(os.Environ(), "HOME="+dir, "LC_ALL=C")
	as(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running := true
	stop = func() {
		if running {
			running = false
			_ = cmd.Process.Signal(sig)
			_ = cmd.Wait()
		}
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text[max(0, len(text)-3000):])
		}
		_ = log.Close()
	})
	return stop
}

// freePort is a port of 127.0.0.1 that nobody else gets until the test is over.
func freePort(t testing.TB) int {
	t.Helper()
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	return port.Number
}

// await asks until the server answers.
func await(t testing.TB, db *sql.DB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server does not answer: ", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// pgBinary is the path of a program of the newest PostgreSQL of the machine.
func pgBinary(t testing.TB, name string) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	if len(found) > 0 {
		return found[len(found)-1]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no PostgreSQL here (package postgresql): ", err)
	}
	return path
}

// pgPassword is the one of the role salt; pieces of it are signs in connection strings.
const pgPassword = `s'3 cr\et=x`

// startPostgres starts a server with a database for each of the two returners, with the tables of Salt's documentation.
func startPostgres(t testing.TB) *server {
	t.Helper()
	initdb, program := pgBinary(t, "initdb"), pgBinary(t, "postgres")
	dir, as := unprivileged(t)
	data := filepath.Join(dir, "data")
	run(t, as, dir, "", initdb, "-D", data, "-U", "boss", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	hba := "local all boss trust\nhost all boss 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &server{port: freePort(t), dir: dir}
	s.stop = start(t, as, dir, syscall.SIGQUIT, program, "-D", data, "-p", strconv.Itoa(s.port), "-c",
		"listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "fsync=off", "-c",
		"shared_buffers=16MB", "-c", "max_connections=30")
	boss := openAs(t, s.port, "boss", "postgres")
	await(t, boss)
	for _, text := range []string{`CREATE ROLE salt LOGIN PASSWORD '` + strings.ReplaceAll(pgPassword, "'", "''") + `'`,
		`CREATE DATABASE textdb OWNER salt`, `CREATE DATABASE jsondb OWNER salt`} {
		if _, err := boss.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	s.db = boss
	return s
}

func openAs(t testing.TB, port int, role, name string) *sql.DB {
	t.Helper()
	db, err := sqlstore.OpenPG(fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable", port, role,
		name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pgTables are those of the documentation of Salt.
func pgTables(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pgDatabase is the database of a returner, with new tables, and the options that lead there.
func pgDatabase(t testing.TB, s *server, name string) (*sql.DB, *payload.Map) {
	t.Helper()
	db := openAs(t, s.port, "boss", map[string]string{"postgres": "textdb", "pgjsonb": "jsondb"}[name])
	if _, err := db.Exec(`SET ROLE salt; DROP SCHEMA public CASCADE; CREATE SCHEMA public; ` + pgTables(t,
		name)); err != nil {
		if _, err := db.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION salt; SET ROLE salt; ` +
			pgTables(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	secret := map[string]string{"postgres": "passwd", "pgjsonb": "pass"}[name]
	dbname := map[string]string{"postgres": "textdb", "pgjsonb": "jsondb"}[name]
	return db, payload.M("returner."+name, payload.M("host", "127.0.0.1", "port", strconv.Itoa(s.port), "user", "salt",
		secret, pgPassword, "db", dbname))
}

// pgRow is the row of a job, by column.
func pgRow(t testing.TB, db *sql.DB, jid string) map[string]string {
	t.Helper()
	return tableRow(t, db, `SELECT fun, jid, return::text AS return, id, success, full_ret::text AS full_ret, to_char(alter_time, 'YYYY-MM-DD HH24:MI:SS.US') AS date
		FROM salt_returns WHERE jid = $1`, jid)
}

func TestPostgres(t *testing.T) {
	s := startPostgres(t)
	for _, name := range []string{"postgres", "pgjsonb"} {
		t.Run(name, func(t *testing.T) {
			t.Run("rows", func(t *testing.T) { pgRows(t, s, name) })
			t.Run("reads", func(t *testing.T) {
				_, opts := pgDatabase(t, s, name)
				reads(t, hostOf(t, opts), name, func(ret *payload.Map) any { return ret })
			})
			t.Run("events", func(t *testing.T) {
				db, opts := pgDatabase(t, s, name)
				events(t, hostOf(t, opts), name, db)
			})
			t.Run("errors", func(t *testing.T) { pgErrors(t, s, name) })
			t.Run("large", func(t *testing.T) {
				_, opts := pgDatabase(t, s, name)
				large(t, hostOf(t, opts), name, map[string]bool{"pgjsonb": true}[name])
			})
		})
	}
	t.Run("clean", func(t *testing.T) {
		db, opts := pgDatabase(t, s, "pgjsonb")
		cleans(t, opts, "pgjsonb", db,
			`UPDATE salt_returns SET alter_time = now() - interval '1 hour' WHERE return::text = '"old"'`,
			`UPDATE salt_events SET alter_time = now() - interval '1 hour' WHERE tag = 'old'`)
	})
	t.Run("restart", func(t *testing.T) { // last: the server is gone then
		_, opts := pgDatabase(t, s, "postgres")
		h := hostOf(t, opts)
		h.must("postgres.returner", cases()[0].ret)
		s.stop()
		if _, err := h.call("postgres.returner", cases()[0].ret); err == nil || returners.Hopeless(err) ||
			strings.Contains(err.Error(), "cr") {
			t.Errorf("no server: %v", err)
		}
	})
}

// hostOf is newHost with a map of options.
func hostOf(t testing.TB, opts *payload.Map, more ...any) *host {
	all := opts.Clone()
	all.Update(payload.M(more...))
	var kv []any
	for k, v := range all.All() {
		kv = append(kv, k, v)
	}
	return newHost(t, kv...)
}

// pgRows compares rows with those of Salt, and looks at those that Salt does not store.
func pgRows(t *testing.T, s *server, name string) {
	db, opts := pgDatabase(t, s, name)
	h := hostOf(t, opts)
	for _, c := range cases() {
		h.must(name+".returner", c.ret)
	}
	row := func(jid string) map[string]string { return pgRow(t, db, jid) }
	more := compareRows(t, name, row)
	want := map[string][]string{"postgres": {"odd bytes"}, "pgjsonb": {"none numbers", "NUL", "odd bytes"}}[name]
	if !slices.Equal(more, want) {
		t.Errorf("Salt does not store %q, want %q", more, want)
	}
	stored := map[string]string{"20261123000000000013": `"b'\\xff\\xfe'"`}
	if name == "pgjsonb" {
		stored["20261123000000000005"] = `["NaN", "Infinity", "-Infinity"]`
		stored["20261123000000000007"] = "{\"k\": \"a\ufffdb\", \"z\ufffd\": 1}"
	}
	for jid, want := range stored {
		if got := row(jid)["return"]; got != want {
			t.Errorf("job %s: %s, want %s", jid, got, want)
		}
	}
}

// events writes events, one of which no table takes.
func events(t *testing.T, h *host, name string, db *sql.DB) {
	t.Helper()
	event := func(tag string, data any) *payload.Map { return payload.M("tag", tag, "data", data) }
	var many []any
	for i := range 1200 {
		many = append(many, event("salt/many/"+strconv.Itoa(i), payload.M("n", int64(i))))
	}
	h.must(name+".event_return", many)
	count := func() (n int) {
		if err := db.QueryRow(`SELECT count(*) FROM salt_events`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 1200 {
		t.Fatalf("%d events of 1200", n)
	}
	var data, master string
	if err := db.QueryRow(`SELECT data, master_id FROM salt_events WHERE tag = 'salt/many/7'`).Scan(&data,
		&master); err != nil || data != `{"n": 7}` || master != "web1" {
		t.Errorf("event: %s, %s, %v", data, master, err)
	}
	_, err := h.call(name+".event_return", []any{event("a", "1"), event(strings.Repeat("x", 256), "2"),
		event("c", payload.M("ü", []byte("text"))), payload.M()})
	if err == nil || !returners.Hopeless(err) || !strings.Contains(err.Error(), "1 of 4 events are not written") {
		t.Errorf("one bad event: %v", err)
	}
	if n := count(); n != 1203 {
		t.Errorf("%d events, want 1203", n)
	}
	h.must(name+".event_return", []any{})
}

// pgErrors tells what another try mends from what it does not.
func pgErrors(t *testing.T, s *server, name string) {
	db, opts := pgDatabase(t, s, name)
	place := "returner." + name
	secret := map[string]string{"postgres": "passwd", "pgjsonb": "pass"}[name]
	ret := cases()[0].ret
	with := func(option string, v any) error {
		m := opts.Map(place).Clone().Set(option, v)
		_, err := newHost(t, place, m).call(name+".returner", ret)
		return err
	}
	given := func(v *payload.Map) error {
		_, err := hostOf(t, opts).call(name+".returner", ret.Clone().Set("ret_kwargs", v))
		return err
	}
	write := func(field string, v any) error {
		_, err := hostOf(t, opts).call(name+".returner", ret.Clone().Set(field, v))
		return err
	}
	for _, tt := range []struct {
		name, text string
		hopeless   bool
		err        error
	}{
		{"wrong password", "password authentication failed", false, with(secret, "hunter2 wrong")},
		{"no database", "does not exist", false, with("db", "nosuch")},
		{"nobody there", "connect", false, with("port", freePort(t))},
		{"no port", "no port", false, with("port", "x'; DROP")},
		{"options in a value", "does not exist", false, with("db", "x' sslmode=verify-full host=evil")},
		{"host of a job", "ret_kwargs name host", true, given(payload.M("host", "127.0.0.2"))},
		{"port of a job", "ret_kwargs name port", true, given(payload.M("port", int64(s.port)))},
		{"NUL in the id", "NUL", true, write("id", "a\x00b")},
		{"long function", "too long", true, write("fun", strings.Repeat("f", 51))},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.text) || returners.Hopeless(tt.err) != tt.hopeless {
			t.Errorf("%s: %v, hopeless %v", tt.name, tt.err, returners.Hopeless(tt.err))
		}
		if tt.err != nil && (strings.Contains(tt.err.Error(), "hunter2") || strings.Contains(tt.err.Error(), "3 cr")) {
			t.Errorf("%s: the error tells the password: %v", tt.name, tt.err)
		}
	}
	if err := given(payload.M("host", "127.0.0.1", secret, pgPassword)); err != nil {
		t.Errorf("host and password of a job: %v", err)
	}
	if name == "pgjsonb" {
		for option, v := range map[string]string{"sslmode": "require", "sslcrl": "/x", "sslrootcert": "/nonexistent"} {
			if err := with(option, v); err == nil {
				t.Errorf("%s=%s: no error", option, v)
			}
		}
		if err := with("sslmode", "None"); err != nil {
			t.Errorf("sslmode None: %v", err)
		}
	}
	if _, err := db.Exec(`DROP TABLE salt_returns`); err != nil {
		t.Fatal(err)
	}
	if err := write("jid", "1"); err == nil || returners.Hopeless(err) {
		t.Errorf("no table: %v", err)
	}
}

// large writes 30 MB, and a value that lies deeper than any stack: it is kept or refused, and the next one comes
// through.
func large(t *testing.T, h *host, name string, refusesDeep bool) {
	t.Helper()
	ret := func(jid string, v any) *payload.Map {
		return payload.M("id", "web1", "jid", jid, "fun", "test.echo", "return", v, "success", true)
	}
	size := 1 << 20
	if bulky {
		size = 30 << 20
	}
	text := strings.Repeat("thirty megabytes ☃ \"\n", size/22)
	h.must(name+".returner", ret("1", text))
	if got := h.must(name+".get_jid", "1").(*payload.Map).Map("web1").Value("return"); got != text {
		t.Errorf("30 MB come back as %T", got)
	}
	deep := any("bottom")
	for range 50_000 {
		deep = []any{deep}
	}
	if _, err := h.call(name+".returner", ret("2", deep)); (err != nil) != refusesDeep || err != nil &&
		!returners.Hopeless(err) {
		t.Errorf("a deep value: %v", err)
	}
	h.must(name+".get_jid", "2")
	h.must(name+".returner", ret("3", "after"))
}

// A server that takes the connection and says nothing costs no longer than the call has.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for _, name := range []string{"returner.postgres", "returner.pgjsonb", "mysql"} {
		h := newHost(t, name, payload.M("host", "127.0.0.1", "port", int64(port)))
		h.within = 50 * time.Millisecond
		if _, err := h.call(strings.TrimPrefix(name, "returner.")+".returner", cases()[0].ret); err == nil ||
			returners.Hopeless(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// cleans lets clean_old_jobs remove and archive. age makes rows with the return "old" and the tag old old.
func cleans(t *testing.T, opts *payload.Map, name string, db *sql.DB, age ...string) {
	t.Helper()
	h := hostOf(t, opts)
	fill := func() {
		for i, jid := range []string{"1", "1", "2", "3", "3"} {
			h.must(name+".save_load", jid, payload.M("fun", "test.ping", "jid", jid))
			h.must(name+".returner", payload.M("id", "m"+strconv.Itoa(i), "jid", jid, "fun", "test.ping", "return",
				[]any{"old", "old", "new", "old", "new"}[i]))
		}
		h.must(name+".event_return", []any{payload.M("tag", "old", "data", "x"), payload.M("tag", "new", "data", "x")})
		for _, text := range age {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	counts := func(suffix string) (out []int) {
		for _, table := range []string{"jids", "salt_returns", "salt_events"} {
			n := 0
			if err := db.QueryRow(`SELECT count(*) FROM ` + table + suffix).Scan(&n); err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		return out
	}
	fill()
	hostOf(t, opts, "keep_jobs_seconds", 0).must(name + ".clean_old_jobs")
	hostOf(t, opts).must(name + ".clean_old_jobs") // a day
	hostOf(t, opts, "keep_jobs_seconds", 7200).must(name + ".clean_old_jobs")
	if got := counts(""); !slices.Equal(got, []int{3, 5, 2}) {
		t.Fatalf("nothing is old: %v", got)
	}
	hostOf(t, opts, "keep_jobs_seconds", 1800).must(name + ".clean_old_jobs")
	if got := counts(""); !slices.Equal(got, []int{2, 2, 1}) { // job 3 has a new return
		t.Errorf("removed: %v", got)
	}
	fill()
	hostOf(t, opts, "keep_jobs_seconds", 1800, "archive_jobs", true).must(name + ".clean_old_jobs")
	hostOf(t, opts, "keep_jobs_seconds", 1800, "archive_jobs", true).must(name + ".clean_old_jobs")
	if left, kept := counts(""), counts("_archive"); !slices.Equal(left, []int{2, 4, 2}) ||
		!slices.Equal(kept, []int{1, 3, 1}) {
		t.Errorf("left %v, archived %v", left, kept)
	}
}
