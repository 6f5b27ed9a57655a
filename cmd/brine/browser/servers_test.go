//go:build interop

package browser

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestTornado: the page under rest_tornado.
func TestTornado(t *testing.T) {
	s := newSite(t, plan{rest: "rest_tornado: {address: 127.0.0.1, disable_ssl: True"})
	s.minion("web1", "")
	s.open(1280, 800)
	s.walk(false)
}

// TestTLS: the page over TLS and below a root_prefix; its cookie is for that alone.
func TestTLS(t *testing.T) {
	crt, key := certificate(t)
	s := newSite(t, plan{tls: true, prefix: "/salt/api", rest: fmt.Sprintf("rest_cherrypy: {host: 127.0.0.1, root_prefix: /salt/api, ssl_crt: %s, ssl_key: %s", crt, key)})
	s.minion("web1", "")
	s.open(1280, 800)
	s.walk(true)
	s.do(chromedp.Navigate(strings.TrimSuffix(s.base, "/"))) // without the slash, as one types it
	s.sees("1 connected")
}

// walk logs in, sees all views live, runs a function, and looks at the cookie.
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
	if len(cookies) != 1 || cookies[0].Secure != secure || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteStrict {
		s.t.Errorf("the cookies are %+v", cookies)
	}
	js[any](s, "document.getElementById('logout').click()")
	s.sees("Logged out.")
	if status := js[int](s, "fetch('api/logout', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Brine-Console': '1' }, body: '{}' }).then((r) => r.status)"); status != 401 {
		s.t.Errorf("after the log-out the session still answers: %d", status)
	}
	s.login("admin", "right")
	s.sees("1 of 1 returned")
}

// certificate makes one for this machine, and its key, in files.
func certificate(t *testing.T) (crt, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	crt, key = filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	for path, b := range map[string]*pem.Block{crt: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return crt, key
}
