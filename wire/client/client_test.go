package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/wire/payload"
)

func TestLoginName(t *testing.T) {
	for _, tt := range []struct{ user, sudo, want string }{
		{"root", "", "root"}, {"root", "ada", "sudo_ada"}, {"ada", "", "ada"}, {"ada", "eve", "ada"},
	} {
		if got := LoginName(tt.user, tt.sudo); got != tt.want {
			t.Errorf("LoginName(%q, %q): got %q, want %q", tt.user, tt.sudo, got, tt.want)
		}
	}
}

func TestKeyFile(t *testing.T) {
	for _, tt := range []struct{ user, owner, want string }{
		{"root", "", ".root_key"}, {"root", "salt", ".salt_key"}, {"sudo_ada", "", ".root_key"},
		{"sudo_ada", "salt", ".salt_key"}, {"ada", "salt", ".ada_key"},
	} {
		if got := KeyFile("/c", tt.user, tt.owner); got != "/c/"+tt.want {
			t.Errorf("KeyFile(%q, %q): got %q, want %q", tt.user, tt.owner, got, tt.want)
		}
	}
}

func TestPublishRefusals(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply any
		want  error
		text  string
	}{
		{"authentication", payload.M("error", payload.M("name", "AuthenticationError", "message",
			"Authentication error occurred.")), ErrAuthentication, "publish: Authentication error occurred."},
		{"authorization", payload.M("error", payload.M("name", "AuthorizationError", "message",
			"Authorization error occurred.")), ErrAuthorization, "publish: Authorization error occurred."},
		{"error text", payload.M("error", "no"), nil, "publish: no"},
		{"error of another kind", payload.M("error", 1), ErrMalformed, ""},
		{"text", payload.TextBadLoad, nil, "publish: bad load"},
		{"no jid", payload.M("enc", "clear", "load", payload.M("error", "Master failed to assign jid")), nil,
			"publish: Master failed to assign jid"},
		{"empty text", "", ErrEmptyReply, ""},
		{"empty map", payload.NewMap(0), ErrEmptyReply, ""},
		{"false", false, ErrEmptyReply, ""},
		{"number", 5, ErrMalformed, ""},
		{"no load", payload.M("enc", "clear"), ErrMalformed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newFakeMaster(t, func(*payload.Map) any { return tt.reply })
			_, err := m.client(m.options()).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || tt.text != "" && err.Error() != tt.text {
				t.Errorf("got %v, want %v %q", err, tt.want, tt.text)
			}
		})
	}
}

// TestPublishRenewsKey: a restarted master has a new key, and the client finds it in the file.
func TestPublishRenewsKey(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any {
		if load.Str("key") != "new" {
			return payload.NewMap(0)
		}
		return published(jid1, "a")
	})
	c := m.client(m.options())
	m.touch(".root_key", "new")
	if pub, err := c.Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); err != nil || pub.JID != jid1 {
		t.Errorf("got %+v, %v", pub, err)
	}
	if n := len(m.loads); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestPublishWithoutKeyFile(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return published(jid1, "a") })
	opt := m.options()
	opt.User = "ada"
	if _, err := m.client(opt).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); err != nil {
		t.Fatal(err)
	}
	if load := m.load(); load.Str("key") != "" || load.Str("user") != "ada" {
		t.Errorf("got key %q, user %q", load.Str("key"), load.Str("user"))
	}
}

func TestNoMaster(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return published(jid1, "a") })
	if err := os.Remove(filepath.Join(m.dir, "publish_pull.ipc")); err != nil {
		t.Fatal(err)
	}
	c := m.client(m.options())
	if _, err := c.Run(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, ErrNoMaster) {
		t.Errorf("Run: got %v, want ErrNoMaster", err)
	}
	if _, err := c.Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, ErrNoMaster) {
		t.Errorf("Publish: got %v, want ErrNoMaster", err)
	}
	opt := m.options()
	opt.IPCMode = "tcp"
	if _, err := m.client(opt).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); err != nil {
		t.Errorf("ipc_mode tcp: %v", err)
	}
}

func TestNoBus(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return published(jid1, "a") })
	opt := m.options()
	opt.Bus = nil
	if _, err := m.client(opt).Run(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, ErrNoBus) {
		t.Errorf("got %v, want ErrNoBus", err)
	}
	if len(m.loads) != 0 {
		t.Error("published without an ear at the bus")
	}
}

func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	m := newFakeMaster(t, func(load *payload.Map) any { return silent{} })
	opt := m.options()
	opt.Timeout, opt.Tries = 5*time.Second, 2 // each try connects again, which takes time on a busy machine
	if _, err := m.client(opt).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
	first, second := m.load(), m.load()
	if !first.Equal(second) || len(m.loads) > 0 {
		t.Errorf("got %v, then %v, then %d more; want the same request twice", first, second, len(m.loads))
	}
}

func TestRequestCancelled(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return silent{} })
	opt := m.options()
	opt.Timeout = patience
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		m.load()
		cancel()
	}()
	if _, err := m.client(opt).Publish(ctx, Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestTokens(t *testing.T) {
	token := payload.M("start", 1.5, "expire", 2.5, "name", "ada", "eauth", "auto", "token", "abc")
	m := newFakeMaster(t, func(load *payload.Map) any {
		switch load.Str("cmd") + load.Str("token") + load.Str("password") {
		case "mk_tokengood", "get_tokenabc":
			return token
		case "mk_tokenbad":
			return ""
		}
		return payload.NewMap(0)
	})
	c := m.client(m.options())
	got, err := c.MkToken(testContext(t), payload.M("eauth", "auto", "username", "ada", "password", "good"))
	if err != nil || !got.Equal(token) {
		t.Errorf("MkToken: got %v, %v", got, err)
	}
	want := payload.M("cmd", "mk_token", "eauth", "auto", "username", "ada", "password", "good")
	if load := m.load(); !load.Equal(want) {
		t.Errorf("load: got %v, want %v", load, want)
	}
	if _, err := c.MkToken(testContext(t), payload.M("password", "bad")); !errors.Is(err, ErrAuthentication) {
		t.Errorf("MkToken, bad password: got %v, want ErrAuthentication", err)
	}
	if got, err := c.GetToken(testContext(t), "abc"); err != nil || !got.Equal(token) {
		t.Errorf("GetToken: got %v, %v", got, err)
	}
	if _, err := c.GetToken(testContext(t), "gone"); !errors.Is(err, ErrAuthentication) {
		t.Errorf("GetToken, unknown: got %v, want ErrAuthentication", err)
	}
}

func TestRunner(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(load *payload.Map) any {
		m.fire("salt/run/"+jid2+"/ret", payload.M("return", "another"))
		m.fire("salt/run/"+jid1+"/new", payload.M("fun", "runner.test.arg"))
		m.fire("salt/run/"+jid1+"/ret", payload.M("return", "done", "success", true))
		return payload.M("tag", "salt/run/"+jid1, "jid", jid1)
	})
	c := m.client(m.options())
	started, data, err := c.RunRunner(testContext(t), Call{Fun: "test.arg", Arg: []any{"a"},
		KWArg: payload.M("k", "v")})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Started{Tag: "salt/run/" + jid1, JID: jid1}, started); d != "" {
		t.Error(d)
	}
	if data.Text() != "done" || !data.Map().Bool("success") {
		t.Errorf("got %v", data)
	}
	want := payload.M("cmd", "runner", "fun", "test.arg",
		"kwarg", payload.M("kwarg", payload.M("k", "v"), "arg", []any{"a"}), "key", "the key", "user", "root")
	if load := m.load(); !load.Equal(want) {
		t.Errorf("load: got %v, want %v", load, want)
	}
}

func TestRunnerNeverEnds(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any { return nil })
	ctx, cancel := context.WithCancel(context.Background())
	opt := m.options()
	opt.Exchange = func(context.Context, []byte) ([]byte, error) {
		cancel() // now it waits for an end that does not come
		return payload.Marshal(payload.M("tag", "salt/run/"+jid1, "jid", jid1))
	}
	started, _, err := m.client(opt).RunRunner(ctx, Call{Fun: "test.sleep"})
	if !errors.Is(err, context.Canceled) || started.JID != jid1 {
		t.Errorf("got %+v, %v", started, err)
	}
}

func TestWheel(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any {
		if load.Has("token") {
			return payload.M("error", payload.M("name", "TokenAuthenticationError", "message",
				`Authentication failure of type "token" occurred.`))
		}
		return payload.M("tag", "salt/wheel/"+jid1, "data", payload.M("return", []any{"a"}, "success", true))
	})
	c := m.client(m.options())
	data, err := c.Wheel(testContext(t), Call{Fun: "key.list_all"})
	if err != nil || !data.Map().Bool("success") {
		t.Errorf("got %v, %v", data, err)
	}
	want := payload.M("cmd", "wheel", "fun", "key.list_all", "kwarg", payload.NewMap(0), "arg", []any{}, "key",
		"the key", "user", "root")
	if load := m.load(); !load.Equal(want) {
		t.Errorf("load: got %v, want %v", load, want)
	}
	_, err = c.Wheel(testContext(t), Call{Fun: "key.list_all", Credentials: payload.M("token", "x")})
	if !errors.Is(err, ErrAuthentication) {
		t.Errorf("got %v, want ErrAuthentication", err)
	}
	if load := m.load(); load.Has("key") || load.Has("user") {
		t.Errorf("load with a token and a key: %v", load)
	}
}

func TestFireAndEvents(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return nil })
	c := m.client(m.options())
	events, err := c.Events(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	if err := c.Fire(testContext(t), "my/tag", payload.M("a", 1)); err != nil {
		t.Fatal(err)
	}
	body, err := events.Next(testContext(t))
	if err != nil || string(body[:8]) != "my/tag\n\n" {
		t.Errorf("got %q, %v", body, err)
	}
	if err := c.Fire(testContext(t), "", nil); err == nil {
		t.Error("an event without a tag was fired")
	}
}

// TestExchange: a master that sends requests to itself needs no connection.
func TestExchange(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any { return nil })
	opt := m.options()
	opt.Dial = nil
	opt.Exchange = func(_ context.Context, frame []byte) ([]byte, error) {
		req, err := payload.DecodeRequest(frame)
		if load, _ := req.Load.(*payload.Map); err != nil || load.Str("fun") != "test.ping" {
			t.Errorf("got %v, %v", req, err)
		}
		return payload.Marshal(published(jid1, "a"))
	}
	if pub, err := m.client(opt).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); err != nil ||
		pub.JID != jid1 {
		t.Errorf("got %+v, %v", pub, err)
	}
	opt.Exchange = func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	opt.Timeout = time.Millisecond
	if _, err := m.client(opt).Publish(testContext(t), Job{Tgt: "*", Fun: "test.ping"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
}
