package wsgi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	api "brine/actors/netapi"
	"brine/config"
	"brine/modules/netapi"
	"brine/wire/payload"
)

type fake struct{ api.API }

func (fake) Run(_ context.Context, low *payload.Map) (any, error) {
	switch low.Str("fun") {
	case "refused":
		return nil, netapi.Unauthorized("No authentication credentials given")
	case "batch":
		return api.Several{"one", "two"}, nil
	case "broken":
		return nil, errors.New("/secret/path is broken")
	}
	return payload.M(low.Value("tgt"), true), nil
}

func TestAnswers(t *testing.T) {
	h := New(fake{}, Options{Config: &config.WSGI{MaxRequestBodySize: 1000}, Logger: slog.New(slog.DiscardHandler)})
	for _, tt := range []struct {
		method, path, kind, body string
		status                   int
		want                     string
	}{
		{"GET", "/any/where", "", "", 200, `{"return": ["W", "e", "l", "c", "o", "m", "e"]}`},
		{"POST", "/any/where", "application/json", `[{"tgt": "m1"}, {"fun": "batch"}]`, 200,
			`{"return": [{"m1": true}, "one", "two"]}`},
		{"POST", "/", "application/json", `[]`, 200, `{"return": []}`},
		{"POST", "/", "application/json; charset=utf-8", `[]`, 406, `{"return": "406: JSON required"}`},
		{"POST", "/", "", `[]`, 406, `{"return": "406: JSON required"}`},
		{"POST", "/", "application/json", `{bad`, 400,
			`{"return": "400: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"}`},
		{"POST", "/", "application/json", ``, 400, `{"return": "400: Expecting value: line 1 column 1 (char 0)"}`},
		{"POST", "/", "application/json", `{"tgt": "m1"}`, 400, `{"return": "Lowstates must be a list"}`},
		{"POST", "/", "application/json", `[{"fun": "refused"}]`, 401,
			`{"return": "No authentication credentials given"}`},
		{"POST", "/", "application/json", `[{"fun": "broken"}]`, 500, `{"return": "An unexpected error occurred"}`},
		{"POST", "/", "application/json", `["x"]`, 500, `{"return": "An unexpected error occurred"}`},
		{"POST", "/", "application/json", strings.Repeat(" ", 2000), 413,
			`{"return": "413: Request Entity Too Large"}`},
		{"PUT", "/", "application/json", `[]`, 405, `{"return": "405: Method Not Allowed"}`},
	} {
		r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
		r.Header.Set("Content-Type", tt.kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got, err := io.ReadAll(w.Result().Body)
		if w.Code != tt.status || string(got) != tt.want || err != nil ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %.60s: got %d %s, want %d %s", tt.method, tt.path, tt.body, w.Code, got, tt.status, tt.want)
		}
	}
}

// TestNoCookies: this server has no sessions. Neither a cookie nor a header identifies the user. A form that a
// page of another origin can post without a preflight request is refused.
func TestNoCookies(t *testing.T) {
	var ran []*payload.Map
	h := New(keeper{ran: &ran}, Options{Config: &config.WSGI{MaxRequestBodySize: 1000},
		Logger: slog.New(slog.DiscardHandler)})
	for kind, want := range map[string]int{"application/json": 200, "text/plain": 406,
		"application/x-www-form-urlencoded": 406, "multipart/form-data": 406} {
		r := httptest.NewRequest("POST", "/",
			strings.NewReader(`[{"client": "local", "tgt": "*", "fun": "test.ping"}]`))
		token := strings.Repeat("ab", 32)
		for name, v := range map[string]string{"Content-Type": kind, "Cookie": "session_id=" + token,
			"X-Auth-Token": token, "Origin": "https://evil.example"} {
			r.Header.Set(name, v)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want || w.Header().Get("Set-Cookie") != "" ||
			w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", kind, w.Code, w.Header())
		}
	}
	if len(ran) != 1 || ran[0].Has("token") {
		t.Errorf("ran %v", ran)
	}
}

// keeper keeps the chunks that it gets.
type keeper struct {
	api.API
	ran *[]*payload.Map
}

func (k keeper) Run(_ context.Context, low *payload.Map) (any, error) {
	*k.ran = append(*k.ran, low)
	return true, nil
}
