package apiplay

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestNormal(t *testing.T) {
	jid, session := "20261123131532588495", strings.Repeat("ab", 20)
	h := http.Header{"Content-Type": {"application/json"},
		"Set-Cookie": {"session_id=" + session + "; expires=Mon, 23 Nov 2026 13:00:00 GMT; Path=/; Max-Age=36000"},
		"Server":     {"whoever"}}
	for _, tt := range []struct{ name, body, want string }{
		{"arrival", `{"return": [{"m2": true, "m1": true}]}`, `{"return": [{"m1": true, "m2": true}]}`},
		{"other order", `{"b": 1, "a": 2}`, `{"b": 1, "a": 2}`},
		{"a jid twice", `{"tag": "salt/run/` + jid + `", "jid": "` + jid + `"}`,
			`{"tag": "salt/run/<JID:1>", "jid": "<JID:1>"}`},
		{"two jids", `["` + jid + `", "20261123131532588496"]`, `["<JID:1>", "<JID:2>"]`},
		{"what was sent", `"` + session + `"`, `"<SENT>"`},
		{"times",
			`{"start": 1795171671.06, "_stamp": "2026-11-23T13:15:32.588495+00:00", "at": "2026, Nov 20 10:47:52.810975"}`,
			`{"start": "<UNIX_FLOAT>", "at": "<JOB_TIME>", "_stamp": "<ISO_STAMP>"}`},
		{"stack", `"x: Traceback (most recent call last):\n  File a\n  b\nException: boom\n"`,
			`"x: Traceback (most recent call last):\n<TRACEBACK_LINES>\nException: boom"`},
		{"grains", `{"m1": {"id": "m1", "kernel": "Linux", "osfullname": "x"}}`,
			`{"m1": {"id": "m1", "<OTHER_GRAINS>": "..."}}`},
		{"state", `{"comment": "", "start_time": "13:21:35.827303", "duration": 0.815, "__run_num__": 0}`,
			`{"comment": "", "start_time": "<START_TIME>", "duration": "<DURATION>", "__run_num__": 0}`},
		{"spaces", `{"a":1}`, `not as Python writes it: {"a": 1}`},
		{"escapes", `["\u2603"]`, `not as Python writes it: ["☃"]`},
		{"raw", `["☃<&>"]`, `["☃<&>"]`},
		{"empty", `{"a": {}, "b": []}`, `{"a": {}, "b": []}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Normal("x", 200, h, tt.body, session)
			if got.Body != tt.want {
				t.Errorf("got %s, want %s", got.Body, tt.want)
			}
			want := []string{"Content-Type: application/json", "Set-Cookie: session_id=<SENT>; Max-Age=36000; " +
				"Path=/; expires=<HTTP_DATE>"}
			if strings.Join(got.Header, "\n") != strings.Join(want, "\n") {
				t.Errorf("headers: got %q, want %q", got.Header, want)
			}
		})
	}
}

// TestTables reads all tables and transcripts, and writes the answers in the same form.
func TestTables(t *testing.T) {
	for _, name := range Sheets() {
		s, err := ReadSheet("testdata", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Requests {
			want, ok := s.Want(r.Name)
			if !ok {
				t.Errorf("%s %s: nothing is recorded", name, r.Name)
			}
			again, err := ParseAnswers(want.String())
			if err != nil || !again[r.Name].Same(want) {
				t.Errorf("%s %s: read %v, %v, want %v", name, r.Name, again, err, want)
			}
		}
	}
	if n := len(mustRead(t, "tornado").Requests); n < 80 {
		t.Errorf("%d requests to rest_tornado, want 80 at least", n)
	}
	if n := len(mustRead(t, "cherrypy").Requests); n < 220 {
		t.Errorf("%d requests to rest_cherrypy, want 220 at least", n)
	}
	all, err := ReadTranscripts("testdata/transcripts")
	if err != nil || len(all) != 27 {
		t.Fatalf("%d transcripts, want 27: %v", len(all), err)
	}
	for _, tr := range all {
		for _, s := range tr.Steps {
			if s.Want == nil && s.Raw == nil && s.Head == nil && s.Result == "" {
				t.Errorf("%s: no answer", s.Name)
			}
		}
	}
}

func mustRead(t *testing.T, name string) *Sheet {
	t.Helper()
	s, err := ReadSheet("testdata", name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseRequests(t *testing.T) {
	got, err := ParseRequests("# a remark\none: POST / as admin\n  Accept: text/html\n  json {\"a\": " +
		"\"{x*3}\"}\n\ntwo: GET /events\n  stream 2\n")
	if err != nil || len(got) != 2 || got[0].Body != `{"a": "xxx"}` || len(got[0].Header) != 2 || got[0].NoBody ||
		!got[1].NoBody || got[1].Stream != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"one GET /", "one: GET", "one: GET / by me", "  json {}", "one: GET /\n  nonsense",
		"one: GET /\none: GET /"} {
		if got, err := ParseRequests(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}

// TestPlayer: the player logs in once, and sends exactly the request in the table.
func TestPlayer(t *testing.T) {
	logins := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			logins++
			_, _ = w.Write([]byte(`{"return": [{"token": "` + strings.Repeat("cd", 20) + `"}]}`))
			return
		}
		if r.Header.Get("Accept") != "" || r.Header.Get("User-Agent") != "" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("more is sent than the table says: %v", r.Header)
		}
		w.Header().Set("X-Auth-Token", r.Header.Get("X-Auth-Token"))
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = w.Write([]byte("line\n"))
		}
	}))
	defer s.Close()
	p := NewPlayer(s.URL, time.Minute)
	defer p.Close()
	for range 2 {
		got, err := p.Send(t.Context(), Request{Name: "a", Method: "GET", Path: "/x", As: "admin", NoBody: true,
			Stream: 2})
		if err != nil || got.Body != `"line\nline\n"` || got.Header[1] != "X-Auth-Token: <SENT>" {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if logins != 1 {
		t.Errorf("%d log-ins, want 1", logins)
	}
}
