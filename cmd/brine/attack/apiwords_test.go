package attack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

const wordsConf = "external_auth: {sharedsecret: {fred: ['.*', '@runner', '@wheel'], limited: [test.echo, '@wheel', " +
	"'@runner'], nobody: []}}\nsharedsecret: Op3nSesame\n" +
	"netapi_enable_clients: [local, local_async, local_batch, local_subset, runner, runner_async, wheel, " +
	"wheel_async]\nlogin_failures_max: 0\n" +
	"rest_cherrypy: {port: %d, host: 127.0.0.1, disable_ssl: True}\nrest_tornado: {port: %d, address: 127.0.0.1, " +
	"disable_ssl: True}\nrest_wsgi: {port: %d}\n"

// TestAPIWordsOfMasters: a logged-in user sends fields that only masters, syndics and their tools may set: own
// rules, the owner of a job, a tag. The test tries each server of salt-api, each form and each spelling, and
// the master's own port. The fields never have an effect.
func TestAPIWordsOfMasters(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	ports := []int{s.port(), s.port(), s.port()}
	s.writeMaster(fmt.Sprintf(wordsConf, ports[0], ports[1], ports[2]))
	s.startMaster()
	s.startMinion(honest, "")
	d := s.start("api", filepath.Join(links, "salt-api"), "-c", s.path("etc/m"), "-l", "debug")
	t.Cleanup(d.kill)
	for _, port := range ports {
		s.eventually("salt-api", func() error {
			_, err := s.post(port, "GET", "/", "", "", nil)
			return err
		})
	}
	bus := s.listen()
	for _, user := range []string{"limited", "nobody"} {
		cherry, tornado := s.sessionOf(ports[0], user), s.sessionOf(ports[1], user)
		for _, words := range wordsOfMasters {
			for _, client := range []string{"local", "local_async", "local_batch", "local_subset"} {
				chunk := fmt.Sprintf(`{"client": %q, "tgt": "*", "fun": "cmd.run", "arg": ["echo forged"], %s}`, client,
					words)
				full := strings.Replace(chunk, "{", "{"+strings.Trim(credentials(user, "Op3nSesame"), "{}")+", ", 1)
				s.nothing(ports[0], "/run", full, "application/json", nil)
				s.nothing(ports[0], "/run", full, "application/x-yaml", nil)
				s.nothing(ports[0], "/", chunk, "application/json", cherry)
				s.nothing(ports[0], "/minions", chunk, "application/json", cherry)
				s.nothing(ports[1], "/", chunk, "application/json", tornado)
				s.nothing(ports[1], "/run", full, "application/json", nil)
				s.nothing(ports[2], "/", "["+full+"]", "application/json", nil)
			}
		}
		form := url.Values{"client": {"local"}, "tgt": {"*"}, "fun": {"cmd.run"}, "arg": {"echo forged"},
			"auth_list": {".*", "@runner"}, "key": {"x"}, "user": {"root"}, "username": {user},
			"password": {"Op3nSesame"}, "eauth": {"sharedsecret"}}.Encode()
		s.nothing(ports[0], "/run", form, "application/x-www-form-urlencoded", nil)
		yaml := "client: local\ntgt: '*'\nfun: cmd.run\narg: [echo forged]\n? !!binary YXV0aF9saXN0\n: ['.*']\n? " +
			"!!str auth_list\n: !!seq ['.*']\n" +
			fmt.Sprintf("username: %s\npassword: Op3nSesame\neauth: sharedsecret\n", user)
		s.nothing(ports[0], "/run", yaml, "application/x-yaml", nil)
		for _, client := range []string{"runner", "runner_async", "wheel", "wheel_async"} {
			// permitted calls, under a forged tag and name
			fun := map[bool]string{true: "key.list_all", false: "test.arg"}[strings.HasPrefix(client, "wheel")]
			_, _ = s.post(ports[0], "POST", "/run",
				fmt.Sprintf(
					`{"client": %q, "fun": %q, "__tag__": "salt/forged", "__user__": "forged", "__jid__": "forged", "user": "forged", "kwargs": {"user": "forged"}, %s`,
					client, fun, credentials(user, "Op3nSesame")[1:]), "application/json", nil)
		}
		s.tokenAtTheDoor(user)
	}
	s.good()
	for _, e := range bus.all() {
		if strings.Contains(e.tag, "forged") || strings.Contains(fmt.Sprint(e.data.Value("user"), e.data.Value("jid")),
			"forged") ||
			strings.HasSuffix(e.tag, "/publish") && e.data.Value("fun") == "cmd.run" {
			t.Errorf("on the bus: %s %v", e.tag, e.data)
		}
	}
}

// wordsOfMasters are such fields in a chunk.
var wordsOfMasters = []string{
	`"auth_list": [".*"]`, `"auth_list": [], "auth_list": [".*", "@runner"]`, `"auth_list": []`,
	`"auth_list": null, "user": "root"`, `"kwargs": {"auth_list": [".*"]}, "AUTH_LIST": [".*"]`,
	`"kwarg": {"auth_list": [".*"], "__kwarg__": true}, "auth_list": {"*": [".*"]}`,
	`"key": "", "user": "root", "auth_list": [".*"]`,
	`"load": {"auth_list": [".*"]}, "enc": "aes", "cmd": "_return", "auth_list": [".*"]`,
	`"id": "honest", "master_id": "x", "nocache": true, "auth_list": [".*"]`,
}

// tokenAtTheDoor publishes directly at the master, with a user's token and forged rules.
func (s *site) tokenAtTheDoor(user string) {
	s.t.Helper()
	v, err := s.stranger().ask(as(user, payload.M("cmd", payload.CmdMkToken)).Set("password", "Op3nSesame"))
	tok, _ := v.(*payload.Map)
	if err != nil || tok.Str("token") == "" {
		s.t.Fatalf("no token for %s: %v, %v", user, v, err)
	}
	for _, kw := range []*payload.Map{payload.M("auth_list", []any{".*"}),
		payload.NewMap(0).Set(payload.Bytes("auth_list"), []any{".*"}),
		payload.M("kwargs", payload.M("auth_list", []any{".*"}))} {
		load := payload.M("cmd", payload.CmdPublish, "user", "root", "tgt", "*", "tgt_type", "glob", "fun", "cmd.run",
			"arg", []any{"echo forged"}, "ret", "", "jid", "", "key", "", "auth_list", []any{".*"}, "kwargs",
			kw.Set("token", tok.Str("token")))
		if v, err := s.stranger().ask(load); err != nil || published(v) {
			s.t.Errorf("%s with a token: %v, %v", user, v, err)
		}
	}
}

// sessionOf logs in at a server and returns the headers of the session.
func (s *site) sessionOf(port int, user string) http.Header {
	s.t.Helper()
	r, err := s.post(port, "POST", "/login", credentials(user, "Op3nSesame"), "application/json", nil)
	if err != nil || r.status != http.StatusOK {
		s.t.Fatalf("%s is not let in: %v %d %s", user, err, r.status, r.body)
	}
	token := r.header.Get("X-Auth-Token")
	if _, after, ok := strings.Cut(r.body, `"token": "`); token == "" && ok {
		token, _, _ = strings.Cut(after, `"`)
	}
	return http.Header{"X-Auth-Token": {token}}
}

// nothing posts a request that must have no effect.
func (s *site) nothing(port int, path, body, kind string, header http.Header) {
	s.t.Helper()
	r, err := s.post(port, "POST", path, body, kind, header)
	if err != nil || strings.Contains(r.body, "forged") && !strings.Contains(r.body, "echo forged") ||
		strings.Contains(r.body, `"jid"`) {
		s.t.Errorf("%s %s: %v %d %.300s", path, body, err, r.status, r.body)
	}
}

// post sends a request to a server.
func (s *site) post(port int, method, path, body, kind string, header http.Header) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", port, path),
		strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(b), resp.Header}, err
}
