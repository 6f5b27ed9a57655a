package returnertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Recorder is a web server that keeps what it is asked.
type Recorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []Asked
}

// Asked is one question to a Recorder.
type Asked struct {
	Method, Host, Path, Body string
	Header                   http.Header
}

// NewRecorder starts one that answers as answer does.
func NewRecorder(t testing.TB, answer func(a Asked) (status int, body string)) *Recorder {
	t.Helper()
	r := &Recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		a := Asked{req.Method, req.Host, req.URL.RequestURI(), string(body), req.Header}
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

// Take gives what was asked, and forgets it.
func (r *Recorder) Take() []Asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = nil
	return out
}
