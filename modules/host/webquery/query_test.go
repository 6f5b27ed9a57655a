package webquery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/modules/host/webquery"
	"brine/modules/host/webquery/webtest"
	"brine/modules/loader"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// TestQuery asks what Salt was asked (testdata/query.py).
func TestQuery(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(webtest.Serve))
	defer s.Close()
	closed, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closed.Release() }()
	nobody := fmt.Sprintf("127.0.0.1:%d", closed.Number)
	raw, err := os.ReadFile("testdata/query.json")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pyjson.Load(strings.NewReplacer("127.0.0.1:REFUSED", nobody, "@", s.URL).Replace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows.([]any) {
		at, options, want := row.([]any)[0].(string), row.([]any)[1], row.([]any)[2].(*payload.Map)
		if strings.HasPrefix(at, "/") {
			at = s.URL + at
		}
		if body := want.Str("body"); strings.HasPrefix(body, "[") { // written by json there, by repr here
			if v, err := pyjson.Load(body); err == nil {
				want.Set("body", strings.ReplaceAll(python.Repr(v), "Salt/3008.3", "brine"))
			}
		}
		if strings.HasPrefix(want.Str("body"), "<!DOCTYPE") { // Python's server knows no such method, Go's does
			continue
		}
		if want.Has("test") { // Salt says so, and asks the URL itself; here it is test_url
			want.Set("body", "plain")
		}
		if diff := cmp.Diff(shown(want), shown(asked(t, nil, at, options))); diff != "" {
			t.Errorf("%s %s: %s", at, python.Repr(options), diff)
		}
	}
}

// asked is the answer, with an exception under "raised", as the recording has it.
func asked(t *testing.T, opts *payload.Map, at string, options any) *payload.Map {
	t.Helper()
	out, err := webquery.Ask(t.Context(), webquery.Options{Name: "the filter", Opts: opts, Most: 1 << 20}, at,
		options.(*payload.Map))
	var e *loader.Exception
	if errors.As(err, &e) {
		return payload.M("raised", e.Class+": "+e.Message)
	}
	if err != nil {
		return payload.M("failed", err.Error())
	}
	if raw, ok := out.Value("body").([]byte); ok {
		out.Set("body", payload.M("bytes", string(raw)))
	}
	return out
}

func shown(m *payload.Map) string {
	var lines []string
	for k, v := range m.All() {
		lines = append(lines, python.Repr(k)+": "+python.Repr(v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestQuerySecrets: a redirect to another server carries neither password nor headers nor data there, and no error
// shows them.
func TestQuerySecrets(t *testing.T) {
	var got bytes.Buffer
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(&got).Encode([]any{r.Method, r.URL.String(), r.Header, string(body)})
	}))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusFound
		if r.URL.Path == "/307" {
			code = http.StatusTemporaryRedirect
		}
		http.Redirect(w, r, other.URL+"/x", code)
	}))
	defer s.Close()
	options := payload.M("username", "u", "password", "geheim", "header_dict", payload.M("X-Token", "geheim", "Cookie",
		"geheim"), "params", payload.M("k", "geheim"))
	for _, method := range []string{"GET", "POST"} {
		if a := asked(t, nil, s.URL+"/", options.Clone().Set("method", method).Set("data",
			"geheim")); method == "POST" && a.Has("error") {
			t.Errorf("%s: %s", method, shown(a))
		}
	}
	a := asked(t, nil, s.URL+"/307", options.Clone().Set("method", "POST").Set("data", "geheim"))
	if !strings.Contains(a.Str("error"), "does not get the data") || strings.Contains(shown(a), "geheim") {
		t.Errorf("307: got %s", shown(a))
	}
	if text := got.String(); strings.Contains(text, "geheim") || strings.Contains(text, "Authorization") || text == "" {
		t.Errorf("the other server got %s", text)
	}
}

// TestQueryBounds: a silent server, one that sends without end, and the end of the template.
func TestQueryBounds(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			_, _ = w.Write(make([]byte, 2000))
			return
		}
		<-stop
	}))
	defer s.Close()
	defer close(stop)
	hasty := payload.M("http_request_timeout", 0.05, "http_max_body", int64(1000))
	if a := asked(t, hasty, s.URL, payload.NewMap(0)); a.Str("error") != "HTTP 599: Timeout during request" {
		t.Errorf("silence: got %s", shown(a))
	}
	if a := asked(t, hasty, s.URL+"/long", payload.NewMap(0)); !strings.Contains(a.Str("error"),
		"more than 1000 bytes") && a.Value("status") != int64(599) {
		t.Errorf("a long answer: got %s", shown(a))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	options := webquery.Options{Name: "the filter", Most: 1 << 20}
	if _, err := webquery.Ask(ctx, options, s.URL, nil); !errors.Is(err, why) {
		t.Errorf("an ended template: got %v", err)
	}
	for _, name := range []string{"text_out", "data_file", "stream", "cookies", "formdata"} {
		if _, err := webquery.Ask(t.Context(), options, s.URL, payload.M(name, "/etc/passwd")); err == nil ||
			!strings.Contains(err.Error(), "'"+name+"' yet") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestQueryFiles: what may touch files of the machine sends and keeps them.
func TestQueryFiles(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(webtest.Serve))
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"data": "from a file", "headers": "X-A: b\nno header\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := payload.M("method", "POST", "data_file", dir+"/data", "header_file", dir+"/headers",
		"text_out", dir+"/text", "decode", true, "decode_type", "yaml",
		"decode_out", dir+"/decoded")
	out, err := webquery.Ask(t.Context(), webquery.Options{Most: 1 << 20, Files: true}, s.URL+"/echo", given)
	if err != nil {
		t.Fatal(err)
	}
	if body := out.Str("body"); !strings.Contains(body, "'from a file'") || !strings.Contains(body, "'x-a': 'b'") {
		t.Errorf("the server got %s", body)
	}
	for _, name := range []string{"text", "decoded"} {
		if kept, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(kept) != out.Str("body") {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
	}
	if a := asked(t, nil, s.URL+"/echo", payload.M("backend", "requests", "auth", []any{"u",
		"p"})); !strings.Contains(a.Str("body"), "Basic dTpw") {
		t.Errorf("auth: %s", shown(a))
	}
	if _, err := webquery.Ask(t.Context(), webquery.Options{Most: 1 << 20, Files: true}, s.URL,
		payload.M("data_file", dir+"/none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
