//go:build interop

package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// clipboard permits or forbids the page to write to the clipboard. The test itself may read it.
func (s *site) clipboard(write browser.PermissionSetting) {
	s.t.Helper()
	origin := js[string](s, "location.origin")
	s.do(chromedp.ActionFunc(func(ctx context.Context) error {
		for name, set := range map[string]browser.PermissionSetting{"clipboard-read": browser.PermissionSettingGranted,
			"clipboard-write": write} {
			if err := browser.SetPermission(&browser.PermissionDescriptor{Name: name}, set).WithOrigin(origin).Do(
				ctx); err != nil {
				return err
			}
		}
		return nil
	}))
}

// copied returns the content of the clipboard.
func (s *site) copied() string {
	s.t.Helper()
	s.do(emulation.SetFocusEmulationEnabled(true)) // a page without focus may not read it
	return js[string](s, "navigator.clipboard.readText()")
}

const copyButton = `document.querySelector("[aria-label='Copy the job id']")`

// TestCopy: the button copies the id of the job to the clipboard, also if the browser gives the page no
// clipboard. If that fails, the page says so.
func TestCopy(t *testing.T) {
	s := newSite(t, plan{})
	s.minion("web1", "")
	s.open(1280, 800, chromedp.Flag("host-resolver-rules", "MAP master.example 127.0.0.1"))
	s.walkToJob()
	jid := js[string](s, "location.hash.split('/')[2]")
	press := func(says, text string) {
		t.Helper()
		js[any](s, copyButton+".focus(); document.getElementById('say').textContent = ''; window.said = []; new "+
			"MutationObserver(() => said.push("+copyButton+".innerText)).observe("+copyButton+", { childList: true })")
		s.keys("\r")
		s.until("the button says "+says+", and who hears the page hears it", func() bool {
			// the text stays for two seconds
			return js[bool](s, fmt.Sprintf("said.includes(%q) && document.getElementById('say').textContent === %q",
				says, text))
		})
		if !js[bool](s, "document.activeElement === "+copyButton) {
			t.Error("the button has lost the focus")
		}
	}
	for _, write := range []browser.PermissionSetting{browser.PermissionSettingGranted,
		browser.PermissionSettingDenied} {
		s.clipboard(browser.PermissionSettingGranted)
		s.do(emulation.SetFocusEmulationEnabled(true))
		js[any](s, "navigator.clipboard.writeText('something else')")
		s.clipboard(write)
		press("Copied", "Copied.")
		press("Copied", "Copied.") // a second click changes nothing
		if got := s.copied(); got != jid {
			t.Errorf("writing %s: the clipboard holds %q, want %q", write, got, jid)
		}
		s.until("the button is as before", func() bool { return js[string](s, copyButton+".innerText") == "Copy" })
	}
	js[any](s, "document.execCommand = () => false")
	press("Not copied", "It could not be copied.")

	// Without TLS and at a foreign address, the browser gives the page no clipboard.
	secure := s.base
	s.base = strings.Replace(s.base, "127.0.0.1", "master.example", 1)
	s.do(chromedp.Navigate(s.url("#/jobs/" + jid)))
	s.login("admin", "right")
	s.sees("1 of 1 returned")
	if js[bool](s, "isSecureContext") {
		t.Fatal("the page is told that it came by a safe way")
	}
	press("Copied", "Copied.")
	s.do(chromedp.Navigate(secure))
	s.clipboard(browser.PermissionSettingGranted)
	if got := s.copied(); got != jid {
		t.Errorf("without TLS the clipboard holds %q, want %q", got, jid)
	}
}

// walkToJob logs in, accepts web1, and runs a function on it.
func (s *site) walkToJob() {
	s.t.Helper()
	s.login("admin", "right")
	s.click("[aria-label='accept the key of web1']")
	s.sees("1 connected")
	s.view("#/jobs?tgt=web1&fun=test.ping")
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("1 of 1 returned")
}
