//go:build interop

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/crypt"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// key puts the key of a minion into a folder of the pki tree.
func (s *site) key(folder, id string) {
	s.t.Helper()
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		s.t.Fatal(err)
	}
	path := s.pki(folder, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(key.Public().PEM()), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) pki(words ...string) string {
	return filepath.Join(append([]string{s.dir, "m", "etc", "salt", "pki", "master"}, words...)...)
}

// pkiTree lists the keys in all folders.
func (s *site) pkiTree() string {
	s.t.Helper()
	var out []string
	for _, folder := range []string{"minions", "minions_pre", "minions_rejected", "minions_denied"} {
		list, err := os.ReadDir(s.pki(folder))
		if err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), ".") {
				out = append(out, folder+"/"+e.Name())
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// asks answers the questions of the page with a function, and collects them.
func (s *site) asks(answer func(text string) bool) *[]string {
	asked := &[]string{}
	chromedp.ListenTarget(s.page, func(event any) {
		if e, ok := event.(*page.EventJavascriptDialogOpening); ok {
			*asked = append(*asked, e.Message)
			yes := answer(e.Message)
			go func() {
				if err := s.try(page.HandleJavaScriptDialog(yes)); err != nil {
					s.t.Errorf("answer a question: %v", err)
				}
			}()
		}
	})
	return asked
}

const acceptAll = `[...document.querySelectorAll("button")].find((b) => b.innerText.startsWith("Accept all") && b.checkVisibility())`

// TestAcceptAll: the button accepts the pending keys, and nothing else, even if keys change meanwhile.
func TestAcceptAll(t *testing.T) {
	s := newSite(t, plan{})
	for _, at := range []string{"minions_pre/p1", "minions_pre/p2", "minions_pre/p3", "minions_pre/acc1,rej1",
		"minions/acc1", "minions_rejected/rej1", "minions_denied/den1", "minions_denied/acc1"} {
		s.key(filepath.Dir(at), filepath.Base(at))
	}
	before := s.pkiTree()
	s.open(1280, 800)
	yes, meanwhile := false, func() {}
	asked := s.asks(func(string) bool { meanwhile(); return yes })

	s.login("looker", "right") // this user may see the keys, but not change them
	s.sees("pending 4")
	if js[bool](s, "!!"+acceptAll+" || !!document.querySelector('tbody .acts button')") {
		t.Error("who may not accept keys is shown buttons for it")
	}
	if got := js[string](s,
		`fetch("api/fleet/p1/key", { method: "POST", headers: { "Content-Type": "application/json", "X-Brine-Console": "1" }, body: '{"act":"accept"}' }).then(async (r) => r.status + (await r.json()).error)`); !strings.HasPrefix(got, "403") || !strings.Contains(got, "no rule") {
		t.Errorf("who asks all the same hears %q", got)
	}
	js[any](s, "document.getElementById('logout').click()")
	s.sees("Logged out.")

	s.login("admin", "right")
	s.until("the button is there", func() bool { return js[bool](s, "!!"+acceptAll) })
	s.chip("accepted")
	s.until("it is not where nothing that waits is shown", func() bool { return !js[bool](s, "!!"+acceptAll) })
	s.chip("pending")
	s.until("it is again", func() bool { return js[bool](s, "!!"+acceptAll) })
	js[any](s, acceptAll+".click()") // the user answers no
	if want := "Accept the keys of 4 minions?\nacc1,rej1, p1, p2, p3"; len(*asked) != 1 || (*asked)[0] != want {
		t.Errorf("asked %q, want %q", *asked, want)
	}
	if now := s.pkiTree(); now != before {
		t.Errorf("after a no there are %s, before %s", now, before)
	}

	// One key disappears while the page asks. A double click counts as one click.
	yes, meanwhile = true, func() {
		meanwhile = func() {}
		if err := os.Remove(s.pki("minions_pre", "p2")); err != nil {
			t.Error(err)
		}
	}
	js[any](s, `{ window.sent = 0; const real = window.fetch; window.fetch = (u, i) => { if (i?.method === "POST") window.sent++; return real(u, i); } }
		{ const b = `+acceptAll+`; b.focus(); b.click(); b.click(); }`)
	s.sees("3 of 4 keys are accepted. There is no key of p2 any more to accept.")
	if sent := js[int](s, "window.sent"); len(*asked) != 2 || sent != 4 {
		t.Errorf("two clicks asked %d times and sent %d requests, want 1 and 4", len(*asked)-1, sent)
	}
	want := "minions/acc1 minions/acc1,rej1 minions/p1 minions/p3 minions_denied/acc1 minions_denied/den1 " +
		"minions_rejected/rej1"
	if now := s.pkiTree(); now != want {
		t.Errorf("there are %s, want %s", now, want)
	}
	s.until("nothing waits any more", func() bool { return !js[bool](s, "!!"+acceptAll) })
	s.sees("3 of 4 keys are accepted") // new rows do not remove the text
	s.until("the keyboard is not lost", func() bool { return js[bool](s, "document.activeElement.id === 'main'") })
	s.chip("all")

	// An id that names two other minions is one id: only its own key is rejected.
	js[any](s, `location.hash = "#/fleet?minion=acc1,rej1"`)
	s.until("it is opened", s.panelIsOpen)
	s.click("#panel [aria-label='reject the key of acc1,rej1']")
	s.until("it is rejected", func() bool { return strings.Contains(s.pkiTree(), "minions_rejected/acc1,rej1") })
	if now, want := s.pkiTree(), "minions/acc1 minions/p1 minions/p3 minions_denied/acc1 minions_denied/den1 "+
		"minions_rejected/acc1,rej1 minions_rejected/rej1"; now != want {
		t.Errorf("there are %s, want %s", now, want)
	}
}

// chip selects a key state.
func (s *site) chip(state string) {
	s.t.Helper()
	s.until("there is the choice "+state, func() bool {
		return js[bool](s,
			fmt.Sprintf(
				`(() => { const b = [...document.querySelectorAll(".chips button")].find((b) => b.innerText.startsWith(%q)); b?.click(); return !!b })()`, state))
	})
}
