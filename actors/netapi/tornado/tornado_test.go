package tornado

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	api "brine/actors/netapi"
	"brine/actors/netapi/events"
	"brine/config"
	"brine/modules/netapi"
	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/payload"
)

// someToken is the eauth token of the only user.
const someToken = "feedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeedfeed"

// fake is the daemon behind the server. It answers chunks with run and keeps them.
type fake struct {
	api.API
	run    func(low *payload.Map) (any, error)
	ran    []*payload.Map
	fired  *payload.Map
	tag    string
	away   bool
	vain   int // questions about tokens while the master is away; each would wait for its timeout
	hub    *events.Hub
	tokens *feed.Tokens
}

func (f *fake) Config() *config.Netapi {
	return &config.Netapi{NetapiLive: config.NetapiLive{ExternalAuth: payload.M("sharedsecret",
		payload.M("admin", []any{".*"}))}}
}

func (f *fake) MasterHere() error {
	if f.away {
		return netapi.MasterGone()
	}
	return nil
}

func (f *fake) Login(_ context.Context, _ string, creds *payload.Map) (api.Login, error) {
	if creds.Str("password") != "sekrit" {
		return api.Login{}, netapi.Unauthorized("")
	}
	l := api.Login{Token: someToken, Start: 1.5, Expire: 2.5, Name: creds.Str("username"), Eauth: creds.Str("eauth"),
		Perms: payload.NewMap(0)}
	if l.Name == "admin" {
		l.Perms = []any{".*"}
	}
	return l, nil
}

func (f *fake) Token(_ context.Context, token string) (*payload.Map, error) {
	switch {
	case f.away:
		f.vain++
		return nil, netapi.MasterGone()
	case token == someToken:
		return payload.M("expire", float64(time.Now().Add(time.Hour).Unix())), nil
	case token == "01d":
		return payload.M("expire", 5), nil
	}
	return nil, netapi.Unauthorized("")
}

func (f *fake) Unlisted(_ context.Context, low *payload.Map, _ time.Duration) (any, error) {
	f.ran = append(f.ran, low)
	return f.run(low)
}

func (f *fake) Fire(_ context.Context, tag string, data *payload.Map) error {
	f.tag, f.fired = tag, data
	return nil
}

func (f *fake) Hub() *events.Hub     { return f.hub }
func (f *fake) Tokens() *feed.Tokens { return f.tokens }

func newFake() *fake {
	return &fake{run: func(low *payload.Map) (any, error) { return payload.M(low.Value("tgt"), true), nil }}
}

func serverOf(f *fake, conf config.Tornado) http.Handler {
	conf.TokenDigits, conf.MaxRequestBodySize = 64, 1<<20
	return New(f, Options{Config: &conf, Logger: slog.New(slog.DiscardHandler), Gather: time.Second})
}

// ask sends a request. headers are lines; the body of a JSON request needs no type.
func ask(h http.Handler, method, path, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

const auth = "X-Auth-Token: " + someToken

// TestAnswers: the answers are those of vectors/api tornado_basic and the recorded ones of 3008.3. Comments
// mark the differences.
func TestAnswers(t *testing.T) {
	page := func(text string) string { return "<html><title>" + text + "</title><body>" + text + "</body></html>" }
	const welcomeText = `{"clients": ["local", "local_async", "runner", "runner_async"], "return": "Welcome"}`
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", "/", "", nil, 200, welcomeText},
		{"GET", "/run", "", []string{"Accept: text/html, application/*;q=0.1"}, 200, welcomeText},
		{"GET", "/", "", []string{"Accept: application/x-yaml, application/json"}, 200,
			"clients: [local, local_async, runner, runner_async]\nreturn: Welcome\n"},
		{"GET", "/", "", []string{"Accept: text/html"}, 406, page("406: Not Acceptable")},
		{"HEAD", "/", "", nil, 405, ""},
		{"PUT", "/", "{}", nil, 405, page("405: Method Not Allowed")},
		{"GET", "/nope", "", nil, 404, page("404: Not Found")},
		{"GET", "/logout", "", nil, 404, page("404: Not Found")},
		{"GET", "/login", "", nil, 401, `{"status": "401 Unauthorized", "return": "Please log in"}`},
		{"POST", "/login", `{"username": "admin", "password": "sekrit", "eauth": "sharedsecret"}`, nil, 200,
			`{"return": [{"token": "` + someToken +
				`", "expire": 2.5, "start": 1.5, "user": "admin", "eauth": "sharedsecret", "perms": [".*"]}]}`},
		{"POST", "/login", "username=nobody&password=sekrit&eauth=sharedsecret",
			[]string{"Content-Type: application/x-www-form-urlencoded"}, 200,
			`{"return": [{"token": "` + someToken +
				`", "expire": 2.5, "start": 1.5, "user": "nobody", "eauth": "sharedsecret", "perms": []}]}`},
		{"POST", "/login", `[{"username": "admin", "password": "sekrit", "eauth": "sharedsecret"}]`, nil, 400,
			page("400: Bad Request")},
		{"POST", "/login", `{"username": "admin"}`, nil, 400, page("400: Bad Request")},
		{"POST", "/login", `{"username": "admin", "password": "bad", "eauth": "sharedsecret"}`, nil, 401,
			page("401: Unauthorized")},
		{"POST", "/login", `{"username": "admin", "password": "sekrit", "eauth": "nosuch"}`, nil, 401,
			page("401: Unauthorized")},
		{"POST", "/login", "{bad", nil, 400, page("400: Bad Request")},
		{"POST", "/login", "{bad", []string{"Content-Type: text/plain"}, 400, page("400: Bad Request")},
		{"POST", "/login", "x", []string{"Content-Type: application/xml"}, 406, page("406: Not Acceptable")},
		{"POST", "/login", "x", []string{"Content-Type: "}, 406, page("406: Not Acceptable")},
		{"POST", "/login", "", nil, 500, page("500: Internal Server Error")},
		{"POST", "/", `[{"client": "local", "tgt": "*", "fun": "test.ping"}]`, nil, 302, ""},
		{"POST", "/", `[{"client": "local", "tgt": "*", "fun": "test.ping"}]`, []string{"X-Auth-Token: zz"}, 302, ""},
		{"POST", "/", `[{"client": "local", "tgt": "*", "fun": "test.ping"}]`, []string{"X-Auth-Token: 01d"}, 302, ""},
		{"POST", "/", `[{"client": "local", "tgt": "*", "fun": "test.ping"}]`,
			[]string{"X-Auth-Token: ../../etc/passwd"}, 302, ""},
		{"POST", "/", `[{"client": "local", "tgt": "m1", "fun": "test.ping"}]`, []string{auth}, 200,
			`{"return": [{"m1": true}]}`},
		{"POST", "/", `{"client": "local", "tgt": "m1", "fun": "test.ping"}`,
			[]string{"Cookie: session_id=" + someToken}, 200, `{"return": [{"m1": true}]}`},
		{"POST", "/events", `{"client": "local", "tgt": "m1", "fun": "test.ping"}`, []string{auth}, 200,
			`{"return": [{"m1": true}]}`},
		{"POST", "/", `[{"client": "wheel", "fun": "key.list_all"}]`, []string{auth}, 400, textNoClient},
		{"POST", "/", `[{"client": "local", "fun": "test.ping"}]`, []string{auth}, 200,
			`{"return": ["Unexpected exception while handling request: 'tgt'"]}`},
		{"POST", "/", `[]`, []string{auth}, 200, `{"return": []}`},
		{"POST", "/", `{}`, []string{auth}, 400, textNoClient},
		{"POST", "/", `["x"]`, []string{auth}, 400, textNoClient},
		{"POST", "/", `"x"`, []string{auth}, 400, textNoClient},
		{"POST", "/", `null`, []string{auth}, 400, page("400: Bad Request")}, // Salt does not answer
		{"POST", "/", "", []string{auth}, 400, page("400: Bad Request")},     // Salt does not answer
		{"GET", "/minions", "", []string{auth}, 200, `{"return": [{"*": true}]}`},
		{"GET", "/minions/m1", "", []string{auth}, 200, `{"return": [{"m1": true}]}`},
		{"GET", "/minions", "", nil, 302, ""},
		{"POST", "/minions", `[{"tgt": "*", "fun": "test.ping"}]`, []string{auth}, 200, `{"return": [{"*": true}]}`},
		{"POST", "/minions", `[{"tgt": "*", "fun": "test.ping", "client": "local"}]`, []string{auth}, 400,
			textOnlyAsync},
		// Salt: 500
		{"POST", "/minions/m1", `[{"tgt": "*", "fun": "test.ping"}]`, []string{auth}, 405,
			page("405: Method Not Allowed")},
		{"GET", "/jobs/1", "", []string{auth}, 200, `{"return": [{null: true}]}`},
		{"POST", "/run", `[{"client": "local", "tgt": "m1", "fun": "test.ping"}]`, nil, 200,
			`{"return": ["Failed to authenticate"]}`},
		{"POST", "/run", `[{"client": "local", "tgt": "m1", "fun": "test.ping", "token": "no hex"}]`, nil, 200,
			`{"return": ["Failed to authenticate"]}`},
		{"POST", "/run",
			`[{"client": "local", "tgt": "m1", "fun": "test.ping", "username": "a", "password": "b", "eauth": "c"}]`,
			nil, 200, `{"return": [{"m1": true}]}`},
		{"POST", "/hook/a/b?q=1", `{"foo": "bar"}`, []string{auth}, 200, `{"success": true}`},
		{"POST", "/hook", `{"foo": "bar"}`, nil, 302, ""},
		{"POST", "/hook", "", []string{auth}, 500, page("500: Internal Server Error")},
		{"GET", "/events", "", nil, 302, ""},
		{"OPTIONS", "/", "", nil, 500, page("500: Internal Server Error")},
		{"OPTIONS", "/", "", []string{"Access-Control-Request-Headers: x-auth-token"}, 204, ""},
		{"GET", "/all_events/" + someToken, "", nil, 404, page("404: Not Found")}, // websockets are off
		{"POST", "/run", strings.Repeat(" ", 1<<20) + "[]", nil, 413, page("413: Request Entity Too Large")},
	} {
		got := ask(serverOf(newFake(), config.Tornado{}), tt.method, tt.path, tt.body, tt.headers...)
		text, err := io.ReadAll(got.Body)
		want := strings.ReplaceAll(tt.want, "{null:", `{"null":`)
		if got.StatusCode != tt.status || string(text) != want || err != nil {
			t.Errorf("%s %s %.80s %v:\ngot  %d %s\nwant %d %s", tt.method, tt.path, tt.body, tt.headers, got.StatusCode,
				text, tt.status, want)
		}
		if to := got.Header.Get("Location"); tt.status == 302 && to != "/login" {
			t.Errorf("%s %s: location %q", tt.method, tt.path, to)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := serverOf(newFake(), config.Tornado{CORSOrigin: []string{"http://ui.example"}})
	got := ask(h, "GET", "/", "", "Origin: http://ui.example")
	tag := got.Header.Get("Etag")
	if got.Header.Get("Access-Control-Allow-Origin") != "http://ui.example" || len(tag) != 42 {
		t.Errorf("got %v", got.Header)
	}
	if again := ask(h, "GET", "/", "", "If-None-Match: "+tag); again.StatusCode != 304 {
		t.Errorf("the same again: %d", again.StatusCode)
	}
	for _, origin := range []string{"http://evil.example", "null", ""} {
		if got := ask(h, "GET", "/", "", "Origin: "+origin).Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("origin %q: %q", origin, got)
		}
	}
	login := ask(h, "POST", "/login", `{"username": "admin", "password": "sekrit", "eauth": "sharedsecret"}`)
	if cookie := login.Header.Get("Set-Cookie"); cookie != "session_id="+someToken+"; Path=/; HttpOnly; SameSite=Lax" {
		t.Errorf("cookie %q", cookie)
	}
	any := serverOf(newFake(), config.Tornado{CORSOrigin: []string{"*"}})
	if got := ask(any, "GET", "/", "", "Origin: http://x").Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("any origin: %q", got)
	}
}

func TestWhatGoesWrong(t *testing.T) {
	const unexpected = "Unexpected exception while handling request: "
	local, runner := `{"client": "local", "tgt": "m1", "fun": "x.y"}`, `{"client": "runner", "fun": "x.y"}`
	for _, tt := range []struct {
		chunk  string
		err    error
		status int
		want   string
		ran    int // how many of the two chunks run
	}{
		{local, nil, 200, textNobody, 2},
		{local, netapi.Unauthorized("Authorization error occurred."), 200, textNotAllowed, 1},
		{runner, netapi.Unauthorized(`Authentication failure of type "token" occurred for user x.`), 200,
			unexpected + `Authentication failure of type "token" occurred for user x.`, 2},
		{runner, netapi.Unauthorized(`Authentication failure of type "eauth" occurred for user x.`), 200,
			textNotAllowed, 1},
		{runner, netapi.ErrUnexpected, 200, unexpected + "'x.y' is not available.", 2},
		{runner, &netapi.Error{Status: 504}, 200, textLate, 2},
		{local, netapi.BadRequest("bad target"), 200, unexpected + "bad target", 2},
		{local, errors.New("/secret/path: broken"), 200, unexpected + "An unexpected error occurred", 2},
		{local, netapi.MasterGone(), 503, "", 1},
	} {
		f := newFake()
		f.run = func(*payload.Map) (any, error) { return nil, tt.err }
		got := ask(serverOf(f, config.Tornado{}), "POST", "/", "["+tt.chunk+", "+tt.chunk+"]", auth)
		text, _ := io.ReadAll(got.Body)
		quoted, _ := netapi.JSON(tt.want)
		if got.StatusCode != tt.status || tt.status == 200 && !strings.HasPrefix(string(text),
			`{"return": [`+string(quoted)) || len(f.ran) != tt.ran {
			t.Errorf("%s, %v: got %d %s after %d chunks", tt.chunk, tt.err, got.StatusCode, text, len(f.ran))
		}
	}
}

// TestNothingRunsBesideABadClient: nothing runs if one chunk names an unknown client.
func TestNothingRunsBesideABadClient(t *testing.T) {
	f := newFake()
	got := ask(serverOf(f, config.Tornado{}), "POST", "/",
		`[{"client": "local", "tgt": "m1", "fun": "test.ping"}, {"client": "nosuch"}]`, auth)
	if got.StatusCode != 400 || len(f.ran) != 0 {
		t.Errorf("%d, ran %v", got.StatusCode, f.ran)
	}
}

func TestChunks(t *testing.T) {
	f := newFake()
	h := serverOf(f, config.Tornado{})
	ask(h, "POST", "/?tgt=m7", "client=local&fun=test.arg&arg=1&arg=a%3Db&kwarg=+x+", auth,
		"Content-Type: application/x-www-form-urlencoded")
	want := payload.M("tgt", "m7", "client", "local", "fun", "test.arg", "arg", []any{"1", "a=b"}, "kwarg", "x",
		"token", someToken)
	if len(f.ran) != 1 || !f.ran[0].Equal(want) {
		t.Fatalf("got  %v\nwant %v", f.ran, want)
	}
	ask(h, "GET", "/jobs/2026", "", auth)
	ask(h, "GET", "/jobs", "", auth)
	ask(h, "POST", "/run",
		`{"client": "local", "tgt": "a", "fun": "b", "arg": "one", "full_return": true, "token": "f00"}`, auth)
	ask(h, "POST", "/", `[{"client": "runner", "fun": "a.b", "timeout": 1}, {"client": "runner", "fun": "a.b", "kwarg": {"x": 1}, "timeout": 2},
		{"client": "runner", "fun": "a.b", "kwarg": "x", "timeout": 3}]`, auth)
	for i, want := range []*payload.Map{payload.M("fun", "jobs.list_job", "jid", "2026", "client", "runner", "token",
		someToken),
		payload.M("fun", "jobs.list_jobs", "client", "runner", "token", someToken),
		payload.M("client", "local", "tgt", "a", "fun", "b", "arg", []any{"one"}, "token", "f00"),
		payload.M("client", "runner", "fun", "a.b", "token", someToken, "kwarg", payload.M("timeout", int64(1))),
		payload.M("client", "runner", "fun", "a.b", "kwarg", payload.M("x", int64(1), "timeout", int64(2)), "token",
			someToken),
		payload.M("client", "runner", "fun", "a.b", "kwarg", "x", "timeout", int64(3), "token", someToken)} {
		if got := f.ran[i+1]; !got.Equal(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

func TestHook(t *testing.T) {
	f := newFake()
	ask(serverOf(f, config.Tornado{}), "POST", "/hook/a%20b/c?q=1&q=2&r=3", `[1]`, auth, "X-Odd: sees "+someToken)
	if f.tag != "salt/netapi/hook/a b/c" || !payload.Equal(f.fired.Value("post"), []any{int64(1)}) ||
		!f.fired.Map("get").Equal(payload.M("q", []any{"1", "2"}, "r", "3")) {
		t.Errorf("got %s %v", f.tag, f.fired)
	}
	for k, v := range f.fired.Map("headers").All() {
		if strings.Contains(v.(string), someToken) {
			t.Errorf("the token is told in %v", k)
		}
	}
	f = newFake()
	for _, path := range []string{"a%0Ab", "%00", "%1b[31m", "%ff", "salt/job/20261125224609376131/ret/web1",
		strings.Repeat("a", 9000)} {
		if got := ask(serverOf(f, config.Tornado{}), "POST", "/hook/"+path, `{}`, auth); got.StatusCode != 400 ||
			f.tag != "" {
			t.Errorf("%.40s: %d, fired %.40q", path, got.StatusCode, f.tag)
		}
	}
	if got := ask(serverOf(f, config.Tornado{WebhookDisableAuth: true}), "POST", "/hook",
		`{}`); got.StatusCode != 200 || f.tag != "salt/netapi/hook" {
		t.Errorf("without a token: %d %s", got.StatusCode, f.tag)
	}
}

func TestAMasterThatIsAway(t *testing.T) {
	f := newFake()
	f.away = true
	h := serverOf(f, config.Tornado{Websockets: true})
	for _, path := range []string{"/events", "/minions", "/jobs", "/all_events/" + someToken} {
		if got := ask(h, "GET", path, "", auth); got.StatusCode != 503 {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if f.vain > 0 {
		t.Errorf("a master that is away was asked %d times", f.vain)
	}
}

func TestWebsocketsAreRefused(t *testing.T) {
	up := []string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	other := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		path    string
		headers []string
		origins []string // cors_origin
		status  int
		want    string
	}{
		{"/all_events/zz", up, nil, 404, ""},
		{"/all_events/" + someToken[2:], up, nil, 404, ""},
		{"/all_events/" + someToken[1:] + "g", up, nil, 404, ""},
		{"/all_events/" + other, up, nil, 401, ""},
		{"/formatted_events/" + other, up, nil, 401, ""},
		{"/all_events/" + someToken, nil, nil, 400, `Can "Upgrade" only to "WebSocket".`},
		{"/all_events/" + someToken, []string{"Upgrade: websocket"}, nil, 400, `"Connection" must be "Upgrade".`},
		{"/all_events/" + someToken, append(slices.Clone(up), "Sec-WebSocket-Version: 8"), nil, 426, ""},
		{"/all_events/" + someToken, append(slices.Clone(up), "Origin: http://evil.example"), nil, 403,
			"Cross origin websockets not allowed"},
		{"/all_events/" + someToken, append(slices.Clone(up), "Origin: http://example.com"),
			[]string{"http://ui.example"}, 403, "Cross origin websockets not allowed"},
	} {
		got := ask(serverOf(newFake(), config.Tornado{Websockets: true, CORSOrigin: tt.origins}), "GET", tt.path, "",
			tt.headers...)
		text, _ := io.ReadAll(got.Body)
		if got.StatusCode != tt.status || tt.want != "" && string(text) != tt.want {
			t.Errorf("%s %v: got %d %s, want %d %s", tt.path, tt.headers, got.StatusCode, text, tt.status, tt.want)
		}
	}
}

// TestEvents reads the stream as a browser does: it asks for it by type.
func TestEvents(t *testing.T) {
	f := newFake()
	bodies := make(chan []byte, 1)
	f.hub = events.New(events.Options{Subscribe: func(context.Context) (events.Source, error) {
		return source(bodies), nil
	}})
	f.tokens = feed.NewTokens(f.Token)
	sup := actortest.Start(t, supervisor.Options{Name: "salt-api"})
	actortest.Add(t, sup, f.hub.Spec())
	server := httptest.NewServer(serverOf(f, config.Tornado{}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Cookie", "session_id="+someToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer func() { _ = res.Body.Close() }()
	bodies <- []byte("salt/x\n\n\x80")
	want := "retry: 400\ntag: salt/x\ndata: {\"data\": {}, \"tag\": \"salt/x\"}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want ||
		res.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("got %q, %v, %v", got, res.Header, err)
	}
}

// source is a bus.
type source chan []byte

func (s source) Next(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s source) Close() error { return nil }

// TestOtherPages: a page of another origin cannot run anything with the cookie of its visitor, and cannot log
// in.
func TestOtherPages(t *testing.T) {
	const low = `[{"client": "local", "tgt": "m1", "fun": "test.ping"}]`
	const login = `{"username": "admin", "password": "sekrit", "eauth": "sharedsecret"}`
	const cookie = "Cookie: session_id=" + someToken
	f := newFake()
	f.run = func(*payload.Map) (any, error) { return true, nil }
	for _, tt := range []struct {
		name    string
		headers []string
		may     bool
	}{
		{"a program", nil, true},
		{"a page of this server", []string{"Origin: http://example.com"}, true},
		{"the same behind a proxy", []string{"Origin: https://salt.example", "Sec-Fetch-Site: same-origin"}, true},
		{"a page that is named", []string{"Origin: https://ui.example", "Sec-Fetch-Site: cross-site"}, true},
		{"another page", []string{"Origin: https://evil.example"}, false},
		{"a page that hides", []string{"Origin: null"}, false},
		{"another port", []string{"Origin: http://example.com:81", "Sec-Fetch-Site: same-site"}, false},
		{"a picture", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"}, false},
	} {
		h := serverOf(f, config.Tornado{CORSOrigin: []string{"https://ui.example"}})
		for _, post := range [][2]string{{"/", low}, {"/minions", `[{"tgt": "m1", "fun": "test.ping"}]`},
			{"/jobs", low}, {"/hook/x", "{}"}} {
			want := map[bool]int{true: 200, false: 302}[tt.may]
			if got := ask(h, "POST", post[0], post[1], append(slices.Clone(tt.headers), cookie,
				"Content-Type: text/plain")...); got.StatusCode != want {
				t.Errorf("%s, %s: %d, want %d", tt.name, post[0], got.StatusCode, want)
			}
		}
		for _, path := range []string{"/minions", "/jobs"} {
			want := map[bool]int{true: 200, false: 302}[tt.may]
			if got := ask(h, "GET", path, "", append(slices.Clone(tt.headers), cookie)...); got.StatusCode != want {
				t.Errorf("%s, %s: %d, want %d", tt.name, path, got.StatusCode, want)
			}
		}
		for _, kind := range []string{"application/json", "text/plain", "application/x-www-form-urlencoded"} {
			body, want := login, map[bool]int{true: 200, false: 403}[tt.may]
			if strings.HasSuffix(kind, "encoded") {
				body = "username=admin&password=sekrit&eauth=sharedsecret"
			}
			got := ask(h, "POST", "/login", body, append(slices.Clone(tt.headers), "Content-Type: "+kind)...)
			if set := got.Header.Get("Set-Cookie") != ""; got.StatusCode != want || set != tt.may {
				t.Errorf("%s, %s: log-in %d, cookie %v", tt.name, kind, got.StatusCode, set)
			}
		}
		with := strings.Replace(low, "{", `{"username": "admin", "password": "sekrit", "eauth": "sharedsecret", `, 1)
		if got := ask(h, "POST", "/run", with, append(slices.Clone(tt.headers),
			"Content-Type: text/plain")...); got.StatusCode != map[bool]int{true: 200, false: 403}[tt.may] {
			t.Errorf("%s, /run: %d", tt.name, got.StatusCode)
		}
		if got := ask(h, "POST", "/", low, append(slices.Clone(tt.headers), auth)...); got.StatusCode != 200 {
			t.Errorf("%s, with the token in the header: %d", tt.name, got.StatusCode)
		}
	}
}
