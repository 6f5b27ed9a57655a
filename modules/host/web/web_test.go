package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a server answers is given whatever its status; it is followed nowhere.
func TestAsk(t *testing.T) {
	followed := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed = followed || r.URL.Path == "/inside"
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/inside", http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(r.Header.Get("X-A") + strings.Repeat("x", 3)))
	}))
	defer s.Close()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Ask(t.Context(), http.MethodPost, s.URL+"/there", http.Header{"X-A": {"a"}}, []byte("body"))
	if err != nil || got.Status != http.StatusTeapot || string(got.Body) != "axxx" {
		t.Errorf("got %d %q, %v", got.Status, got.Body, err)
	}
	if got, err := c.Ask(t.Context(), http.MethodPost, s.URL+"/away", nil, nil); err != nil ||
		got.Status != http.StatusTemporaryRedirect || followed {
		t.Errorf("a redirect: got %d, %v; followed %t", got.Status, err, followed)
	}
}

// A proxy gets the request, and the environment has no say.
func TestProxy(t *testing.T) {
	seen := ""
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = r.URL.String() + " " + r.Header.Get("Proxy-Authorization")
	}))
	defer s.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("u", "p")
	c, err := New(Options{Proxies: map[string]*url.URL{"http": at}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Ask(t.Context(), http.MethodGet, "http://far.invalid/x", nil, nil); err != nil ||
		seen != "http://far.invalid/x Basic dTpw" {
		t.Errorf("the proxy saw %q, %v", seen, err)
	}
}

// Errors show neither the URL nor the password of a proxy; a silent server is left in time.
func TestErrors(t *testing.T) {
	c, err := New(Options{Patience: 50 * time.Millisecond, Proxies: map[string]*url.URL{"https": {Scheme: "http",
		Host: "127.0.0.1:1", User: url.UserPassword("u", "geheim")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer s.Close()
	defer close(stop)
	for _, at := range []string{"http://127.0.0.1:1/geheim", "http://\x7f/geheim", s.URL + "/geheim",
		"https://far.invalid/geheim", "gopher://geheim/"} {
		if _, err := c.Ask(t.Context(), http.MethodGet, at, nil, nil); err == nil || strings.Contains(err.Error(),
			"geheim") {
			t.Errorf("%q: got error %v", at, err)
		}
	}
	for _, o := range []Options{{Authority: "web.go"}, {Authority: "none"}, {Cert: "web.go", Key: "web.go"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
