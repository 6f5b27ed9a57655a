//go:build interop

package browser

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"brine/actors/netapi/console"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// quiet lets the test fail if the page writes anything to its console. (open does this for rejected promises in
// every test.) The browser's own messages about failed requests and unreachable servers do not count.
func (s *site) quiet() {
	s.t.Helper()
	chromedp.ListenTarget(s.page, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Source != log.SourceNetwork {
				s.t.Errorf("the browser says: %s %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text)
			}
		case *runtime.EventConsoleAPICalled:
			s.t.Errorf("the page wrote to its console: %s", e.Type)
		}
	})
	s.do(log.Enable())
}

// walkAll goes through the views and panels without waiting, and then waits for each.
func (s *site) walkAll() {
	s.t.Helper()
	js[any](s, `(async () => { for (const v of ["fleet", "jobs", "actors", "events", "jobs/20261123163305316797", "fleet", "actors?of=web1", "fleet?minion=web1", "none"]) {
		location.hash = "#/" + v; await new Promise((done) => requestAnimationFrame(done)); document.querySelector("tbody button")?.click(); } })()`)
	for _, v := range allViews {
		s.view(v)
	}
}

// away stops a brine daemon while f runs.
func (s *site) away(tool string, f func()) {
	s.t.Helper()
	cmd := s.daemons[tool]
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		s.t.Fatal(err)
	}
	_ = cmd.Wait() // the signal ends it
	f()
	s.start(tool)
}

// lookedAt is a site with a logged-in page that must not write to the console.
func lookedAt(t *testing.T) *site {
	s := newSite(t, plan{})
	s.minion("web1", "")
	s.open(1280, 800)
	s.quiet()
	s.login("admin", "wrong")
	s.sees("Not logged in")
	s.do(chromedp.WaitEnabled("form button"))
	js[any](s, "document.querySelector('input[name=username]').focus()")
	s.walkToJob()
	return s
}

// TestQuiet: a walk through all views, also over a slow network, writes nothing to the browser's console.
func TestQuiet(t *testing.T) {
	s := lookedAt(t)
	s.walkAll()
	s.do(network.Enable(), network.EmulateNetworkConditions(false, 300, 20000, 20000))
	s.walkAll()
}

// TestMasterAway: while the master is away, the page says that, in each view and after a reload. It does not
// say that the connection is lost. Known data stays. The page recovers with the master.
func TestMasterAway(t *testing.T) {
	s := lookedAt(t)
	lost := func() {
		if js[bool](s, "window.lost") {
			t.Error("the page said that the connection was lost")
		}
	}
	s.view("#/fleet")
	s.sees("1 connected")
	js[any](s,
		`window.lost = false; new MutationObserver(() => { window.lost ||= document.getElementById("link").textContent.includes("lost") }).observe(document.getElementById("link"), { childList: true, subtree: true, characterData: true })`)
	s.away("salt-master", func() {
		s.sees("The master is away")
		s.picture("fleet")
		if rows := js[int](s, "document.querySelectorAll('tbody tr').length"); rows != 1 {
			t.Errorf("of what was known %d rows are shown", rows)
		}
		for _, v := range []string{"#/jobs", "#/actors", "#/fleet"} {
			js[any](s, "location.hash = '"+v+"'")
			s.sees("Not known while the master is away.")
			s.sees("The master is away")
			s.picture(v[2:])
		}
		js[any](s, "location.hash = '#/jobs?tgt=web1&fun=test.ping'")
		s.until("there is the form", func() bool {
			return js[bool](s, "(() => { const f = document.querySelector('.run form'); f?.requestSubmit(); return "+
				"!!f })()")
		})
		s.until("the form says why it does not run", func() bool {
			return strings.Contains(js[string](s, "document.querySelector('.run .error').innerText"),
				"The master is away")
		})
		js[any](s, "location.hash = '#/fleet'")
		s.sees("Not known while the master is away.")
	})
	s.sees("1 connected")
	lost()
	s.away("salt-master", func() {
		s.sees("The master is away")
		s.do(chromedp.Reload())
		s.sees("The master is away")
		s.picture("reload")
	})
	s.sees("1 connected")
	s.away("salt-master", func() { // a user can log out although the master cannot answer
		s.sees("The master is away")
		js[any](s, "document.getElementById('logout').click()")
		s.sees("Logged out.")
	})
	s.do(chromedp.Reload())
	s.do(chromedp.WaitVisible("input[name=username]"))
}

// TestControlSocketComes: a page that was loaded before the master had a control socket shows the socket's data
// as soon as it exists.
func TestControlSocketComes(t *testing.T) {
	s := newStand(t, http.NotFound)
	s.bare.Store(true)
	s.open(1280, 800)
	s.show("#/fleet", "fleet")
	s.rows("fleet", map[string]any{"accepted/web1": console.Minion{ID: "web1", Key: "accepted", Connected: "yes"}})
	s.sees("web1")
	if text := js[string](s.site, "document.body.innerText"); strings.Contains(text, "connected") {
		t.Errorf("the page says %q", text)
	}
	s.bare.Store(false)
	before := s.newest.Load()
	s.send("beat", console.Beat{Brine: true})
	s.until("the page has a new stream", func() bool { return s.newest.Load() != before })
	s.rows("fleet", map[string]any{"accepted/web1": console.Minion{ID: "web1", Key: "accepted", Connected: "yes"}})
	s.sees("1 minion, 1 connected")
}

// TestSessionEnds: salt-api restarts, and later the session ends without the page's knowledge.
func TestSessionEnds(t *testing.T) {
	s := lookedAt(t)
	s.view("#/fleet")
	s.away("salt-api", func() { s.sees("connection lost") })
	s.sees("The session has ended. Log in again.") // sessions end with salt-api
	s.login("admin", "right")
	s.sees("1 connected")

	s.endSession() // the page notices it at its next request
	s.door.set(true)
	s.sees("connection lost")
	s.door.set(false)
	s.sees("The session has ended. Log in again.")
	s.login("admin", "right")
	s.sees("1 connected")
	s.view("#/jobs?tgt=web1&fun=test.ping")
	s.endSession() // a question that the page sends before it notices it
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("nobody is logged in")
	s.do(chromedp.Reload())
	s.login("admin", "right")
	s.live()
	js[any](s, "document.getElementById('logout').click(); document.getElementById('logout').click()")
	s.sees("Logged out.")
}

// endSession logs the page's session out without the page's knowledge.
func (s *site) endSession() {
	s.t.Helper()
	var cookies []*network.Cookie
	s.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url("api/logout"), strings.NewReader("{}"))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Brine-Console", "1")
	for _, c := range cookies {
		req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("log-out behind the page's back: %s, %v", res.Status, err)
	}
}
