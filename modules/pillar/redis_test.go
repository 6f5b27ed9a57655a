package pillar

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/redisdb"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

const redisPassword = "s'3 cr\\et"

// startRedis starts a server that holds keys of some minions, and returns the options that lead to it.
func startRedis(t testing.TB) *payload.Map {
	t.Helper()
	dir, as := serverDir(t)
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	socket := filepath.Join(dir, "s")
	serve(t, as, dir, socket, serverProgram(t, "redis-server", "/usr/bin/redis-server"), "--port",
		python.Str(port.Number), "--bind", "127.0.0.1", "--unixsocket", socket, "--unixsocketperm", "777", "--dir", dir,
		"--save", "", "--appendonly", "no", "--requirepass", redisPassword)
	err = redisdb.With(t.Context(), redisdb.Options{Socket: socket, Password: redisPassword, DB: 3},
		func(ctx context.Context, c redisdb.Client) error {
			for _, cmd := range [][]any{
				{"SET", "text", "grüß"}, {"SET", "empty", ""}, {"SET", "bytes", "a\xff"}, {"HSET", "hash", "b", "1",
					"a", "x"}, {"RPUSH", "list", "b", "a", "b"}, {"SADD", "set", "b", "a", "c"},
				{"ZADD", "zset", 2, "a", 1, "b"}, {"XADD", "stream", "*", "a", "b"},
				{"SET", "json", `{"z": 1, "a": [1, 2.5, null]}`}, {"SET", "jsonlist", `[1, "x"]`},
				{"SET", "jsonbad", `{"a": `}, {"SET", "jsonnull", "null"}, {"SETRANGE", "large", redisMost + 1, "x"},
			} {
				if err := c.Do(ctx, cmd...).Err(); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return payload.M("redis.host", "127.0.0.1", "redis.port", int64(port.Number), "redis.db", int64(3),
		"redis.password", redisPassword)
}

// redisIDs are the minions that are asked for, each with every question.
var redisIDs = []string{"text", "empty", "bytes", "hash", "list", "zset", "stream", "json", "jsonlist", "jsonbad",
	"jsonnull", "nobody", "set"}

// TestRedis asks a real server.
func TestRedis(t *testing.T) {
	opts := startRedis(t)
	for _, tt := range askedOf(t, "redis") {
		ext, err := pyjson.Load(tt.ext)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range redisIDs {
			got = append(got, pillarWith(t, t.Context(), id, ext, opts))
		}
		if got := strings.Join(got, "\n"); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.ext, got, tt.want)
		}
	}
}

// TestRedisAttacks: no key is too large, no server holds up a compilation, and no error tells the password.
func TestRedisAttacks(t *testing.T) {
	opts := startRedis(t)
	for _, function := range []string{"key_value", "key_json"} {
		ext := payload.M("redis", payload.M("function", function))
		if got := pillarWith(t, t.Context(), "large", ext, opts); !strings.Contains(got, "more than 16777216 bytes") {
			t.Errorf("a large key: %.200s", got)
		}
		for _, id := range []string{"text\r\nFLUSHALL", "*", "text FLUSHALL", "\x00"} {
			if got := pillarWith(t, t.Context(), id, ext, opts); got != "{}" {
				t.Errorf("%q: %s", id, got)
			}
		}
		for _, wrong := range []*payload.Map{payload.M("redis.password", "secret's"), payload.M("redis.port", int64(1)),
			payload.M("redis.port", "x"), payload.M("redis.db", int64(-1)),
			payload.M("redis.host", filepath.Join(t.TempDir(), "none"))} {
			o := opts.Clone()
			o.Update(wrong)
			if got := pillarWith(t, t.Context(), "text", ext, o); !strings.Contains(got,
				"Failed to load ext_pillar redis: ") || strings.Contains(got, "secret") ||
				strings.Contains(got, redisPassword) {
				t.Errorf("%v: got %s", wrong, got)
			}
		}
	}
	if got := pillarWith(t, t.Context(), "text", payload.M("redis", payload.M("function", "key_value")),
		opts); got != "{str redis_pillar=>str grüß}" {
		t.Errorf("after the attacks: %s", got)
	}
	silent, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("too late"))
	defer cancel()
	if got := pillarWith(t, ctx, "text", payload.M("redis", payload.M("function", "key_value")),
		payload.M("redis.host", silent.Addr().String())); !strings.Contains(got, "too late") {
		t.Errorf("a silent server: %s", got)
	}
}
