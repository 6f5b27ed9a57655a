package eauth

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/modules/redisdb"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/python"
)

// freePort is a port of 127.0.0.1 that nobody else gets until the test is over.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	return port.Number
}

// redisAt starts a Redis server, or a cluster of one, on a port.
func redisAt(t *testing.T, more ...string) int {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server here: ", err)
	}
	port := freePort(t)
	cmd := exec.Command("redis-server", append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir",
		t.TempDir(), "--save", ""}, more...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	await(t, port, "PING")
	return port
}

func await(t *testing.T, port int, words ...any) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for redisDo(t, port, words...) != nil {
		if time.Now().After(end) {
			t.Fatalf("Redis does not take %v", words)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func redisDo(t *testing.T, port int, words ...any) error {
	return redisdb.With(t.Context(), redisdb.Options{Host: "127.0.0.1", Port: port}, func(ctx context.Context,
		c redisdb.Client) error {
		return c.Do(ctx, words...).Err()
	})
}

// TestTokenStores: a token is good in every store until its time is over, and only under its own name.
func TestTokenStores(t *testing.T) {
	for name, settings := range map[string]func(t *testing.T) *payload.Map{
		"files": func(*testing.T) *payload.Map { return payload.M("eauth_tokens", "localfs") },
		"redis": func(t *testing.T) *payload.Map {
			return payload.M("eauth_tokens.cache_driver", "redis", "cache.redis.host", "127.0.0.1", "cache.redis.port",
				int64(redisAt(t)), "cache.redis.db", "2")
		},
		"a cluster": func(t *testing.T) *payload.Map {
			// by default port+10000, which anybody may have
			port := redisAt(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
			if err := redisDo(t, port, "CLUSTER", "ADDSLOTSRANGE", 0, 16383); err != nil {
				t.Skip("this redis-server makes no cluster of one: ", err)
			}
			await(t, port, "SET", "x", "y")
			return payload.M("eauth_tokens", "rediscluster", "eauth_redis_host", "127.0.0.1", "eauth_redis_port",
				int64(port))
		},
	} {
		t.Run(name, func(t *testing.T) { testTokenStore(t, settings(t)) })
	}
}

func testTokenStore(t *testing.T, settings *payload.Map) {
	now := time.Now()
	s := service(t, func(o *Options) { o.Settings, o.Now = settings, func() time.Time { return now } })
	login := payload.M("eauth", "sharedsecret", "username", "saltdev", "password", "OpenSesame")
	tok, err := s.MakeToken(login, "")
	if err != nil {
		t.Fatal(err)
	}
	name := tok.Str("token")
	if got := s.Token(name); python.Repr(got) != python.Repr(tok) {
		t.Errorf("got %v, want %v", python.Repr(got), python.Repr(tok))
	}
	for _, bad := range []string{"", strings.Repeat("0", 64), "../" + name, name + "\x00", name[:31], name + "/",
		strings.ToUpper(name), name + ".p", "*", "$KEYS_tokens/"} {
		if got := s.Token(bad); got != nil {
			t.Errorf("%q is a token: %v", bad, python.Repr(got))
		}
	}
	if n, err := s.CleanTokens(); n != 0 || err != nil {
		t.Errorf("a good token is cleaned: %d, %v", n, err)
	}
	if err := s.tokens.put(strings.Repeat("a", 64), payload.M("no", "token")); err != nil {
		t.Fatal(err)
	}
	if got := s.Token(strings.Repeat("a", 64)); got != nil {
		t.Errorf("what has no end is a token: %v", python.Repr(got))
	}
	testRevoke(t, s, login, name)
	now = now.Add(2 * time.Hour)
	if got := s.Token(name); got != nil {
		t.Errorf("an expired token is good: %v", python.Repr(got))
	}
	now = now.Add(-2 * time.Hour)
	if got := s.Token(name); got != nil {
		t.Error("an expired token was kept")
	}
}

// testRevoke: a token that is revoked is gone, and no other.
func testRevoke(t *testing.T, s *Service, login *payload.Map, other string) {
	tok, err := s.MakeToken(login, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time is well
		if err := s.Revoke(tok.Str("token")); err != nil {
			t.Error(err)
		}
	}
	if s.Token(tok.Str("token")) != nil || s.Token(other) == nil {
		t.Error("the wrong token is revoked, or none")
	}
	for _, bad := range []string{"", "../" + other, other + ".p", "*"} {
		if err := s.Revoke(bad); err == nil || strings.Contains(err.Error(), other) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestRevokeTells: a token that cannot be revoked is told of, without its name; those of Salt 3008 can be.
func TestRevokeTells(t *testing.T) {
	s := service(t, nil)
	name := strings.Repeat("ab", 32)
	for _, file := range []string{name, name + ".p"} {
		path := filepath.Join(s.opt.TokenDir, file)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := s.Revoke(name); err == nil || strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", file, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(s.opt.TokenDir, name+".p")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); s.Revoke(name) != nil || err != nil {
		t.Error("not revoked")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it is still there")
	}
}

// TestRedisAway: nobody comes in by a token, or gets one, while the store is away, and none is lost for that.
func TestRedisAway(t *testing.T) {
	for _, settings := range []*payload.Map{
		payload.M("eauth_tokens.cache_driver", "redis", "cache.redis.host", "127.0.0.1", "cache.redis.port", int64(1)),
		payload.M("eauth_tokens", "rediscluster", "eauth_redis_host", "127.0.0.1", "eauth_redis_port", "1"),
	} {
		s := service(t, func(o *Options) { o.Settings = settings })
		login := payload.M("eauth", "sharedsecret", "username", "saltdev", "password", "OpenSesame")
		if tok, err := s.MakeToken(login, ""); tok != nil || err == nil {
			t.Errorf("got a token %v, %v", tok, err)
		}
		if err := s.Revoke(strings.Repeat("0", 64)); err == nil {
			t.Error("a token is revoked that nobody can look at")
		}
		if _, err := s.Check(payload.M("token", strings.Repeat("0", 64)), ""); err == nil {
			t.Error("a token is good that nobody can look at")
		}
	}
}

// TestFilesOfSalt3008: files that Salt 3008 has written in its cache are good as well.
func TestFilesOfSalt3008(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := service(t, func(o *Options) { o.Now = func() time.Time { return now } })
	name := strings.Repeat("ab", 32)
	file := filepath.Join(s.opt.TokenDir, name+".p")
	b, err := payload.Marshal(payload.M("data", payload.M("start", 1.79e9, "expire", 1.8e9+60, "name", "ann", "eauth",
		"auto", "token", name), "_expires", int64(1.8e9+60)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Token(name); got.Str("name") != "ann" {
		t.Errorf("got %v", python.Repr(got))
	}
	now = now.Add(time.Hour)
	if n, err := s.CleanTokens(); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
}
