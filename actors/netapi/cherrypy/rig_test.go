package cherrypy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/actors/netapi"
	"brine/actors/netapi/cherrypy"
	"brine/config"
	"brine/modules/loader"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// fakeMaster answers as a master with one minion, m1, which never returns test.sleep. It knows the password
// sekrit.
type fakeMaster struct {
	gone   atomic.Bool
	subs   sync.Map // set of chan []byte
	events sync.Map // tag → data
	asked  chan string
	failed atomic.Int64 // failed log-ins
	tokens atomic.Int64 // questions with invalid tokens
	docs   chan string  // gets salt-api's own questions; nil: the master refuses them
	loads  sync.Map     // set of the loads (*payload.Map) that the master got
	vain   atomic.Int64 // questions while the master is gone; each would wait for its timeout
}

// known is the only valid eauth token.
var known = strings.Repeat("ab", 32)

func (m *fakeMaster) exchange(_ context.Context, frame []byte) ([]byte, error) {
	req, err := payload.DecodeRequest(frame)
	if err != nil {
		return nil, err
	}
	if m.gone.Load() {
		m.vain.Add(1)
	}
	load, _ := req.Load.(*payload.Map)
	m.loads.Store(load, true)
	var reply any = payload.NewMap(0)
	who := load
	if payload.Command(load) == payload.CmdPublish {
		who = load.Map("kwargs")
	}
	ok := who.Str("token") == known || who.Str("password") == "sekrit"
	if !ok && who.Has("password") {
		m.failed.Add(1)
	}
	if !ok && who.Has("token") {
		m.tokens.Add(1)
	}
	switch cmd := payload.Command(load); {
	case cmd == payload.CmdRunner && m.docs != nil && !who.Has("token") && !who.Has("password"):
		m.docs <- load.Str("fun")
		reply = payload.M("tag", "salt/run/docs", "jid", "docs")
	case cmd == payload.CmdRunner && ok && load.Str("fun") == "site.lost": // Salt starts it and never answers
		reply = payload.M("tag", "salt/run/lost", "jid", "lost")
	case cmd == payload.CmdMkToken && !ok:
		reply = ""
	case cmd == payload.CmdMkToken, cmd == payload.CmdGetToken && ok:
		reply = payload.M("token", known, "start", 1.5, "expire", float64(time.Now().Add(time.Hour).Unix()), "name",
			load.Str("username"), "eauth", "pam")
	case cmd == payload.CmdGetToken:
	case !ok:
		reply = payload.M("error", payload.M("name", "EauthAuthenticationError", "message",
			"Authentication error occurred."))
	case cmd == payload.CmdPublish:
		reply = m.publish(load)
	case cmd == payload.CmdRunner:
		jid := payload.NewJID(time.Now())
		m.fire("salt/run/"+jid+"/ret", payload.M("fun", "runner."+load.Str("fun"), "return", load.Map("kwarg"), "jid",
			jid, "success", !strings.HasPrefix(load.Str("fun"), "fails.")))
		reply = payload.M("tag", "salt/run/"+jid, "jid", jid)
	case cmd == payload.CmdWheel:
		reply = payload.M("tag", "salt/wheel/1", "data", payload.M("return", payload.M("minions", []any{"m1"}, "pub",
			"PUB", "priv", "PRIV")))
	}
	return payload.Marshal(reply)
}

func (m *fakeMaster) publish(load *payload.Map) any {
	jid := payload.NewJID(time.Now())
	if load.Str("fun") == "test.sleep" {
		m.asked <- jid
	} else {
		m.fire(event.TagJobReturn(jid, "m1"), payload.M("cmd", "_return", "id", "m1", "jid", jid, "fun",
			load.Value("fun"), "return", load.Value("arg"), "retcode", int64(0), "success", true))
	}
	return payload.M("enc", "clear", "load", payload.M("jid", jid, "minions", []any{"m1"}))
}

func (m *fakeMaster) fire(tag string, data *payload.Map) {
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		panic(err)
	}
	m.subs.Range(func(sub, _ any) bool {
		sub.(chan []byte) <- body
		return true
	})
}

// Subscribe connects to the bus.
func (m *fakeMaster) Subscribe(context.Context) (client.Events, error) {
	s := &fakeSub{m: m, c: make(chan []byte, 1000)}
	m.subs.Store(s.c, true)
	return s, nil
}

// Push stores a fired event.
func (m *fakeMaster) Push(_ context.Context, body []byte) error {
	tag, data, err := event.Unpack(body)
	m.events.Store(tag, data)
	return err
}

type fakeSub struct {
	m *fakeMaster
	c chan []byte
}

func (s *fakeSub) Next(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.c:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *fakeSub) Close() error {
	s.m.subs.Delete(s.c)
	return nil
}

// site is a running salt-api beside a fake master.
type site struct {
	t      *testing.T
	master *fakeMaster
	srv    *netapi.Server
	config *config.Master
	addr   string

	revoked chan string // revoked tokens
	source  string      // address of the client, if not the default
}

// open starts a salt-api with a section rest_cherrypy. clients extends the enabled clients.
func open(t *testing.T, section *payload.Map, clients ...any) *site {
	t.Helper()
	return openWithin(t, 0, section, clients...)
}

// openWithin is open with a time limit for short bodies; 0 means the default.
func openWithin(t *testing.T, within time.Duration, section *payload.Map, clients ...any) *site {
	t.Helper()
	raw := payload.M("rest_cherrypy", payload.M("port", int64(0), "disable_ssl", true, "host", "127.0.0.1"),
		"netapi_enable_clients", append(clients, "local", "local_async", "runner", "wheel"))
	raw.Map("rest_cherrypy").Update(section)
	m := &config.Master{Common: config.Common{Raw: raw}}
	conf, err := m.NetapiOptions()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, config: m, master: &fakeMaster{asked: make(chan string, 10)}, revoked: make(chan string, 10)}
	front := conf.CherryPy.Front
	front.MaxConnections = min(front.MaxConnections, 200)
	bound := make(chan string, 1)
	log := slog.New(slog.DiscardHandler)
	s.srv, err = netapi.Start(netapi.Options{Config: conf, Master: m, Logger: log,
		Client: client.New(client.Options{Bus: s.master, Exchange: s.master.exchange, IPCMode: "tcp",
			Gate: netapi.NewLogInGate(40, log).Pass, Timeout: 20 * time.Second}),
		Revoke: func(token string) error { s.revoked <- token; return nil },
		MasterAlive: func() error {
			if s.master.gone.Load() {
				return syscall.ECONNREFUSED
			}
			return nil
		},
		Runners: func(fun string) (*loader.Func, bool) {
			return nil, fun != "no.such"
		}, Ours: func() bool { return false },
		MayRun: func(_ context.Context, tok, low *payload.Map) bool {
			return tok.Str("token") == known && low.Str("fun") == "test.ping"
		},
		Modules: []netapi.Module{{Name: "rest_cherrypy",
			Listen: netapi.Listen{Host: "127.0.0.1", Front: front, Logger: log, Bound: func(addr string) {
				bound <- addr
			}}.Secured(!conf.CherryPy.DisableSSL, conf.CherryPy.SSLCrt, conf.CherryPy.SSLKey, ""),
			Handler: func(a netapi.API) (http.Handler, error) {
				return cherrypy.New(a, cherrypy.Options{Config: conf.CherryPy, Logger: log, BodyWithin: within})
			}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if report, err := s.srv.Stop(20 * time.Second); err != nil || len(report.Abandoned) > 0 {
			t.Errorf("stop: %v, abandoned %v", err, report.Abandoned)
		}
	})
	s.addr = <-bound
	return s
}

// answer is an answer with its body.
type answer struct {
	*http.Response
	body string
}

// ask sends a request. headers are "Name: value".
func (s *site) ask(method, path, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	tr := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	if s.source != "" {
		tr.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.source)}}).DialContext
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp, string(b)}
}

// expect compares the status and, unless it is empty, the body. JSON is compared by its values.
func (s *site) expect(what string, got answer, status int, body string) {
	s.t.Helper()
	if got.StatusCode != status {
		s.t.Errorf("%s: status %d, want %d\n%s", what, got.StatusCode, status, got.body)
	}
	var have, want any
	if json.Unmarshal([]byte(body), &want) == nil && json.NewDecoder(bytes.NewReader([]byte(got.body))).Decode(
		&have) == nil {
		if d := cmp.Diff(want, have); d != "" {
			s.t.Errorf("%s: %s", what, d)
		}
		return
	}
	if !strings.Contains(got.body, body) {
		s.t.Errorf("%s: got %q, want %q", what, got.body, body)
	}
}

const creds = `{"username":"ann","password":"sekrit","eauth":"pam"}`

// login opens a session and returns its id.
func (s *site) login() string {
	s.t.Helper()
	a := s.ask("POST", "/login", creds)
	if a.StatusCode != http.StatusOK {
		s.t.Fatalf("log-in: %d %s", a.StatusCode, a.body)
	}
	return a.Header.Get("X-Auth-Token")
}
