package netapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/modules/outputters"
	"brine/wire/payload"
)

func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	if err != nil {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// TestRead: what bodies mean, by their type; those of forms as Salt 3006 has answered to them.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		kind, body, want string
		status           int
	}{
		{"application/json; charset=UTF-8", `[{"b":1,"a":2}]`, `[{"b": 1, "a": 2}]`, 200},
		{"application/json", `{bad`, "", 400},
		{"application/json", "\"\xc3\"", "", 400},
		{"text/plain;charset=UTF-8", `{"a":1}`, `{"a": 1}`, 200},
		{"text/plain", `just text`, `"just text"`, 200},
		{"application/x-yaml", "a: [1, yes]", `{"a": [1, true]}`, 200},
		{"text/yaml", "a: [", "", 400},
		{"application/xml", "<x/>", "", 406},
		{"", "{}", "", 406},
		{"application/x-www-form-urlencoded", "fun=test.arg&arg=1&arg=foo%3Dbar&arg=%5B1%2C2%5D&empty=&x=12&x=13",
			`{"fun": "test.arg", "arg": [1, "foo=bar", [1, 2]], "x": ["12", "13"]}`, 200},
		{"application/x-www-form-urlencoded", "arg=true&kwarg=%7Bx%3A%201%7D", `{"arg": [true], "kwarg": {"x": 1}}`,
			200},
		{"application/x-www-form-urlencoded", "a=%zz+%4", `{"a": "%zz %4"}`, 200},
		{"application/x-www-form-urlencoded", "a=%FC%DFe&b=\xfc\xdf&c=%E2%98", `{"a": "��e", "b": "��", "c": "�"}`,
			200},
	} {
		b, err := taken(t, NewBodies(1<<20), tt.body).Read(tt.kind)
		if statusOf(err) != tt.status {
			t.Errorf("%s %q: got %v, want %d", tt.kind, tt.body, err, tt.status)
		}
		if got := outputters.JSON(b.Data); err == nil && got != tt.want {
			t.Errorf("%s %q: got %s, want %s", tt.kind, tt.body, got, tt.want)
		}
	}
}

// FuzzRead: no body of any type makes more than a bounded value of it.
func FuzzRead(f *testing.F) {
	for _, kind := range []string{TypeJSON, TypeYAML, typeForm, typeText} {
		f.Add(kind, []byte("a: &a [1, *a]"))
		f.Add(kind, []byte("arg=%5B1%5D&kwarg={a: &b [x], c: *b}"))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		b, err := taken(t, NewBodies(1<<20), string(body)).Read(kind)
		if err == nil && media(kind) == TypeYAML && tooMuch(b.Data) {
			t.Errorf("too much of %q", body)
		}
	})
}

func TestNegotiate(t *testing.T) {
	for header, want := range map[string]string{
		"": TypeJSON, "*/*": TypeJSON, "application/*": TypeJSON, TypeYAML: TypeYAML, "text/html, */*;q=0.1": TypeJSON,
		"application/json;q=0.1, application/x-yaml;q=0.9": TypeYAML, "application/json;q=0": "", "text/html": "",
		"text/*": "", "application/json;q=x": "",
	} {
		got, err := Negotiate(header, TypeJSON, TypeYAML)
		if got != want || (want == "") != (statusOf(err) == http.StatusNotAcceptable) {
			t.Errorf("%q: got %q, %v, want %q", header, got, err, want)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{"": false, "gzip": true, "x-gzip": true, "gzip, deflate, br": true,
		"gzip;q=0": false, "deflate": false, "*": false, "gzip;q=0, *": false, "identity, gzip": false,
		"gzip, identity;q=0.5": true, "identity;q=0, gzip;q=0.1": true, "notgzip": false} {
		if AcceptsGzip(header) != want {
			t.Errorf("%q: want %t", header, want)
		}
	}
}

func TestHex(t *testing.T) {
	for _, ok := range []any{"0", "ab", "AB", "0x1f", "-ff", " a1 ", "1_0"} {
		if !Hex(ok) {
			t.Errorf("%q is a number", ok)
		}
	}
	for _, bad := range []any{"", "zz", "../../x", "0x", "1__0", "_1", "1_", "--1", "+-1", nil, int64(1), true,
		[]any{"a"}, strings.Repeat("a", 2000)} {
		if Hex(bad) {
			t.Errorf("%v is none", bad)
		}
	}
}

func TestPermissions(t *testing.T) {
	rules := payload.M("ann", []any{payload.M("b*", []any{"x"}), "test.ping", "@jobs", "test.ping"}, "*", []any{"a.b"},
		"ops%", []any{"c.d"}, "ops", []any{"no"})
	got := outputters.JSON(Permissions(rules, "ann", []any{"ops", "other", "ops"}))
	if want := `["@jobs", "a.b", "c.d", "test.ping", {"b*": ["x"]}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, none := range []*payload.Map{nil, payload.NewMap(0)} {
		if got := outputters.JSON(Permissions(none, "bob", nil)); got != "{}" {
			t.Errorf("none: %s", got)
		}
	}
}

// TestWrite: bytes have no form in JSON.
func TestWrite(t *testing.T) {
	if _, err := Write(TypeJSON, payload.M("a", []any{[]byte{0xff}})); statusOf(err) != 500 {
		t.Errorf("got %v", err)
	}
	if b, err := Write(TypeYAML, payload.M("b", "é", "a", []any{})); err != nil || string(b) != "a: []\nb: é\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if page := string((&Error{Status: 404, Message: "<script>"}).Page()); strings.Contains(page, "<script>") ||
		!strings.Contains(page, "<h2>404 Not Found</h2>") {
		t.Errorf("page: %s", page)
	}
}

// TestSessions: a bounded number in all and of each user, the longest unused goes first; they end with time and with
// log-out.
func TestSessions(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := NewSessions(3, 2)
	a1, a2 := s.Open(now, "t1", "ann"), s.Open(now, "t2", "ann")
	if s.Token(now, a1) != "t1" {
		t.Error("a1 is lost")
	}
	a3 := s.Open(now, "t3", "ann") // a2 was not used for longest
	b1, b2 := s.Open(now, "t4", "bob"), s.Open(now, "t5", "bob")
	for id, want := range map[string]string{a1: "", a2: "", a3: "t3", b1: "t4", b2: "t5", "": ""} {
		if got := s.Token(now, id); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	if s.Close(b1) != "t4" || s.Close(b1) != "" || s.Len() != 2 {
		t.Error("close")
	}
	later := now.Add(SessionLife - time.Second)
	s.Token(later, a3)
	if later = later.Add(2 * time.Second); s.Token(later, b2) != "" || s.Token(later, a3) != "t3" || s.Len() != 1 ||
		len(s.byUser) != 1 {
		t.Errorf("of %d sessions of %d users the one in use is left", s.Len(), len(s.byUser))
	}
}
