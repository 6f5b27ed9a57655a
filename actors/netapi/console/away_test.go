package console

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestAwayAnswers: while the master is away, a user with a session gets an error at once, and nothing else.
// Other users get no access. A log-out still ends the session.
func TestAwayAnswers(t *testing.T) {
	s, front := serve(t)
	front.away.Store(true)
	for _, r := range (&console{}).routes() {
		if r.Open || r.Streams {
			continue
		}
		path := strings.ReplaceAll(r.Path, "{id}", "web1")
		body := ""
		if r.Body != nil {
			body = bodyFor(t, r)
		}
		if res, text := send(t, s, "admin", r.Method, path, body); res.StatusCode != http.StatusServiceUnavailable ||
			!strings.Contains(text, "The master is away") {
			t.Errorf("%s %s: %d %s", r.Method, path, res.StatusCode, text)
		}
		for _, user := range []string{"", "guess"} {
			if res, text := send(t, s, user, r.Method, path, body); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%q: %s %s: %d %s", user, r.Method, path, res.StatusCode, text)
			}
		}
	}
	for user, want := range map[string]int{"admin": http.StatusServiceUnavailable, "guess": http.StatusOK,
		"": http.StatusOK} {
		if res, text := send(t, s, user, "GET", "/console/api/session", ""); res.StatusCode != want ||
			strings.Contains(text, "admin") {
			t.Errorf("%q: %d %s", user, res.StatusCode, text)
		}
	}
	for _, user := range []string{"", "guess"} {
		if res, text := send(t, s, user, "GET", "/console/api/stream?view=fleet",
			""); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("stream of %q: %d %s", user, res.StatusCode, text)
		}
	}
	if res, text := send(t, s, "admin", "POST", "/console/api/logout", "{}"); res.StatusCode != http.StatusOK ||
		!strings.Contains(res.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("log-out: %d %s", res.StatusCode, text)
	}
	if out := front.out.Load(); out == nil || *out != "admin" {
		t.Error("the session goes on")
	}
	if len(front.calls) > 0 {
		t.Errorf("the master was asked: %v", <-front.calls)
	}
}

// TestAwayStream: a stream that is opened while the master is away or does not answer says so, and sends
// nothing else. It continues when the master has named the owner of the session. It ends if the session is
// invalid, or if its user may not see the view.
func TestAwayStream(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(*fakeFront, bool)
		then   func(*fakeFront)
		says   string
		end    string
	}{
		{"comes back", (*fakeFront).leave, func(*fakeFront) {}, "The master is away", "note hello rows"},
		{"answers again", (*fakeFront).hush, func(*fakeFront) {}, "does not answer", "note hello rows"},
		{"session ended", (*fakeFront).leave, func(f *fakeFront) { f.ended.Store(true) }, "The master is away", "bye"},
		{"rights taken", (*fakeFront).leave, func(f *fakeFront) {
			f.lowered.Store(true)
		}, "The master is away", "note bye"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, front := serve(t)
			tt.before(front, true)
			var seen []string
			messages(t, s.URL+"/console/api/stream?view=fleet", "admin", func(name string, data []byte) bool {
				if len(seen) == 0 {
					if name != "note" || !bytes.Contains(data, []byte(`"table":"master"`)) ||
						!bytes.Contains(data, []byte(tt.says)) {
						t.Errorf("the first is %s %s", name, data)
					}
					tt.then(front)
					tt.before(front, false)
				}
				seen = append(seen, name)
				return name == "rows" || name == "bye"
			})
			seen = slices.DeleteFunc(seen[1:], func(name string) bool { return name == "beat" })
			if got := strings.Join(seen, " "); got != tt.end {
				t.Errorf("then it said %q, want %q", got, tt.end)
			}
		})
	}
}

func (f *fakeFront) leave(gone bool) { f.away.Store(gone) }
func (f *fakeFront) hush(mute bool)  { f.mute.Store(mute) }

// TestAwayMeanwhile: if the master goes away during a stream, the stream says so, sends no data until the
// master is back, and continues.
func TestAwayMeanwhile(t *testing.T) {
	s, front := serve(t)
	gone, told := false, 0
	messages(t, s.URL+"/console/api/stream?view=events", "admin", func(name string, data []byte) bool {
		switch {
		case name == "hello":
			front.away.Store(true)
		case name == "note" && bytes.Contains(data, []byte("The master is away")):
			gone = true
			told++
			front.bus <- [2]any{"salt/meanwhile", payload.M("n", 1)}
			front.away.Store(false)
		case name == "note" && bytes.Contains(data, []byte(`{"table":"master","text":""}`)):
			gone = false
			told++
		case name == "event":
			if gone || told != 2 {
				t.Errorf("%s is shown while the master is away", data)
			}
			return true
		}
		return false
	})
}
