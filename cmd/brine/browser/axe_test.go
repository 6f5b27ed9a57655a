//go:build interop

package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
)

// bringAxe loads axe-core into the page.
func (s *site) bringAxe(t *testing.T) {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	script, err := os.ReadFile(filepath.Join(cache, "brine", "axe", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v: .ci/browser-peers fetches it", err)
	}
	js[any](s, string(script)+"; null")
}

// inBothThemes calls f in the light and in the dark theme.
func (s *site) inBothThemes(f func(theme string)) {
	s.t.Helper()
	for _, theme := range []string{"dark", "light"} {
		s.inTheme(theme)
		f(theme)
	}
}

// inTheme makes the system's theme light or dark.
func (s *site) inTheme(theme string) {
	s.t.Helper()
	s.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
		Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
}

// axe checks all views and panels for barriers, light and dark.
func axe(t *testing.T, s *site) {
	s.bringAxe(t)
	job := "#/jobs/" + js[string](s, "location.hash.split('/')[2] || ''")
	s.inBothThemes(func(theme string) {
		for _, v := range append([]string{job}, allViews...) {
			s.view(v)
			if v == "#/events" {
				s.run("salt", "web1", "test.ping")
			}
			s.until("there is something", func() bool { return js[bool](s, "!!document.querySelector('tbody tr')") })
			s.check(t, theme+" "+v)
			s.picture(theme + strings.NewReplacer("#", "", "/", "-").Replace(v))
			if v == job || v == "#/jobs" {
				continue
			}
			js[any](s, "document.querySelector('tbody button').click()")
			s.until("the panel is open", s.panelIsOpen)
			s.check(t, theme+" panel of "+v)
			s.picture(theme + "-panel-" + v[2:])
			s.keys(kb.Escape)
			s.until("the panel is closed", func() bool { return !s.panelIsOpen() })
		}
		js[any](s, "document.getElementById('help').click()")
		s.sees("show these keys")
		s.check(t, theme+" help")
		s.picture(theme + "-help")
		s.keys(kb.Escape)
	})
}

func (s *site) panelIsOpen() bool { return js[bool](s, "document.getElementById('panel').open") }

// check runs axe on the current page.
func (s *site) check(t *testing.T, where string) {
	t.Helper()
	found := js[string](s, `axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
		.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary) }))))`)
	var list []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		t.Errorf("%s: %s: %s: %s", where, v.ID, v.Help, strings.Join(v.Nodes, "\n"))
	}
}
