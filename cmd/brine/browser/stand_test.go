//go:build interop

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/netapi/console"
)

// stand serves the page itself without a master: what the streams carry is the test's.
type stand struct {
	*site
	newest atomic.Pointer[feed] // of the page's newest stream
}

// feed is the way to one stream.
type feed struct {
	view string
	in   chan message
}

// show opens a view, and waits for its stream.
func (s *stand) show(hash, view string) {
	s.t.Helper()
	js[any](s.site, fmt.Sprintf("location.hash = %q", hash))
	s.until("the stream of "+view+" is open", func() bool { f := s.newest.Load(); return f != nil && f.view == view })
}

// send gives the newest stream a message.
func (s *stand) send(name string, data any) {
	s.t.Helper()
	select {
	case s.newest.Load().in <- message{name, data}:
	case <-time.After(patience):
		s.t.Fatal("the page does not take what is sent")
	}
}

type message struct {
	name string
	data any
}

// newStand serves the page; others answers below /console/api/ but for the session and the stream.
func newStand(t *testing.T, others http.HandlerFunc) *stand {
	t.Helper()
	s := &stand{site: &site{t: t}}
	mux := http.NewServeMux()
	mux.Handle("/console/", console.New(console.Options{}))
	mux.HandleFunc("/console/api/session", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, console.Identity{User: "admin", Can: []string{"fleet", "keys", "grains", "jobs", "events", "actors", "stacks", "run"}, Eauths: []string{}, Brine: true})
	})
	mux.HandleFunc("/console/api/", others)
	mux.HandleFunc("/console/api/stream", s.stream)
	server := httptest.NewServer(mux)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	s.base = server.URL + "/console/"
	return s
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// stream passes on what is fed, until the page goes.
func (s *stand) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(m message) bool {
		text, err := json.Marshal(m.data)
		if err != nil {
			s.t.Errorf("%s: %v", m.name, err)
		}
		_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", m.name, text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	if !send(message{"hello", console.Hello{View: r.URL.Query().Get("view"), At: 1}}) {
		return
	}
	own := &feed{r.URL.Query().Get("view"), make(chan message)}
	s.newest.Store(own)
	for {
		select {
		case <-r.Context().Done():
			return
		case m := <-own.in:
			if !send(m) {
				return
			}
		}
	}
}

// rows feeds a patch of a table.
func (s *stand) rows(table string, set map[string]any, gone ...string) {
	raw := map[string]json.RawMessage{}
	for k, v := range set {
		text, err := json.Marshal(v)
		if err != nil {
			s.t.Fatal(err)
		}
		raw[k] = text
	}
	s.send("rows", console.Patch{Table: table, Set: raw, Gone: gone})
}
