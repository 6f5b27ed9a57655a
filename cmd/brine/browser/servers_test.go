//go:build interop

package browser

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/wiretest"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestTornado tests the page under rest_tornado.
func TestTornado(t *testing.T) {
	s := newSite(t, plan{rest: "rest_tornado: {address: 127.0.0.1, disable_ssl: True"})
	s.minion("web1", "")
	s.open(1280, 800)
	s.walk(false)
}

// TestTLS tests the page over TLS and below a root_prefix. Its cookie is restricted to these.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	crt, key := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	wiretest.Certificate(t, crt, key, 1)
	s := newSite(t, plan{tls: true, prefix: "/salt/api", rest: fmt.Sprintf("rest_cherrypy: {host: 127.0.0.1, "+
		"root_prefix: /salt/api, ssl_crt: %s, ssl_key: %s", crt, key)})
	s.minion("web1", "")
	s.open(1280, 800)
	s.walk(true)
	s.do(chromedp.Navigate(strings.TrimSuffix(s.base, "/"))) // a user may omit the slash
	s.sees("1 connected")
}

// walk logs in, waits for the streams of all views, runs a function, and checks the cookie.
func (s *site) walk(secure bool) {
	s.t.Helper()
	s.login("admin", "right")
	s.sees("pending 1")
	s.click("[aria-label='accept the key of web1']")
	s.sees("1 connected")
	for _, v := range allViews {
		s.view(v)
	}
	s.view("#/actors")
	s.sees("Maintenance")
	s.view("#/jobs?tgt=web1&fun=test.ping")
	js[any](s, "document.querySelector('.run form').requestSubmit()")
	s.sees("1 of 1 returned")
	var cookies []*network.Cookie
	s.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	if len(cookies) != 1 || cookies[0].Secure != secure || !cookies[0].HTTPOnly ||
		cookies[0].SameSite != network.CookieSameSiteStrict {
		s.t.Errorf("the cookies are %+v", cookies)
	}
	js[any](s, "document.getElementById('logout').click()")
	s.sees("Logged out.")
	if status := js[int](s, "fetch('api/logout', { method: 'POST', headers: { 'Content-Type': 'application/json', "+
		"'X-Brine-Console': '1' }, body: '{}' }).then((r) => r.status)"); status != 401 {
		s.t.Errorf("after the log-out the session still answers: %d", status)
	}
	s.login("admin", "right")
	s.sees("1 of 1 returned")
}
