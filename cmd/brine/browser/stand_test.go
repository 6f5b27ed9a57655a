//go:build interop

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/netapi/console"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// stand serves the page without a master. The test controls the streams.
type stand struct {
	*site
	newest atomic.Pointer[feed] // the page's newest stream
	sent   int                  // number of rows sent for an actor
	down   atomic.Bool          // salt-api is away: no stream and no session
	bare   atomic.Bool          // the master has no control socket
}

// feed is the server's side of one stream.
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

// send sends a message on the newest stream. A page that waited long on a busy machine may have opened a new
// one.
func (s *stand) send(name string, data any) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case s.newest.Load().in <- message{name, data}:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.t.Fatal("the page does not take what is sent")
}

type message struct {
	name string
	data any
}

// newStand serves the page. others answers requests below /console/api/, except those for the session and the
// stream.
func newStand(t *testing.T, others http.HandlerFunc) *stand {
	t.Helper()
	s := &stand{site: &site{t: t}}
	mux := http.NewServeMux()
	mux.Handle("/console/", console.New(console.Options{}))
	mux.HandleFunc("/console/api/session", func(w http.ResponseWriter, _ *http.Request) {
		if s.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		reply(w, console.Identity{User: "admin", Can: []string{"fleet", "keys", "grains", "jobs", "events", "actors",
			"stacks", "run"}, Eauths: []string{}, Brine: !s.bare.Load()})
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

// stream forwards messages until the page goes away, or a message without a name ends it.
func (s *stand) stream(w http.ResponseWriter, r *http.Request) {
	if s.down.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
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
			if m.name == "" || !send(m) {
				return
			}
		}
	}
}

// rows sends a patch of a table.
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

// tickByHand reloads the page with a clock that the test controls. window.tick(n) lets n seconds pass and then
// makes the page draw.
func (s *stand) tickByHand() {
	s.t.Helper()
	s.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`{
			let clock = 1000; const every = setInterval, ticks = [];
			performance.now = () => clock;
			window.setInterval = (f, ms) => { if (ms === 1000) ticks.push(f); return every(() => {}, 1e9); };
			window.tick = (n) => { clock += 1000 * n; ticks.at(-1)(); }; }`).Do(ctx)
		return err
	}), chromedp.Reload())
	s.until("the page has a stream", func() bool { return s.newest.Load() != nil })
}
