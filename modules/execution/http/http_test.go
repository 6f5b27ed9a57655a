package http_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	httpmod "brine/modules/execution/http"
	"brine/modules/host/webquery/webtest"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// withModule is an environment whose functions are those of the module.
func withModule(t *testing.T, opts *payload.Map) *loader.Env {
	env := modtest.Env(t, opts)
	env.Registry.Offer(loader.Listed{httpmod.Module()})
	return env
}

// TestQuery: the function gives what webquery gives, takes options of its own call, and every error is a
// CommandExecutionError.
func TestQuery(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(webtest.Serve))
	defer s.Close()
	env := withModule(t, nil)
	for _, tt := range []struct {
		at   any
		kw   *payload.Map
		want *payload.Map
		err  string
	}{
		{s.URL + "/json", payload.M("decode", true, "status", true, "request_interval", 1), payload.M("status", 200,
			"dict", payload.M("b", []any{1, 2.5, nil, true}, "a", "é")), ""},
		{s.URL + "/404", nil, payload.M("status", 404, "error", "HTTP 404: Not Found", "body", "nope"), ""},
		{s.URL + "/404", payload.M("raise_error", false), payload.M("body", "nope"), ""},
		{s.URL + "/json", payload.M("opts", payload.M("http_max_body", 5)),
			payload.M("error", "the answer has more than 5 bytes"), ""},
		{s.URL + "/badjson", payload.M("decode", true), nil,
			"Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
		{s.URL, payload.M("stream", true), nil, "http.query does not have the option 'stream' yet"},
		{"ftp://x/", nil, nil, "Unsupported url scheme: ftp://x/"},
		{5, nil, nil, "http.query wants a URL, not int"},
	} {
		v, _, err := modtest.Call(t, env, "http.query", []any{tt.at}, tt.kw)
		var told *loader.CommandExecutionError
		if (err != nil || tt.err != "") && (!errors.As(err, &told) || told.Message != tt.err) {
			t.Errorf("%v %v: %v, want %q", tt.at, tt.kw, err, tt.err)
			continue
		}
		got, _ := v.(*payload.Map)
		for k, want := range tt.want.All() {
			if !payload.Equal(payload.Canon(got.Value(k)), payload.Canon(want)) {
				t.Errorf("%v %v: %v is %v, want %v", tt.at, tt.kw, k, got.Value(k), want)
			}
		}
	}
}

// TestWait: it asks until there is no error, as long as it may, and ends with its job.
func TestWait(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 || r.URL.Path == "/never" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	env := withModule(t, nil)
	v, _, err := modtest.Call(t, env, "http.wait_for_successful_query", []any{s.URL},
		payload.M("request_interval", 0.01))
	if m, ok := v.(*payload.Map); err != nil || !ok || m.Has("error") || asked.Load() != 3 {
		t.Errorf("%v, %v after %d questions", v, err, asked.Load())
	}
	v, _, err = modtest.Call(t, env, "http.wait_for_successful_query", []any{s.URL + "/never"},
		payload.M("wait_for", -1))
	if m, ok := v.(*payload.Map); err != nil || !ok || m.Str("error") != "HTTP 503: Service Unavailable" {
		t.Errorf("never: %v, %v", v, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("killed")
	cancel(why)
	if _, _, err := modtest.CallContext(ctx, t, env, "http.wait_for_successful_query", []any{s.URL + "/never"},
		nil); !errors.Is(err, why) {
		t.Errorf("a job that was killed: %v", err)
	}
}

// TestBundle writes the file of authorities, and leaves it where the server has none.
func TestBundle(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(webtest.Serve))
	defer s.Close()
	dir := t.TempDir()
	target, own := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "own.pem")
	if err := os.WriteFile(own, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := withModule(t, payload.M("ca_bundle", target, "verify_ssl", false))
	if v, _, err := modtest.Call(t, env, "http.update_ca_bundle", nil, payload.M("source", s.URL+"/plain",
		"merge_files", own)); v != nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if _, _, err := modtest.Call(t, env, "http.update_ca_bundle", nil, payload.M("source", s.URL+"/404")); err == nil ||
		!strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("no file there: %v", err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "plain\n\nmine\n" {
		t.Errorf("the bundle is %q, %v", text, err)
	}
}
