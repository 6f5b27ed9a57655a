package returners

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// recorder is a web server that keeps what it is asked.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []asked
}

type asked struct {
	method, host, path, body string
	header                   http.Header
}

// newRecorder starts one that answers as answer does.
func newRecorder(t testing.TB, answer func(a asked) (status int, body string)) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		a := asked{req.Method, req.Host, req.URL.RequestURI(), string(body), req.Header}
		r.mu.Lock()
		r.seen = append(r.seen, a)
		r.mu.Unlock()
		status, text := answer(a)
		if status == http.StatusFound {
			w.Header().Set("Location", text)
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.Header().Set("X-Elastic-Product", "Elasticsearch") // the library of Salt's returner wants it
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(r.Close)
	return r
}

// take gives what was asked, and forgets it.
func (r *recorder) take() []asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = nil
	return out
}
