package eauth

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/payload"
)

func service(t *testing.T, change func(*Options)) *Service {
	t.Helper()
	opt := Options{
		External: payload.M(
			"sharedsecret", payload.M("saltdev", []any{"test.*", payload.M("web1", []any{"grains.*"}), "@runner",
				"@jobs"}, "ops%", []any{".*"}), "auto", payload.M("*", []any{"test.ping"}),
		),
		PublisherACL: payload.M("dev.*", []any{"test.*"}),
		SharedSecret: "OpenSesame", User: "root", RunningUser: "root", TokenDir: t.TempDir(), TokenExpire: time.Hour,
		Keys: Keys{"root": "rootkey", "devon": "devkey"},
	}
	if change != nil {
		change(&opt)
	}
	return New(opt)
}

func TestCheckKey(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields *payload.Map
		want   string // user; "" = refused
		list   int
	}{
		{"root", payload.M("user", "root", "key", "rootkey"), "root", 0},
		{"root with a wrong key", payload.M("user", "root", "key", "x"), "", 0},
		{"root with a restricted user's key", payload.M("user", "root", "key", "devkey"), "", 0},
		{"no key", payload.M("user", "root"), "", 0},
		{"empty key", payload.M("user", "root", "key", ""), "", 0},
		{"key of another type", payload.M("user", "root", "key", int64(5)), "", 0},
		{"any name with root's key", payload.M("user", "zoe", "key", "rootkey"), "zoe", 0},
		{"sudo", payload.M("user", "sudo_zoe", "key", "rootkey"), "sudo_zoe", 0},
		{"restricted", payload.M("user", "devon", "key", "devkey"), "devon", 1},
		{"key of another user", payload.M("user", "zoe", "key", "devkey"), "", 0},
		{"no name", payload.M("key", "rootkey"), "root", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := service(t, nil).Check(tt.fields, "")
			if tt.fields.Has("key") {
				t.Error("the key is still in the load")
			}
			var denied *Denied
			if tt.want == "" {
				if !errors.As(err, &denied) || denied.Name != "UserAuthenticationError" {
					t.Fatalf("got %v, %v, want a refusal", id, err)
				}
				return
			}
			if err != nil || id.Name != tt.want || len(id.List) != tt.list {
				t.Fatalf("got %+v, %v, want %s with %d entries", id, err, tt.want, tt.list)
			}
		})
	}
}

func TestEauthAndTokens(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := service(t, func(o *Options) { o.Now = func() time.Time { return now } })
	var denied *Denied
	if tok, err := s.MakeToken(payload.M("eauth", "sharedsecret", "username", "saltdev", "password", "wrong"),
		""); tok != nil || !errors.As(err, &denied) {
		t.Fatalf("wrong password: got %v, %v", tok, err)
	}
	if denied.Wait < failTime/2 || denied.Wait > 2*failTime {
		t.Errorf("a failure is held back for %v", denied.Wait)
	}
	tok, err := s.MakeToken(payload.M("eauth", "sharedsecret", "username", "saltdev", "password", "OpenSesame",
		"token_expire", int64(9)), "")
	if err != nil || tok == nil {
		t.Fatalf("MakeToken: %v, %v", tok, err)
	}
	if got := tok.Value("expire").(float64) - tok.Value("start").(float64); got != 3600 {
		t.Errorf("life of the token: got %v s, want 3600: the user may not choose", got)
	}
	path := filepath.Join(s.opt.TokenDir, tok.Str("token"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info, err)
	}
	id, err := s.Check(payload.M("token", tok.Str("token")), "")
	if err != nil || id.Name != "saltdev" || len(id.List) != 4 {
		t.Fatalf("Check(token): got %+v, %v", id, err)
	}
	now = now.Add(2 * time.Hour)
	if _, err := s.Check(payload.M("token", tok.Str("token")), ""); err == nil {
		t.Error("an expired token was accepted")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an expired token's file stays: %v", err)
	}
	for _, bad := range []string{"", "../../etc/passwd", "zz", tok.Str("token")[:10]} {
		if s.Token(bad) != nil {
			t.Errorf("Token(%q) was found", bad)
		}
	}
}

func TestAllowed(t *testing.T) {
	list := []any{"test.*",
		payload.M("web1", []any{"grains.*", payload.M("cmd.run", payload.M("args", []any{"ls", nil}, "kwargs",
			payload.M("cwd", "/tmp")))})}
	onlyWeb1 := func(target string) bool { return target == "web1" }
	none := func(string) bool { return false }
	for _, tt := range []struct {
		name   string
		funs   []string
		args   []any
		covers func(string) bool
		want   bool
		all    bool
	}{
		{"plain", []string{"test.ping"}, nil, none, true, true},
		{"not listed", []string{"cmd.run"}, nil, none, false, false},
		{"anchored at the start only", []string{"test.ping.x"}, nil, none, true, true},
		{"inside the target", []string{"grains.items"}, nil, onlyWeb1, true, true},
		{"outside the target", []string{"grains.items"}, nil, none, false, false},
		{"arguments", []string{"cmd.run"}, []any{"ls", int64(1), payload.M("__kwarg__", true, "cwd", "/tmp")}, onlyWeb1,
			true, true},
		{"missing keyword", []string{"cmd.run"}, []any{"ls", int64(1)}, onlyWeb1, false, false},
		{"one of two", []string{"cmd.run", "test.ping"}, nil, none, true, false},
		{"find_job", []string{"saltutil.find_job"}, nil, none, true, true},
		{"find_job does not make up for another", []string{"saltutil.find_job", "cmd.run"}, nil, none, false, false},
		{"keyword as a text", []string{"cmd.run"}, []any{"ls", "cwd=/tmp", int64(1)}, onlyWeb1, true, true},
		{"keyword in two places", []string{"cmd.run"}, []any{"ls", int64(1), payload.M("__kwarg__", true, "cwd",
			"/tmp"), "cwd=/"}, onlyWeb1, false, false},
		{"mark that is not true", []string{"cmd.run"}, []any{"ls", int64(1), payload.M("__kwarg__", int64(1), "cwd",
			"/tmp")}, onlyWeb1, false, false},
		{"a text that a minion takes for a keyword is no argument", []string{"cmd.run"},
			[]any{"a=b", "ls", payload.M("__kwarg__", true, "cwd", "/tmp")}, onlyWeb1, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := Want{Funs: tt.funs, Args: [][]any{tt.args}, Covers: tt.covers, FindJob: true}
			if got := service(t, nil).Allowed(list, w).OK; got != tt.want {
				t.Errorf("one suffices: got %v", got)
			}
			strict := service(t, func(o *Options) { o.RequireAll = true })
			if got := strict.Allowed(list, w).OK; got != tt.all {
				t.Errorf("all must be allowed: got %v", got)
			}
			if strict.Allowed(nil, w).OK {
				t.Error("somebody without rules is allowed")
			}
		})
	}
}

func TestBound(t *testing.T) {
	s := service(t, func(o *Options) { o.RequireAll = true })
	list := []any{payload.M("web1", []any{"test.*"}), "test.ping", payload.M("*", []any{"test.echo"})}
	for fun, want := range map[string]Grant{"test.ping": {OK: true}, "test.echo": {OK: true},
		"test.arg": {OK: true, Bound: true}, "cmd.run": {}} {
		if got := s.Allowed(list, Want{Funs: []string{fun}, Covers: func(string) bool { return true }}); got != want {
			t.Errorf("%s: got %+v, want %+v", fun, got, want)
		}
	}
}

func TestUserPatterns(t *testing.T) {
	s := service(t, func(o *Options) {
		o.External = payload.M("file", payload.M("^filename", "/x", "^ops.*", []any{"a"}, "ann|bob", []any{"b"}))
	})
	for user, want := range map[string]int{"ops1": 1, "ann": 1, "annika": 0, "^filename": 0, "zoe": 0} {
		if got := len(s.listFor("file", user, nil)); got != want {
			t.Errorf("%s: got %d rules, want %d", user, got, want)
		}
	}
}

func TestAllowedForm(t *testing.T) {
	for _, tt := range []struct {
		name, form, fun string
		list            []any
		want            bool
	}{
		{"form", "runner", "jobs.active", []any{"@runner"}, true},
		{"forms", "runner", "jobs.active", []any{"@runners"}, true},
		{"module", "runner", "jobs.active", []any{"@jobs"}, true},
		{"other module", "runner", "manage.up", []any{"@jobs"}, false},
		{"function of a module", "wheel", "key.list", []any{payload.M("@key", []any{"list"})}, true},
		{"function of the form", "wheel", "key.list", []any{payload.M("@wheel", []any{"key.list"})}, true},
		{"test.* is for minions", "runner", "test.arg", []any{"test.*"}, false},
	} {
		if got := AllowedForm(tt.list, tt.form, tt.fun, nil, nil); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestPeerAndBlacklist(t *testing.T) {
	peer := payload.M("web.*", []any{"test.*"})
	if !PeerAllowed(peer, "web1", "test.ping") || PeerAllowed(peer, "db1", "test.ping") || PeerAllowed(peer, "web1",
		"cmd.run") {
		t.Error("peer rules")
	}
	black := payload.M("users", []any{"zoe", "^(?!root).*x"}, "modules", []any{"cmd.*"})
	if !Blacklisted(black, "box", nil) || !Blacklisted(payload.M("modules", []any{"cmd.*|state"}), "root",
		[]string{"cmd.run"}) {
		t.Error("look-arounds and alternatives of a blacklist")
	}
	if !Blacklisted(black, "zoe", nil) || Blacklisted(black, "root", []string{"test.ping"}) ||
		!Blacklisted(black, "root", []string{"test.ping", "cmd.run"}) {
		t.Error("blacklist rules")
	}
}
