package redis_return

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/modules/loader"
	"brine/modules/redisdb"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/google/go-cmp/cmp"
)

// startRedis starts a Redis server on a Unix socket, and gives the path.
func startRedis(t testing.TB, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	returnertest.StartServer(t, func() error {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			err = conn.Close()
		}
		return err
	}, "redis-server", append([]string{"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "",
		"--appendonly", "no", "--logfile",
		filepath.Join(dir, "log")}, more...)...)
	return socket
}

// dump is all of a database: by key, what kind it is, what it holds, and its time to live in whole seconds (0:
// none), rounded up to minutes.
func dump(t testing.TB, o redisdb.Options) *payload.Map {
	t.Helper()
	out := payload.NewMap(0)
	err := redisdb.With(t.Context(), o, func(ctx context.Context, db redisdb.Client) error {
		var keys []string
		if err := redisdb.EachKey(ctx, db, "*", func(page []string) error {
			keys = append(keys, page...)
			return nil
		}); err != nil {
			return err
		}
		slices.Sort(keys)
		for _, key := range keys {
			kind, err := db.Type(ctx, key).Result()
			if err != nil {
				return err
			}
			var held any
			switch kind {
			case "string":
				held = db.Get(ctx, key).Val()
			case "hash":
				m := payload.NewMap(0)
				all := db.HGetAll(ctx, key).Val()
				for _, field := range slices.Sorted(func(yield func(string) bool) {
					for f := range all {
						if !yield(f) {
							return
						}
					}
				}) {
					m.Set(field, all[field])
				}
				held = m
			case "set":
				members := db.SMembers(ctx, key).Val()
				slices.Sort(members)
				held = python.Repr(members)
			}
			ttl := int64(0)
			if d := db.TTL(ctx, key).Val(); d > 0 {
				ttl = int64((d+time.Minute-1)/time.Minute) * 60
			}
			out.Set(key, payload.M("kind", kind, "holds", held, "ttl", ttl))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fill makes the calls that testdata/redis.json tells the outcome of.
func fill(t *testing.T, call func(fun string, args ...any)) {
	for _, ret := range returnertest.Shared(t, "returns.json").([]any) {
		call("redis.returner", ret)
	}
	for _, l := range returnertest.Shared(t, "loads.json").([]any) {
		l := l.(*payload.Map)
		call("redis_return.save_load", l.Value("jid"), l.Value("load"), []any{"web1"})
	}
	call("redis.save_minions", "20261123093900000001", []any{"web1"}, "syndic")
}

// reads are the questions to a filled server.
func reads(ask func(fun string, args ...any) any) *payload.Map {
	out := payload.NewMap(0)
	for _, jid := range []any{"20261123093900000001", "20261123093900000002", "20261123093900000003_77",
		"20261123093900000004", "none"} {
		out.Set("get_jid "+jid.(string), ask("redis.get_jid", jid)).Set("get_load "+jid.(string),
			ask("redis.get_load", jid))
	}
	for _, fun := range []any{"test.ping", "test.echo", "state.apply", "x:y z.\n", "none"} {
		out.Set("get_fun "+fun.(string), ask("redis.get_fun", fun))
	}
	minions := loader.StringList(ask("redis.get_minions"))
	slices.Sort(minions)
	return out.Set("get_jids", ask("redis.get_jids")).Set("get_minions", python.Repr(minions)).
		Set("prep_jid", ask("redis.prep_jid", false, "20261123093900000001"))
}

// optsOf are the options for a server on a socket.
func optsOf(socket string) *payload.Map {
	return payload.M("redis.unix_socket_path", socket, "redis.db", "1", "keep_jobs_seconds", int64(7200))
}

// brine leaves the same keys, values and times to live in a server as Salt does, and reads the same out of it.
func TestRedis(t *testing.T) {
	socket := startRedis(t)
	s := brine(t, optsOf(socket))
	fill(t, func(fun string, args ...any) { s.Call(fun, args...) })
	want := returnertest.File(t, "redis.json").(*payload.Map)
	if diff := cmp.Diff(returnertest.Sorted(t, want.Value("holds")),
		returnertest.Sorted(t, dump(t, redisdb.Options{Socket: socket, DB: 1}))); diff != "" {
		t.Errorf("the server holds (-Salt +brine):\n%s", diff)
	}
	if diff := cmp.Diff(returnertest.Sorted(t, want.Value("reads")), returnertest.Sorted(t, reads(s.Call))); diff != "" {
		t.Errorf("reads (-Salt +brine):\n%s", diff)
	}
	jid, err := s.Try("redis.prep_jid")
	if err != nil || !payload.IsJID(jid.(string)) {
		t.Errorf("prep_jid: got %v, %v, want a new job id", jid, err)
	}
}

// Returns without a load go; those with one stay.
func TestRedisCleans(t *testing.T) {
	socket := startRedis(t)
	s := brine(t, optsOf(socket))
	fill(t, func(fun string, args ...any) { s.Call(fun, args...) })
	s.Call("redis.clean_old_jobs")
	var left []string
	for k := range dump(t, redisdb.Options{Socket: socket, DB: 1}).All() {
		if name := k.(string); strings.HasPrefix(name, "ret:") {
			left = append(left, name)
		}
	}
	if diff := cmp.Diff([]string{"ret:20261123093900000001", "ret:20261123093900000002"}, left); diff != "" {
		t.Errorf("returns after clean_old_jobs:\n%s", diff)
	}
}

// With keep_jobs_seconds 0 nothing expires.
func TestRedisKeeps(t *testing.T) {
	socket := startRedis(t)
	s := brine(t, optsOf(socket).Set("keep_jobs_seconds", int64(0)))
	fill(t, func(fun string, args ...any) { s.Call(fun, args...) })
	for k, v := range dump(t, redisdb.Options{Socket: socket, DB: 1}).All() {
		if ttl := v.(*payload.Map).Value("ttl"); ttl != int64(0) {
			t.Errorf("%v expires after %v s", k, ttl)
		}
	}
}

// A minion with a name like a key overwrites no returns, and what it leaves hides no jobs.
func TestRedisKeysOfOthers(t *testing.T) {
	socket := startRedis(t)
	s := brine(t, optsOf(socket))
	fill(t, func(fun string, args ...any) { s.Call(fun, args...) })
	before := returnertest.Sorted(t, s.Call("redis.get_jid", "20261123093900000001"))
	for _, id := range []string{"ret", "load"} {
		if _, err := s.Try("redis.returner", payload.M("id", id, "jid", "1", "fun", "20261123093900000001", "return",
			true)); !returners.Hopeless(err) {
			t.Errorf("a return of minion %s: got %v, want a hopeless error", id, err)
		}
	}
	if after := returnertest.Sorted(t, s.Call("redis.get_jid", "20261123093900000001")); after != before {
		t.Errorf("the returns of another job changed:\n%s", cmp.Diff(before, after))
	}
	err := redisdb.With(t.Context(), redisdb.Options{Socket: socket, DB: 1}, func(ctx context.Context,
		db redisdb.Client) error {
		return errors.Join(db.Set(ctx, "load:x", "20261123093900000001", 0).Err(), db.HSet(ctx, "load:y", "a",
			"b").Err())
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Call("redis.get_jids").(*payload.Map).Len(); got != 3 {
		t.Errorf("get_jids shows %d jobs, want 3", got)
	}
}

// Errors that another try may mend are no *Unusable, those of options are; none tells the password.
func TestRedisFails(t *testing.T) {
	const secret = "geheim-4711"
	socket := startRedis(t, "--requirepass", "right")
	one := payload.M("id", "web1", "jid", "1", "fun", "test.ping", "return", true)
	for _, tt := range []struct {
		name     string
		opts     *payload.Map
		hopeless bool
	}{
		{"wrong password", optsOf(socket).Set("redis.password", secret), false},
		{"no password", optsOf(socket), false},
		{"no server", optsOf(filepath.Join(t.TempDir(), "none")).Set("redis.password", secret), false},
		{"port of nobody", payload.M("redis.host", "127.0.0.1", "redis.port", int64(1), "redis.password", secret),
			false},
		{"no number of a database", optsOf(socket).Set("redis.db", "another-salt"), false},
		{"no port", payload.M("redis.host", "127.0.0.1", "redis.port", "x"), false},
		{"no members", payload.M("redis.cluster_mode", true), false},
		{"members of another kind", payload.M("redis.cluster_mode", true, "redis.cluster.startup_nodes", []any{"a:1"}),
			false},
		{"no time", optsOf(socket).Set("keep_jobs_seconds", "x"), false},
	} {
		_, err := brine(t, tt.opts).Try("redis.returner", one)
		if err == nil || returners.Hopeless(err) != tt.hopeless || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, hopeless %t", tt.name, err, returners.Hopeless(err))
		}
	}
	brine(t, optsOf(socket).Set("redis.password", "right")).Call("redis.returner", one)
}

// The password of the configuration goes to no server of ret_kwargs.
func TestRedisGuard(t *testing.T) {
	socket, other := startRedis(t, "--requirepass", "geheim"), startRedis(t, "--requirepass", "geheim")
	s := brine(t, optsOf(socket).Set("redis.password", "geheim"))
	for _, kw := range []*payload.Map{payload.M("unix_socket_path", other), payload.M("host", "127.0.0.1"),
		payload.M("port", int64(1)),
		payload.M("cluster_mode", true, "startup_nodes", []any{payload.M("host", "127.0.0.1")})} {
		if _, err := s.Try("redis.returner", returnertest.Ret().Set("ret_kwargs", kw)); !returners.Hopeless(err) ||
			!strings.Contains(err.Error(), "password") {
			t.Errorf("%v: %v", kw, err)
		}
	}
	s.Call("redis.returner", returnertest.Ret().Set("ret_kwargs", payload.M("unix_socket_path", other, "password",
		"geheim")))
	s.Call("redis.returner", returnertest.Ret().Set("ret_kwargs", payload.M("db", "2")))
	for where, want := range map[*redisdb.Options]int{{Socket: other, DB: 1, Password: "geheim"}: 3,
		{Socket: socket, DB: 2, Password: "geheim"}: 3} {
		if got := dump(t, *where).Len(); got != want {
			t.Errorf("%d keys, want %d", got, want)
		}
	}
}

// A cluster takes what one server takes.
func TestRedisCluster(t *testing.T) {
	dir := t.TempDir()
	port := returnertest.FreePort(t)
	node := redisdb.Options{Host: "127.0.0.1", Port: port}
	ask := func(words ...any) error {
		return redisdb.With(t.Context(), node, func(ctx context.Context, db redisdb.Client) error {
			return db.Do(ctx, words...).Err()
		})
	}
	returnertest.StartServer(t, func() error {
		return ask("PING")
	}, "redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes",
		"--cluster-port", strconv.Itoa(returnertest.FreePort(t)), "--dir", dir, "--save", "", "--logfile", filepath.Join(dir,
			"log"))
	if err := ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383); err != nil {
		t.Skip("this redis-server makes no cluster of one: ", err)
	}
	for deadline := time.Now().Add(time.Minute); ask("SET", "x", "y") != nil; <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not come up")
		}
	}
	if err := ask("DEL", "x"); err != nil {
		t.Fatal(err)
	}
	s := brine(t, payload.M("redis.cluster_mode", true, "redis.cluster.startup_nodes",
		[]any{payload.M("host", "127.0.0.1", "port", int64(port))}, "redis.cluster.skip_full_coverage_check", true,
		"keep_jobs_seconds", int64(7200)))
	fill(t, func(fun string, args ...any) { s.Call(fun, args...) })
	want := returnertest.File(t, "redis.json").(*payload.Map)
	if diff := cmp.Diff(returnertest.Sorted(t, want.Value("holds")), returnertest.Sorted(t, dump(t, node))); diff != "" {
		t.Errorf("the cluster holds (-Salt in one server +brine):\n%s", diff)
	}
	if diff := cmp.Diff(returnertest.Sorted(t, want.Value("reads")), returnertest.Sorted(t, reads(s.Call))); diff != "" {
		t.Errorf("reads:\n%s", diff)
	}
	s.Call("redis.clean_old_jobs")
}

// A server that says nothing is let go with the call.
func TestRedisSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	came := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			came <- conn
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	port := l.Addr().(*net.TCPAddr).Port
	go func() {
		done <- redisdb.With(ctx, redisdb.Options{Host: "127.0.0.1", Port: port}, func(ctx context.Context,
			db redisdb.Client) error {
			return db.Ping(ctx).Err()
		})
	}()
	conn := <-came
	defer func() { _ = conn.Close() }()
	cancel()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a server that says nothing: no error")
		}
	case <-time.After(20 * time.Second):
		t.Error("the call outlives its context")
	}
}

// brine is the returner with options of a minion.
func brine(t *testing.T, opts *payload.Map) *returnertest.Store {
	t.Helper()
	return returnertest.New(t, opts, Module())
}
