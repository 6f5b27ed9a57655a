package pillar

import (
	"context"
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

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// asked is one external pillar that asks a server, and the pillar that brine compiles with it; Salt's is the same
// (TestServersBesideSalt) unless differ says why it is not. $S stands for where the server is.
type asked struct {
	ext, want, differ string // ext is JSON
}

// askedOf is testdata/NAME.json.
func askedOf(t testing.TB, name string) []asked {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	var out []asked
	for _, row := range v.([]any) {
		row := row.(*payload.Map)
		out = append(out, asked{row.Str("ext"), row.Str("want"), row.Str("differ")})
	}
	return out
}

// pillarWith is the pillar of a minion with one external pillar and nothing else.
func pillarWith(t testing.TB, ctx context.Context, id string, ext any, opts *payload.Map) string {
	t.Helper()
	all := payload.M("ext_pillar", []any{ext})
	all.Update(opts)
	c := compiler(t, payload.M("base/none", ""), all)
	return answer(c.Compile(ctx, Question{ID: id, Grains: payload.M("g", "a b")}))
}

// serverDir is a short path for sockets, and how programs are run as its owner: some servers refuse to run as root.
func serverDir(t testing.TB) (dir string, as func(*exec.Cmd)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "bp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() != 0 {
		return dir, func(*exec.Cmd) {}
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("no user for a server: ", err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return dir, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}

// serverProgram is the path of a program of a package, or the end of the test.
func serverProgram(t testing.TB, name, pattern string) string {
	t.Helper()
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return slices.Max(found)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no "+name+" here (.ci/store-peers): ", err)
	}
	return path
}

// serve starts a server and waits until its socket takes connections.
func serve(t testing.TB, as func(*exec.Cmd), dir, socket, program string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, log, log, append(os.Environ(), "HOME="+dir, "LC_ALL=C")
	as(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(20 * time.Millisecond) {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("%s does not answer: %v\n%s", program, err, text)
		}
	}
}

const pgPassword = `s'3 cr\et=x`

// pgTables are what the queries of pgAsked look at.
const pgTables = `
CREATE TABLE pillars (minion text, pillar text, value text, n int);
INSERT INTO pillars VALUES ('web1', 'a', 'x', 1), ('web1', 'b', NULL, 2), ('web1', 'a', 'y', 3), ('web2', 'secret', 's', 4), ('%', 'all', 'z', 5);
CREATE TABLE kinds (id text, i2 int2, i8 int8, f float8, f4 float4, num numeric, bo bool, dat date, ts timestamp, tz timestamptz, ti time, iv interval,
  js json, jb jsonb, by bytea, bn bytea, uu uuid, ia int[], ta text[], aa int[][], ch char(4), inf float8, nan float8, big int8, x xml, net inet, empty text[]);
INSERT INTO kinds VALUES ('web1', 7, 8, 1.5, 0.1, 1.50, true, '2024-01-02', '2024-01-02 03:04:05.678', '2024-01-02 03:04:05+00', '01:02:03', '1 day',
  '{"z": 1, "a": [1, 2.5, null, "ü"]}', '{"b": true}', 'ab', '\xff00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{1,NULL,3}', '{"a b",NULL,"NULL","q\"\\",ü,""}', '{{1,2},{3,4}}',
  'ab', 'Infinity', 'NaN', 9223372036854775807, '<a/>', '10.0.0.1', '{}');
CREATE FUNCTION slowly(id text) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN id LIKE 'slow%' THEN (SELECT 'x' FROM pg_sleep(300)) ELSE id END $$;
GRANT ALL ON ALL TABLES IN SCHEMA public TO salt;
`

// startPostgres starts a server with these tables on a Unix socket, and returns the option postgres that leads to it.
func startPostgres(t testing.TB) *payload.Map {
	t.Helper()
	initdb, program := serverProgram(t, "initdb", "/usr/lib/postgresql/*/bin/initdb"), serverProgram(t, "postgres",
		"/usr/lib/postgresql/*/bin/postgres")
	dir, as := serverDir(t)
	run := func(in, name string, args ...string) error {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(in), append(os.Environ(), "HOME="+dir, "LC_ALL=C")
		as(cmd)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "ERROR") {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		return nil
	}
	data := filepath.Join(dir, "data")
	if err := run("", initdb, "-D", data, "-U", "boss", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("local all boss trust\nlocal all all "+
		"scram-sha-256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	serve(t, as, dir, filepath.Join(dir, ".s.PGSQL.5432"), program, "-D", data, "-c", "listen_addresses=", "-c",
		"unix_socket_directories="+dir, "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=40",
		"-c", "timezone=UTC")
	tables := "CREATE ROLE salt LOGIN PASSWORD '" + strings.ReplaceAll(pgPassword, "'", "''") + "';\n" + pgTables
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		// it takes connections before it is up
		if err = run(tables, serverProgram(t, "psql", "/usr/lib/postgresql/*/bin/psql"), "-v", "ON_ERROR_STOP=1", "-q",
			"-h", dir, "-U", "boss", "postgres"); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return payload.M("postgres", payload.M("host", dir, "user", "salt", "pass", pgPassword, "db", "postgres"))
}
