// Package webtest is the web server that the answers in testdata/query.json were recorded with (testdata/query.py), for
// tests of what asks web servers. For tests only.
package webtest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// pages are the answers of the server of ../testdata/query.py: status, type, body.
var pages = map[string]struct {
	code       int
	kind, body string
}{
	"/json": {200, "application/json", `{"b": [1, 2.5, null, true], "a": "\u00e9"}`}, "/yaml": {200, "text/yaml",
		"b: [1, x]\na: yes\n"},
	"/xml": {200, "application/xml", "<r><a>1</a><b><c>x</c><c>y</c></b></r>"}, "/plain": {200, "text/plain", "plain"},
	"/notype": {200, "", `{"a": 1}`},
	"/latin":  {200, "text/plain; charset=latin-1", "\xe9"}, "/404": {404, "text/plain", "nope"}, "/500": {500,
		"text/plain", ""}, "/204": {204, "", ""},
	"/badjson": {200, "application/json", "{"},
}

// places are where it redirects to.
var places = map[string]struct {
	code int
	to   string
}{"/to": {302, "/echo/there"}, "/to307": {307, "/echo/there"}, "/loop": {302, "/loop"}}

// Serve is the server of the recorded answers.
func Serve(w http.ResponseWriter, r *http.Request) {
	if p, ok := places[r.URL.Path]; ok {
		w.Header().Set("Location", p.to)
		w.WriteHeader(p.code)
		return
	}
	page, ok := pages[r.URL.Path]
	switch {
	case strings.HasPrefix(r.URL.Path, "/echo"):
		echo(w, r)
		return
	case r.URL.Path == "/gzip":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(`{"z": 1}`))
		_ = z.Close()
		return
	case !ok:
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	w.Header()["Content-Type"] = nil
	if page.kind != "" {
		w.Header().Set("Content-Type", page.kind)
	}
	w.WriteHeader(page.code)
	_, _ = w.Write([]byte(page.body))
}

// echo tells what it was asked, as the server of ../testdata/query.py does.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	found := payload.NewMap(0)
	for _, name := range []string{"authorization", "content-length", "content-type", "user-agent", "x-a"} {
		v := r.Header.Get(name)
		if name == "content-length" && len(body) > 0 {
			v = python.Str(int64(len(body)))
		}
		if v != "" && v != "0" { // Go sends the length of what is empty, too
			found.Set(name, v)
		}
	}
	w.Header().Set("Content-Type", "text/plain")
	all := []any{r.Method, r.URL.RequestURI(), string(body), found}
	_, _ = w.Write([]byte(python.Repr(all)))
}
