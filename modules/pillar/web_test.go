package pillar

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// TestWeb asks a server on the loopback address for pillars.
func TestWeb(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, pass, _ := r.BasicAuth(); r.URL.EscapedPath() {
		case "/json/m1":
			_, _ = w.Write([]byte(`{"k": "` + r.Header.Get("X-K") + name + pass + `"}`))
		case "/yaml/a%20b%2Fc/x":
			_, _ = w.Write([]byte("y: [1]\n"))
		case "/bad":
			_, _ = w.Write([]byte("{"))
		case "/large":
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", webMost) + `"`))
		case "/hang":
			<-hang
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	defer close(hang)
	for _, tt := range []struct {
		ext  *payload.Map
		want string
	}{
		{payload.M("http_json", payload.M("url", server.URL+"/json/%s", "header_dict", payload.M("X-K", "v"),
			"username", "u", "password", "p")), "{str x=>int 1|str k=>str vup}"},
		{payload.M("http_json", payload.M("url", server.URL+"/json/%s", "namespace", "n")),
			"{str x=>int 1|str n=>{str k=>str }}"},
		{payload.M("http_yaml", payload.M("url", server.URL+"/yaml/<g:d>/x", "with_grains", true)),
			"{str x=>int 1|str y=>[int 1]}"},
		{payload.M("http_yaml", payload.M("url", server.URL+"/yaml/<nosuch>", "with_grains", true)), "{str x=>int 1}"},
		{payload.M("http_yaml", payload.M("url", server.URL+"/yaml/<up>/json/m1", "with_grains", true)),
			"{str x=>int 1}"},
		{payload.M("http_json", []any{server.URL + "/bad"}), "{str x=>int 1|str _errors=>[str Failed to load " +
			"ext_pillar http_json: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)]}"},
		{payload.M("http_json", server.URL+"/large"), "{str x=>int 1}"},
		{payload.M("http_json", server.URL+"/none"), "{str x=>int 1}"},
		{payload.M("http_json", "http://127.0.0.1:1/"), "{str x=>int 1}"},
		{payload.M("http_json", payload.NewMap(0)), "{str x=>int 1|str _errors=>[str Failed to load ext_pillar " +
			"http_json: ext_pillar() missing 1 required positional argument: 'url']}"},
	} {
		c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "x: 1\n"),
			payload.M("ext_pillar", []any{tt.ext}))
		if got := answer(c.Compile(t.Context(), Question{ID: "m1", Grains: payload.M("g", payload.M("d", "a b/c"), "up",
			"..")})); got != tt.want {
			t.Errorf("%v: got %.200s, want %s", tt.ext, got, tt.want)
		}
	}
	c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "x: 1\n"),
		payload.M("ext_pillar", []any{payload.M("http_json", server.URL+"/hang")}))
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	if out, err := c.Compile(ctx, Question{ID: "m1"}); !errors.Is(err, late) {
		t.Errorf("got %s", answer(out, err))
	}
}

// startWeb starts a server for the questions of testdata/web.json and returns its address.
func startWeb(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, pass, _ := r.BasicAuth()
		text := map[string]string{"/list": "[1, 2]", "/bad": "{", "/yaml/web1": "y: [1, 010]\nz: {b: 1, a: " +
			"2024-01-02}\n", "/yaml/x": "y: 1\n", "/yamltext": "just text",
			"/json/web1": `{"k": "` + r.Header.Get("X-K") + name + pass + `", "z": 1, "a": [1.5, null, "\u00fc"]}`,
			"/json/x":    `{"k": 1}`}[r.URL.Path]
		switch r.URL.Path {
		case "/jsonnone":
			w.WriteHeader(http.StatusNotFound)
			text = `{"k": 1}`
		case "/moved":
			http.Redirect(w, r, "/json/x", http.StatusFound)
		case "/none":
			http.NotFound(w, r)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestWebRecorded asks it.
func TestWebRecorded(t *testing.T) {
	at := startWeb(t)
	for _, tt := range askedOf(t, "web") {
		ext, err := pyjson.Load(strings.ReplaceAll(tt.ext, "$S", at))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(pillarWith(t, t.Context(), "web1", ext, nil), at, "$S"); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.ext, got, tt.want)
		}
	}
}
