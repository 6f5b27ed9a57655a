//go:build interop

package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/cmd/fleet"
	"brine/wire/crypt"
	"brine/wire/payload"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// weight is the page's use of the browser's resources, after garbage collection.
type weight struct {
	nodes, listeners int64
	heap             float64 // bytes
}

func (w weight) String() string {
	return fmt.Sprintf("%d nodes, %d listeners, %.1f MB of heap", w.nodes, w.listeners, w.heap/1e6)
}

func (s *site) weigh() (w weight) {
	s.t.Helper()
	s.do(chromedp.ActionFunc(func(ctx context.Context) error {
		for range 2 { // the second round collects objects that the first round released
			if err := heapprofiler.CollectGarbage().Do(ctx); err != nil {
				return err
			}
		}
		_, nodes, listeners, err := memory.GetDOMCounters().Do(ctx)
		if err != nil {
			return err
		}
		used, _, _, _, err := runtime.GetHeapUsage().Do(ctx)
		w = weight{nodes, listeners, used}
		return err
	}))
	return w
}

// bounded waits until the page uses no more than the limit, because the browser collects garbage when it finds
// the time.
func (s *site) bounded(what string, most weight) weight {
	s.t.Helper()
	var now weight
	for end := time.Now().Add(patience); ; <-time.After(200 * time.Millisecond) {
		now = s.weigh()
		if now.nodes <= most.nodes && now.listeners <= most.listeners && now.heap <= most.heap {
			return now
		}
		if time.Now().After(end) {
			s.t.Errorf("%s: %v, and at most %v may be", what, now, most)
			return now
		}
	}
}

// frames returns for the log the number of frames in a second, and the longest of them in milliseconds.
func (s *site) frames() string {
	return js[string](s, `new Promise((done) => { let n = 0, last = performance.now(), longest = 0, first = last;
		const f = (t) => { n++; longest = Math.max(longest, t - last); last = t; if (t - first < 1000) requestAnimationFrame(f); else done(n + " frames a second, the longest " + Math.round(longest) + " ms"); };
		requestAnimationFrame(f); })`)
}

// TestCrowd: with 1,000 minions, jobs for all of them, and 100 events a second, the document and the memory of
// the page stay small. Every event is shown or counted as missed.
func TestCrowd(t *testing.T) {
	const minions, events = 1000, 400
	s := newSite(t, plan{more: "auto_accept: True\n", rest: "rest_cherrypy: {host: 127.0.0.1, disable_ssl: True, " +
		"webhook_disable_auth: True"})
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f, err := fleet.Start(ctx, fleet.Options{Minions: minions, Prefix: "emu", Host: "127.0.0.1", RetPort: s.ret,
		Key:    key,
		Answer: func(string, *payload.Map) any { return true }})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = f.Wait() }) // the master may have ended before them
	s.open(1280, 800)
	s.login("admin", "right")
	s.until("the minions are up", func() bool { return f.Counts().Up == minions })
	s.sees("1000 minions")
	most := weight{nodes: 20000, listeners: 3000, heap: 40e6}
	t.Logf("fleet: %v, %s", s.bounded("fleet", most), s.frames())

	s.view("#/events?tag=salt/netapi/hook/")
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for i := range events {
		<-pace.C
		res, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/hook/crowd", s.api), "application/json",
			strings.NewReader(fmt.Sprintf(`{"n": %d}`, i)))
		if err != nil || res.Body.Close() != nil || res.StatusCode != 200 {
			t.Fatalf("event %d: %v, %v", i, res, err)
		}
	}
	s.until("all events are shown or counted", func() bool {
		return js[int](s,
			`[...document.querySelector(".bar:nth-of-type(2)").innerText.matchAll(/(\d+) (events|came)/g)].reduce((n, m) => n + Number(m[1]), 0)`) == events
	})
	t.Logf("events: %s; %v, %s", js[string](s, `document.querySelector(".bar:nth-of-type(2)").innerText`),
		s.bounded("events", most), s.frames())

	for range 3 { // jobs for all minions
		s.view("#/jobs?tgt=*&fun=test.ping")
		js[any](s, "document.querySelector('.run form').requestSubmit()")
		s.sees("1000 of 1000 returned")
		s.sees("1000 minions returned the same")
		s.until("the ways are there", func() bool {
			return js[int](s, "document.querySelectorAll('.lane').length") >= 100
		})
	}
	t.Logf("a job: %v, %s", s.bounded("job", most), s.frames())
	if n := js[int](s, "document.querySelectorAll('tbody tr').length"); n > 600 {
		t.Errorf("%d rows of 1000 are in the document, of which a screen shows 30", n)
	}
	s.picture("job")
	s.view("#/fleet")
	s.sees("1000 minions")
	s.picture("fleet")
	for range 20 { // scrolling shows all of them
		js[any](s, "window.scrollTo(0, document.body.scrollHeight)")
	}
	s.until("the last one can be scrolled to", func() bool {
		js[any](s, "window.scrollTo(0, document.body.scrollHeight)")
		return js[bool](s, "!!document.querySelector(\"tr[data-key='accepted/emu0999']\")")
	})
	t.Logf("all rows: %v, %s", s.bounded("all rows", weight{nodes: 60000, listeners: 8000, heap: 60e6}), s.frames())
}
