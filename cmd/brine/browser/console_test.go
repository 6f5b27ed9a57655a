//go:build interop

package browser

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsole uses all views as an operator would, mostly without a mouse.
func TestConsole(t *testing.T) {
	s := newSite(t, plan{})
	s.minion("web1", "process_count_max: 1\n")
	frozen := s.minion("web2", "")
	s.open(1280, 800)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *site)
	}{
		{"log-in", logIn}, {"fleet", fleetView}, {"jobs", func(t *testing.T, s *site) {
			jobsView(t, s, frozen.Process)
		}}, {"queue", queue}, {"actors", actorsView},
		{"events", eventsView}, {"connection", connection}, {"narrow", narrow}, {"axe", axe}, {"keyboard", keyboard},
		{"address", addresses}, {"few rights", fewRights},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			inner := *s
			inner.t = t
			part.run(t, &inner)
		}) {
			return
		}
	}
}

func logIn(t *testing.T, s *site) {
	s.bringAxe(t)
	s.inBothThemes(func(theme string) { s.check(t, theme+" log-in") })
	s.login("admin", "wrong")
	s.sees("Not logged in")
	s.inBothThemes(func(theme string) { s.check(t, theme+" log-in with an error") })
	s.picture("wrong")
	s.do(chromedp.WaitEnabled("form button"))
	js[any](s, "document.querySelector('input[name=username]').focus()")
	s.login("admin", "right")
	s.sees("Minion")
	s.live()
}

// fleetView accepts both keys with the keyboard, searches, and opens a minion.
func fleetView(t *testing.T, s *site) {
	s.sees("pending 2")
	for _, id := range []string{"web1", "web2"} {
		s.until("the button has the focus", func() bool {
			return js[bool](s, `(() => { const b = document.querySelector("[aria-label='accept the key of `+id+
				`']"); b?.focus(); return document.activeElement === b && !!b })()`)
		})
		s.keys("\r")
		s.until(id+" is accepted", func() bool {
			return js[bool](s, `!!document.querySelector("tr[data-key='accepted/`+id+`']")`)
		})
	}
	s.sees("2 connected")
	js[any](s, "document.querySelector('main').focus()")
	s.keys("/")
	s.until("the search has the focus", func() bool {
		return js[bool](s, "document.activeElement.matches('[data-search]')")
	})
	js[any](s, "document.activeElement.value = ''") // the driver also types the character of a handled key
	s.keys("web1 and G@id:web1")
	s.sees("1 minion matches")
	js[any](s, "(() => { const i = document.querySelector('[data-search]'); i.value = ''; i.dispatchEvent(new "+
		"Event('input')) })()")
	s.sees("2 minions, 2 connected")
	s.picture("fleet")
	js[any](s, "document.querySelector('main').focus()")
	s.keys("j")
	s.keys("\r")
	s.sees("osfullname")
	s.picture("grains")
	s.keys(kb.Escape)
	s.until("the panel is closed", func() bool { return js[bool](s, "!document.getElementById('panel').open") })
}

// jobsView runs a function after completing its name, on a minion that answers and on one that is stopped.
func jobsView(_ *testing.T, s *site, frozen *os.Process) {
	s.view("#/jobs")
	js[any](s, "document.querySelector('.run input').focus()")
	s.keys("web1\t\ttest.ec")
	s.sees("test.echo")
	s.picture("completion")
	// Enter would also choose, but the driver types its character as well, and the form would be sent
	s.keys(kb.ArrowDown + kb.Tab)
	s.sees("test.echo text")
	s.keys("'a b'\r")
	s.sees("1 of 1 returned")
	s.sees("a b")
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	s.view("#/jobs?tgt=*&fun=test.ping")
	js[any](s, "document.querySelector('.run [role=combobox]').focus()")
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("1 of 2 returned")
	s.sees("[connected_no_answer]")
	s.picture("silence")
	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
	s.sees("2 minions returned the same")
	s.sees("2 of 2 returned")
	s.until("the timelines are there", func() bool {
		return js[int](s, "document.querySelectorAll('.lane i').length") >= 4
	})
	s.picture("job")
}

// queue: a job that waits on its minion for another job is shown as queued until the other job ends.
func queue(_ *testing.T, s *site) {
	s.view("#/jobs")
	state := func(fun string) string {
		return js[string](s,
			`(() => { const row = [...document.querySelectorAll("tbody tr")].find((tr) => tr.innerText.includes("`+fun+
				`")); return row ? row.querySelector("td[data-label=State]").innerText : "" })()`)
	}
	s.run("salt", "--async", "web1", "test.sleep", "300")
	s.until("the first job runs", func() bool { return strings.Contains(state("test.sleep"), "running") })
	s.run("salt", "--async", "web1", "test.kwarg", "a=b")
	s.until("the second job waits", func() bool { return strings.Contains(state("test.kwarg"), "queued") })
	if got := state("test.sleep"); !strings.Contains(got, "running") {
		s.t.Errorf("the first job is %q", got)
	}
	s.picture("queued")
	js[any](s, `[...document.querySelectorAll(".chips button")].find((b) => b.innerText.startsWith("queued")).click()`)
	s.until("only what is queued is shown", func() bool {
		return js[int](s, "document.querySelectorAll('tbody tr').length") == 1
	})
	s.run("salt", "web1", "saltutil.term_all_jobs")
	s.sees("queued 0")
	js[any](s, `document.querySelector(".chips button").click()`)
	s.until("both are done", func() bool {
		return strings.Contains(state("test.sleep"), "done") && strings.Contains(state("test.kwarg"), "done")
	})
}

// actorsView kills an actor of the master. The page shows it within a second.
func actorsView(t *testing.T, s *site) {
	s.view("#/actors")
	s.until("the tree is there", func() bool {
		return js[bool](s, `!!document.querySelector("tr[data-key='master/Maintenance']")`)
	})
	soonest := time.Hour
	for range 5 { // a busy machine may be late now and then
		js[any](s, `(() => { const row = document.querySelector("tr[data-key='master/Maintenance']"), was = row.querySelector("td[data-label=Restarts]").innerText; window.died = 0;
			const o = new MutationObserver(() => { if (row.querySelector("td[data-label=Restarts]").innerText !== was && row.innerText.includes("injected fault")) { window.died = Date.now(); o.disconnect(); } });
			o.observe(row, { childList: true, subtree: true, characterData: true }); })()`)
		s.run("brine", "crash", "Maintenance", "--how", "panic")
		done := time.Now()
		s.until("the death is shown", func() bool { return js[bool](s, "!!window.died") })
		soonest = min(soonest, time.UnixMilli(js[int64](s, "window.died")).Sub(done))
		if soonest <= time.Second {
			break
		}
	}
	t.Logf("the death was shown %v after the tool that caused it had ended", soonest)
	if soonest > time.Second {
		t.Error("that is more than a second")
	}
	s.picture("actors")
	js[any](s, `document.querySelector("tr[data-key='master/Maintenance'] button").click()`)
	s.sees("Last deaths")
	js[any](s, "document.querySelector('#panel details').open = true")
	s.sees("supervisor.Crash")
	s.picture("death")
	s.keys(kb.Escape)
	s.view("#/actors?of=web1")
	s.until("the tree of the minion is there", func() bool {
		return strings.Contains(js[string](s, "document.querySelector('tbody').innerText"), "Dispatcher")
	})
}

func eventsView(_ *testing.T, s *site) {
	s.view("#/events?tag=salt/job/*/ret/*")
	s.run("salt", "web1", "test.ping")
	s.sees("/ret/web1")
	s.keys("p")
	s.run("salt", "web1", "test.ping")
	s.sees("1 wait")
	s.keys("p")
	s.until("both are there", func() bool { return js[int](s, "document.querySelectorAll('tbody tr').length") == 2 })
	s.picture("events")
	js[any](s, "document.querySelector('main').focus()")
	s.keys("j")
	s.keys("\r")
	s.sees("fun_args")
	s.keys(kb.Escape)
}

// connection: the connection is lost and restored. The page then goes on.
func connection(_ *testing.T, s *site) {
	s.view("#/fleet")
	s.sees("2 connected")
	s.door.set(true)
	s.sees("connection lost, trying again")
	s.picture("lost")
	s.door.set(false)
	s.live()
	s.sees("2 connected")
}

var allViews = []string{"#/fleet", "#/jobs", "#/actors", "#/events"}

// narrow: no part of the page is wider than a phone.
func narrow(t *testing.T, s *site) {
	s.do(chromedp.EmulateViewport(360, 740))
	for _, v := range allViews {
		s.view(v)
		s.until("there is something", func() bool {
			return v == "#/events" || js[bool](s, "!!document.querySelector('tbody tr')")
		})
		if w := js[int](s, "document.documentElement.scrollWidth"); w > 360 {
			t.Errorf("%s is %d pixels wide", v, w)
		}
		s.picture(v[2:])
	}
	js[any](s, "location.hash = '#/jobs'")
	s.until("jobs are there", func() bool { return js[bool](s, "!!document.querySelector('tbody a')") })
	js[any](s, "location.hash = document.querySelector('tbody a').getAttribute('href')")
	s.sees("Timeline of each minion")
	if w := js[int](s, "document.documentElement.scrollWidth"); w > 360 {
		t.Errorf("a job is %d pixels wide", w)
	}
	s.picture("job")
	s.do(chromedp.EmulateViewport(1280, 800))
}

// fewRights: a user who may run only a few functions sees the results of these, and nothing else.
func fewRights(t *testing.T, s *site) {
	js[any](s, "document.getElementById('logout').click()")
	s.sees("Logged out.")
	s.login("limited", "right")
	s.sees("Run")
	s.bringAxe(t)
	s.inBothThemes(func(theme string) { s.check(t, theme+" few rights") })
	s.picture("jobs")
	if nav := js[string](s, "document.getElementById('nav').innerText.trim()"); nav != "Jobs" {
		t.Errorf("the views are %q", nav)
	}
	s.view("#/jobs?tgt=web1&fun=test.ping")
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("1 of 1 returned")
	s.view("#/jobs")
	s.until("his own job is there", func() bool {
		return js[int](s, "document.querySelectorAll('tbody tr').length") > 0
	})
	if users := js[string](s, "[...new Set([...document.querySelectorAll('td[data-label=User]')].map((td) => "+
		"td.innerText))].join()"); users != "limited" {
		t.Errorf("sees jobs of %q", users)
	}
	s.view("#/jobs?tgt=web1&fun=cmd.run")
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("Authorization error occurred")
}
