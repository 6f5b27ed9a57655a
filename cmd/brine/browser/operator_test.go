//go:build interop

package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// stops is a script that lists the visible elements below main that the keyboard must reach. It also defines a
// function for their names.
const stops = `(() => {
	window.nameOf = (e) => [e.closest("tr")?.dataset.key || "", e.tagName, e.name || e.getAttribute("aria-label") || e.placeholder || (e.tagName === "SELECT" ? "" : e.innerText.split("\n")[0])].join(" ");
	return [...document.querySelectorAll("#main :is(a[href], button, input, select, summary, [tabindex='0'])")].filter((e) => !e.disabled && e.checkVisibility() && !e.closest("[hidden]")).map(window.nameOf) })()`

// keyboard goes through each view with Tab alone. Tab reaches every element, the focus is visible, and a closed
// panel returns it.
func keyboard(t *testing.T, s *site) {
	for _, v := range allViews {
		s.view(v)
		if v == "#/events" {
			s.run("salt", "web1", "test.ping")
		}
		s.until("there are rows", func() bool { return js[bool](s, "!!document.querySelector('tbody tr')") })
		s.tabThrough(t, v)
		js[any](s, "document.querySelector('main').focus()")
		s.keys("j")
		row := js[string](s, "document.activeElement.innerText")
		s.keys("\r")
		if v == "#/jobs" {
			s.sees("Timeline of each minion")
			s.until("the job has rows", func() bool { return js[bool](s, "!!document.querySelector('tbody tr')") })
			s.tabThrough(t, "a job")
			continue
		}
		s.until("the panel is open", s.panelIsOpen)
		if !js[bool](s, "!!document.activeElement.closest('#panel')") {
			t.Errorf("%s: the focus is not in the panel", v)
		}
		if v == "#/actors" { // rows are drawn again while the panel is open
			js[any](s,
				`document.querySelectorAll("#main tbody button").forEach((b) => b.replaceWith(b.cloneNode(true)))`)
		}
		s.keys(kb.Escape)
		s.until(v+" has the focus back in the row", func() bool {
			return !s.panelIsOpen() && js[bool](s, fmt.Sprintf("!!document.activeElement.closest('tbody') && "+
				"document.activeElement.innerText === %q", row))
		})
	}
	js[any](s, "document.getElementById('help').focus()")
	s.keys("\r")
	s.until("the keys are shown", s.panelIsOpen)
	s.keys(kb.Escape)
	s.until("the focus is back", func() bool { return js[bool](s, "document.activeElement.id === 'help'") })
	js[any](s, "[...document.querySelectorAll('#nav a')].find((a) => a.innerText === 'Fleet').focus()")
	s.keys("\r")
	s.until("the view has the focus", func() bool {
		return js[bool](s, "document.activeElement.id === 'main' && location.hash === '#/fleet'")
	})
}

// tabThrough goes forward until the focus leaves the page's content.
func (s *site) tabThrough(t *testing.T, where string) {
	t.Helper()
	before := js[[]string](s, stops)
	js[any](s, "document.getElementById('main').focus()")
	var reached []string
	for range 200 {
		s.keys("\t")
		at := js[[]string](s, `(() => { const e = document.activeElement, c = getComputedStyle(e);
			return e.closest("#main") ? [window.nameOf(e), c.outlineStyle !== "none" && parseFloat(c.outlineWidth) >= 2 ? "" : "unseen"] : [] })()`)
		if len(at) == 0 {
			break
		}
		if at[1] != "" {
			t.Errorf("%s: the focus on %q cannot be seen", where, at[0])
		}
		reached = append(reached, at[0])
	}
	after := js[[]string](s, stops)
	for _, name := range before {
		if slices.Contains(after, name) && !slices.Contains(reached, name) {
			t.Errorf("%s: Tab does not come to %q, but to %q", where, name, reached)
		}
	}
}

// addresses: the address names the current view and panel, and a reload shows them again.
func addresses(_ *testing.T, s *site) {
	s.view("#/fleet")
	s.click(".chips button:nth-child(2)")
	s.until("it is sorted", func() bool {
		return js[bool](s,
			`(() => { const b = [...document.querySelectorAll("th button")].find((b) => b.innerText.startsWith("Connection")); b?.click(); return !!b })()`)
	})
	s.click("tr[data-key='accepted/web2'] button")
	s.sees("osfullname")
	s.reload("#/fleet?key=accepted&sort=Connection&minion=web2")
	s.sees("osfullname")
	s.until("the minion, the filter and the order are as before", func() bool {
		return js[string](s,
			`[document.getElementById("panel-title").innerText, document.querySelector(".chips [aria-pressed=true]").innerText.split(" ")[0], document.querySelector("th[aria-sort=ascending]").innerText.trim().split(" ")[0]].join()`) == "web2,accepted,Connection"
	})
	s.keys(kb.Escape)
	s.until("the address forgets the panel", func() bool {
		return js[string](s, "location.hash") == "#/fleet?key=accepted&sort=Connection"
	})

	s.view("#/jobs")
	s.click(".chips button:last-child")
	js[any](s,
		`(() => { const i = document.querySelector("[data-search]"); i.value = "test.ec"; i.dispatchEvent(new Event("input")); })()`)
	s.until("the address has the search", func() bool {
		return strings.Contains(js[string](s, "location.hash"), "find=test.ec")
	})
	s.reload("#/jobs?state=done&find=test.ec")
	s.until("only what was searched for is there", func() bool {
		return js[string](s,
			`[...document.querySelectorAll("tbody tr")].map((tr) => tr.querySelector("a").innerText + " " + tr.querySelector("td[data-label=Returned]").innerText.trim()).join()`) == "test.echo 1 of 1"
	})
	js[any](s,
		`(() => { const i = document.querySelector("[data-search]"); i.value = "nothing like this"; i.dispatchEvent(new Event("input")); })()`)
	s.sees("No job matches.")

	s.view("#/actors")
	s.click("tr[data-key='master/Maintenance'] button")
	s.until("the actor is shown", s.panelIsOpen)
	s.reload("#/actors?actor=master%2FMaintenance")
	s.sees("Last deaths")

	s.view("#/events?text=here")
	s.reload("#/events?text=here")
	s.until("the filter is there", func() bool {
		return js[bool](s, "document.querySelectorAll('.bar input')[1].value === 'here'")
	})
}

// reload loads the page again. The address must then be hash.
func (s *site) reload(hash string) {
	s.t.Helper()
	s.until("the address is "+hash, func() bool { return js[string](s, "location.hash") == hash })
	s.do(chromedp.Reload())
	s.live()
}
