package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestStrangersFillLogs: a stranger sends many requests with long texts to every entrance of salt-api and of
// the master. No line of a log is long, and the logs do not grow with the requests.
func TestStrangersFillLogs(t *testing.T) {
	a := newAPI(t)
	s, long := a.s, strings.Repeat("x", 1<<20)
	before := map[*daemon]int{a.daemon: len(s.logOf(a.daemon)), s.master: len(s.logOf(s.master))}
	for i := range 6 {
		text := fmt.Sprint(i, long)
		for _, client := range []string{"wheel_async", "wheel", "runner", "runner_async", "local", "local_async",
			text} {
			// all are refused
			_, _ = a.do("127.0.0.7", "POST", "/run", "",
				fmt.Sprintf(`{"client": %q, "fun": %q, "tgt": "*", "eauth": %q, "username": "u%d", "password": "no"}`,
					client, text, text[:90], i))
		}
		for _, path := range []string{"/keys", "/login", "/token", "/hook/" + text[:9000], "/" + text[:9000]} {
			_, _ = a.do("127.0.0.7", "POST", path, "",
				fmt.Sprintf(`{"mid": %q, "username": %q, "password": "no", "eauth": "x"}`, text, text))
		}
	}
	p := s.stranger()
	for i := range 40 {
		text := fmt.Sprint(i, long[:20000])
		for _, load := range []*payload.Map{
			payload.M("cmd", payload.CmdAuth, "id", text[:200], "pub", text, "nonce", text[:200]),
			payload.M("cmd", text, "id", text),
			payload.M("cmd", "publish", "user", text, "fun", text, "tgt", text, "jid", text, "arg", []any{}, "key",
				text),
			payload.M("cmd", "runner", "fun", text, "username", text[:50], "password", "no", "eauth", "file"),
			payload.M("cmd", "wheel", "fun", text, "token", text),
		} {
			if _, err := p.ask(load); err != nil && i == 0 {
				t.Errorf("%.20s: %v", load.Str("cmd"), err)
			}
		}
	}
	if r := a.ask("127.0.0.9", "POST", "/", a.logIn("127.0.0.9", "fred"),
		`{"client": "local", "tgt": "honest", "fun": "test.ping"}`); r.status != http.StatusOK {
		t.Errorf("a good request: %d %s", r.status, r.body)
	}
	s.good()
	for d, n := range before {
		text := s.logOf(d)
		if grown := len(text) - n; grown > 1<<20 {
			t.Errorf("the log of a daemon has grown by %d bytes", grown)
		}
		for line := range strings.Lines(text) {
			if len(line) > 16<<10 {
				t.Errorf("a line of %d bytes: %.200s", len(line), line)
			}
		}
	}
	a.end()
}
