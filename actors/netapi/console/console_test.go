package console

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/modules/matchers"
	"brine/wire/payload"
)

// fakeFront knows two users, and answers calls from a table.
type fakeFront struct {
	calls   chan *payload.Map
	bus     chan [2]any
	away    atomic.Bool // the master is away
	mute    atomic.Bool // the master does not answer
	ended   atomic.Bool // all sessions have ended
	lowered atomic.Bool // admin has only the rights of limited
	out     atomic.Pointer[string]
}

func (f *fakeFront) Login(_ context.Context, _ string, creds *payload.Map) (Session, error) {
	if creds.Str("password") != "right" {
		return Session{}, &problem{http.StatusUnauthorized, "Could not authenticate using provided credentials"}
	}
	return f.Session(context.Background(), creds.Str("username"))
}

func (f *fakeFront) MasterHere() error {
	if f.away.Load() {
		return errAway
	}
	return nil
}

func (f *fakeFront) Session(ctx context.Context, id string) (Session, error) {
	rules, ok := map[string][]any{"admin": {".*", "@runner", "@wheel"}, "limited": {"test.*"}, "root": {"test.*"},
		"sudo_ann": {"test.*"}, "daemon": {"test.*"}, "nobody": {}}[id]
	if f.lowered.Load() {
		rules = []any{"test.*"}
	}
	switch {
	case !ok || f.ended.Load():
		return Session{}, ErrNobody
	case f.away.Load():
		return Session{}, errAway
	}
	for f.mute.Load() {
		select {
		case <-ctx.Done():
			return Session{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return Session{ID: id, Token: "token of " + id, User: id, Rules: rules}, nil
}

func (f *fakeFront) Logout(_ context.Context, id string) { f.out.Store(&id) }

func (f *fakeFront) Run(_ context.Context, low *payload.Map) (any, error) {
	f.calls <- low
	switch low.Str("fun") {
	case "key.list_all":
		return payload.M("data", payload.M("success", true, "return", payload.M("minions", []any{"web1"}, "minions_pre",
			[]any{"web2", "<b>x</b>"}))), nil
	case "key.accept", "key.reject", "key.delete":
		return payload.M("data", payload.M("success", true, "return", f.keyAct(low))), nil
	}
	return nil, errors.New("unknown")
}

// keyAct returns the new state of the matching keys, as the functions of Salt do. Of the ids that begin with
// web, only one exists.
func (f *fakeFront) keyAct(low *payload.Map) *payload.Map {
	ids := low.List("match")
	if text, ok := low.Value("match").(string); ok {
		ids = payload.AnyList(strings.Split(text, ","))
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id any) bool { return !strings.HasPrefix(id.(string), "web") })
	if len(ids) == 0 {
		return payload.M()
	}
	return payload.M(map[string]string{"key.accept": "minions", "key.reject": "minions_rejected"}[low.Str("fun")], ids)
}

func (f *fakeFront) Events(context.Context) (Stream, error) { return fakeStream{f.bus}, nil }

type fakeStream struct{ bus chan [2]any }

func (s fakeStream) Next(ctx context.Context) (string, *payload.Map, error) {
	select {
	case e := <-s.bus:
		return e[0].(string), e[1].(*payload.Map), nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}
func (fakeStream) Up() bool { return true }
func (fakeStream) Close()   {}

type fakeFiles struct{}

func (fakeFiles) Expand(_ context.Context, tgt any, _ string) (matchers.Expansion, error) {
	if tgt == "(" {
		return matchers.Expansion{}, errors.New("missing bracket")
	}
	return matchers.Expansion{Minions: []string{"web1"}}, nil
}
func (fakeFiles) Grains(string, ...any) (*payload.Map, error) { return payload.M("os", "Debian"), nil }

// serve starts a console with fakes, beside a master without a control socket.
func serve(t *testing.T) (*httptest.Server, *fakeFront) {
	t.Helper()
	front := &fakeFront{calls: make(chan *payload.Map, 100), bus: make(chan [2]any, 1000)}
	s := httptest.NewServer(New(Options{Front: front, Files: fakeFiles{}, Version: "1", Eauths: func() []string {
		return []string{"pam"}
	}}))
	t.Cleanup(s.Close)
	return s, front
}

// send sends a request as a user. Requests other than GET get the write header. headers are names and values in
// turn.
func send(t *testing.T, s *httptest.Server, user, method, path, body string, headers ...string) (*http.Response,
	string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.AddCookie(&http.Cookie{Name: "session_id", Value: user})
	}
	if method != "GET" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(writeHeader, "1")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func TestRequests(t *testing.T) {
	s, _ := serve(t)
	accept := "/console/api/fleet/web2/key"
	for _, tt := range []struct {
		name, user, method, path, body string
		headers                        []string
		status                         int
		want                           string
	}{
		{"page", "", "GET", "/console/", "", nil, 200, `<script src="app.js" type="module">`},
		{"module", "", "GET", "/console/lib.js", "", nil, 200, "export function h"},
		{"nobody", "", "GET", "/console/api/session", "", nil, 200,
			`{"user":"","can":[],"eauths":["pam"],"brine":false,"missing":"","version":""}`},
		{"admin", "admin", "GET", "/console/api/session", "", nil, 200,
			`"can":["fleet","keys","grains","jobs","events","actors","stacks","run"]`},
		{"limited", "limited", "GET", "/console/api/session", "", nil, 200, `"can":["run"]`},
		{"without rules", "nobody", "GET", "/console/api/session", "", nil, 200, `"can":[]`},
		{"wrong password", "", "POST", "/console/api/login", `{"username":"admin","password":"x","eauth":"pam"}`, nil,
			401, "Could not authenticate"},
		{"right password", "", "POST", "/console/api/login", `{"username":"admin","password":"right","eauth":"pam"}`,
			nil, 200, `"user":"admin"`},
		{"no JSON", "", "POST", "/console/api/login", `{`, nil, 400, "not the JSON"},
		{"too large", "", "POST", "/console/api/login", `{"username":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413,
			"too large"},
		{"form", "", "POST", "/console/api/login", "username=admin", []string{"Content-Type",
			"application/x-www-form-urlencoded"}, 415, "application/json"},
		{"no header", "admin", "POST", accept, `{"act":"accept"}`, []string{writeHeader, ""}, 403, writeHeader},
		{"other site", "admin", "POST", accept, `{"act":"accept"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403,
			"other sites"},
		{"sister site", "admin", "GET", "/console/api/session", "", []string{"Sec-Fetch-Site", "same-site"}, 403,
			"other sites"},
		{"other origin", "admin", "POST", accept, `{"act":"accept"}`, []string{"Origin", "http://evil.example"}, 403,
			"other sites"},
		{"logged out", "", "POST", accept, `{"act":"accept"}`, nil, 401, "nobody is logged in"},
		{"no right", "limited", "POST", accept, `{"act":"accept"}`, nil, 403, "no rule"},
		{"accept", "admin", "POST", accept, `{"act":"accept"}`, nil, 200, `{"done":true}`},
		{"reject", "admin", "POST", accept, `{"act":"reject"}`, nil, 200, `{"done":true}`},
		{"accept a key that has gone", "admin", "POST", "/console/api/fleet/db1/key", `{"act":"accept"}`, nil, 404,
			"no key of db1 any more to accept"},
		{"reject a key that has gone", "admin", "POST", "/console/api/fleet/db1/key", `{"act":"reject"}`, nil, 404,
			"no key of db1 any more to reject"},
		{"delete a key that has gone", "admin", "POST", "/console/api/fleet/db1/key", `{"act":"delete"}`, nil, 200,
			`{"done":true}`},
		{"comma in an id", "admin", "POST", "/console/api/fleet/web1,web2/key", `{"act":"accept"}`, nil, 200,
			`{"done":true}`},
		{"glob for an id", "admin", "POST", "/console/api/fleet/web*/key", `{"act":"accept"}`, nil, 404,
			"no such minion"},
		{"odd act", "admin", "POST", accept, `{"act":"finger"}`, nil, 400, "accepted, rejected or deleted"},
		{"grains", "admin", "GET", "/console/api/fleet/web1/grains", "", nil, 200,
			`{"id":"web1","grains":{"os":"Debian"}}`},
		{"grains without right", "limited", "GET", "/console/api/fleet/web1/grains", "", nil, 403, "no rule"},
		{"target", "admin", "GET", "/console/api/target?tgt=web*", "", nil, 200,
			`{"count":1,"minions":["web1"],"missing":[]}`},
		{"bad target", "admin", "GET", "/console/api/target?tgt=(", "", nil, 400, "missing bracket"},
		{"no control socket", "admin", "GET", "/console/api/actor?path=master", "", nil, 503, "no control socket"},
		{"stack without right", "limited", "GET", "/console/api/actor/stack?path=master", "", nil, 403, "no rule"},
		{"stream without right", "limited", "GET", "/console/api/stream?view=actors", "", nil, 403, "no rule"},
		{"no such view", "admin", "GET", "/console/api/stream?view=x", "", nil, 400, "no such view"},
		{"no such address", "admin", "GET", "/console/api/x", "", nil, 404, "nothing at this address"},
		{"no such method", "admin", "DELETE", "/console/api/session", "", nil, 404, "nothing at this address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, text := send(t, s, tt.user, tt.method, tt.path, tt.body, tt.headers...)
			if res.StatusCode != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("%s %s: got %d %.300q, want %d %q", tt.method, tt.path, res.StatusCode, text, tt.status,
					tt.want)
			}
			if csp := res.Header.Get("Content-Security-Policy"); csp != policy {
				t.Errorf("policy %q", csp)
			}
			if res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("other sites may read this")
			}
		})
	}
}

// TestCookie: scripts in the page cannot read the cookie, and other sites cannot send it.
func TestCookie(t *testing.T) {
	s, _ := serve(t)
	res, _ := send(t, s, "", "POST", "/console/api/login", `{"username":"admin","password":"right","eauth":"pam"}`)
	got := res.Header.Get("Set-Cookie")
	for _, want := range []string{"session_id=admin", "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(got, want) {
			t.Errorf("cookie %q has no %s", got, want)
		}
	}
	if res, _ = send(t, s, "admin", "POST", "/console/api/logout", "{}"); !strings.Contains(
		res.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout leaves the cookie: %q", res.Header.Get("Set-Cookie"))
	}
}

// TestCommaInID: a key whose id contains a comma is one key, not those of the two minions that Salt's functions
// would read from it.
func TestCommaInID(t *testing.T) {
	s, front := serve(t)
	for _, act := range []string{"accept", "reject", "delete"} {
		send(t, s, "admin", "POST", "/console/api/fleet/"+url.PathEscape("web1,web2")+"/key", `{"act":"`+act+`"}`)
		if got := payload.Texts((<-front.calls).List("match")); !slices.Equal(got, []string{"web1,web2"}) {
			t.Errorf("%s: asked for %q", act, got)
		}
	}
}

// TestToken: the console does everything with the token of the user.
func TestToken(t *testing.T) {
	s, front := serve(t)
	send(t, s, "admin", "POST", "/console/api/fleet/web2/key", `{"act":"accept"}`)
	if low := <-front.calls; low.Str("token") != "token of admin" || low.Str("match") != "web2" ||
		low.Str("client") != "wheel" {
		t.Errorf("called %v", low)
	}
}

func TestRights(t *testing.T) {
	for _, tt := range []struct {
		rules []any
		can   string
	}{
		{[]any{".*"}, "run"},
		{[]any{"@wheel"}, "fleet keys stacks"},
		{[]any{"@runner"}, "fleet grains jobs events actors"},
		{[]any{"@jobs", "test.ping"}, "jobs run"},
		{[]any{"@key"}, "fleet keys"},
		{[]any{"@brine"}, "actors stacks"},
		{[]any{payload.M("@wheel", []any{"key.list_all"})}, "fleet"},
		{[]any{payload.M("web*", []any{"test.*"})}, "run"},
		{[]any{payload.M("@runner", []any{"manage.*"})}, "fleet"},
		{nil, ""},
		{[]any{1, nil}, ""},
	} {
		if got := strings.Join(rightsOf(tt.rules), " "); got != tt.can {
			t.Errorf("%v: got %q, want %q", tt.rules, got, tt.can)
		}
	}
}

func TestPatches(t *testing.T) {
	d := newDiffer("t")
	steps := []struct {
		now  rows
		set  []string
		gone []string
		ok   bool
	}{
		{rows{"a": 1, "b": 2}, []string{"a", "b"}, nil, true},
		{rows{"a": 1, "b": 2}, nil, nil, false},
		{rows{"a": 1, "b": 3, "c": 1}, []string{"b", "c"}, nil, true},
		{rows{"c": 1}, nil, []string{"a", "b"}, true},
		{rows{}, nil, []string{"c"}, true},
		{rows{"a": 1}, []string{"a"}, nil, true},
	}
	for i, s := range steps {
		p, ok := d.next(s.now)
		var set []string
		for k := range p.Set {
			set = append(set, k)
		}
		slices.Sort(set)
		if ok != s.ok || !slices.Equal(set, s.set) || !slices.Equal(p.Gone, s.gone) || p.Whole != (i == 0) {
			t.Errorf("step %d: %+v, %v", i, p, ok)
		}
	}
	many := rows{}
	for i := range maxRows + 5 {
		many[string(rune('a'+i%26))+string(rune(i))] = i
	}
	if p, _ := newDiffer("t").next(many); len(p.Set) > maxRows || p.More == 0 {
		t.Errorf("%d rows, %d more", len(p.Set), p.More)
	}
}

// TestStreams: a session can have a limited number of streams. A closed stream frees its place.
func TestStreams(t *testing.T) {
	c := &console{holds: newHolds(), streams: make(chan map[string]int, 1)}
	c.streams <- map[string]int{}
	var leave []func()
	for range maxUserStreams {
		l, ok := c.enter("a")
		if !ok {
			t.Fatal("too early")
		}
		leave = append(leave, l)
	}
	if _, ok := c.enter("a"); ok {
		t.Error("one more than there may be")
	}
	leave[0]()
	if _, ok := c.enter("a"); !ok {
		t.Error("no room again")
	}
}

// TestNothingInline: the page's HTML contains no script, style or handler. The page loads nothing from other
// sites, and makes no HTML from text.
func TestNothingInline(t *testing.T) {
	list, err := pageFiles.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		text, err := pageFiles.ReadFile("page/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<style", " style=", "onclick=\"", "innerHTML", "outerHTML", "insertAdjacentHTML",
			"document.write", "eval(", "new Function", "https://", "//cdn"} {
			if bytes.Contains(text, []byte(bad)) {
				t.Errorf("%s has %q", f.Name(), bad)
			}
		}
	}
}

var update = flag.Bool("update", false, "write docs/console-api.json anew")

// TestDescription compares the OpenAPI file with the real addresses.
func TestDescription(t *testing.T) {
	const file = "../../../docs/console-api.json"
	got := describe((&console{}).routes())
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/console-api.json is not what is served: go test ./actors/netapi/console -run TestDescription " +
			"-update")
	}
	s, _ := serve(t)
	if _, text := send(t, s, "", "GET", "/console/api/openapi.json", ""); !strings.Contains(text,
		`"/console/api/stream"`) {
		t.Errorf("served: %.200s", text)
	}
	for _, r := range (&console{}).routes() {
		if (r.do == nil) == (r.raw == nil) || (r.Body == nil) != (r.read == nil) || r.Help == "" {
			t.Errorf("%s %s: one of do and raw serves it, and a body is read", r.Method, r.Path)
		}
	}
}
