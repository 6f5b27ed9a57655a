//go:build interop

package browser

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const release = "3008" // release of Salt for this test

// master starts a Salt master until the test ends.
func (s *site) master(release string) {
	s.t.Helper()
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			s.t.Fatal(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	if _, err := os.Stat(filepath.Join(cache, release, ".complete")); err != nil {
		s.t.Fatalf("salt %s is not installed (run .ci/salt-peers %s): %v", release, release, err)
	}
	s.daemon("salt-master", exec.Command(filepath.Join(cache, release, "bin", "salt-master"), "-c",
		filepath.Join(s.dir, "etc"), "-l", "info"))
	bus := filepath.Join(s.dir, "m", "var", "run", "salt", "master", "master_event_pub.ipc")
	s.until("the master of Salt answers", func() bool {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.ret), time.Second)
		if err != nil {
			return false
		}
		_ = c.Close()
		_, err = os.Stat(bus)
		return err == nil
	})
}

// TestBesideSalt: beside a Salt master, the console shows keys, jobs, returns and events, and says which data
// is missing.
func TestBesideSalt(t *testing.T) {
	s := newSite(t, plan{salt: release})
	s.minion("web1", "")
	s.open(1280, 800)
	s.login("admin", "right")
	s.sees("no control socket")
	s.sees("pending 1")
	s.click("[aria-label='accept the key of web1']")
	s.sees("accepted 1")
	s.picture("fleet")
	if nav := js[string](s, "document.getElementById('nav').innerText"); strings.Contains(nav, "Actors") {
		t.Errorf("the views are %q", nav)
	}
	s.view("#/jobs")
	s.picture("jobs-none")
	s.until("the minion answers", func() bool {
		js[any](s, "location.hash = '#/jobs?tgt=web1&fun=test.echo'")
		s.until("the form is there", func() bool {
			return js[bool](s, "document.querySelector('.run [role=combobox]')?.value === 'test.echo'")
		})
		js[any](s, "document.querySelectorAll('.run input')[2].value = 'hello'; document.querySelector('.run "+
			"form').requestSubmit()")
		s.until("the job is there", func() bool { return js[bool](s, "/^#.jobs.\\d+/.test(location.hash)") })
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			// the job may have been published before the minion was connected
			if strings.Contains(js[string](s, "document.body.innerText"), "1 of 1 returned") {
				return true
			}
		}
		return false
	})
	s.sees("hello")
	s.picture("job")
	s.view("#/jobs")
	s.sees("test.echo")
	s.picture("jobs")
	s.view("#/events?tag=salt/job/*/ret/*")
	js[any](s, "fetch('api/run', { method: 'POST', headers: { 'Content-Type': 'application/json', "+
		"'X-Brine-Console': '1' }, body: JSON.stringify({ tgt: 'web1', tgt_type: 'glob', fun: 'test.ping', arg: '' "+
		"}) }).then((r) => r.status)")
	s.sees("/ret/web1")
	s.picture("events")
	s.view("#/fleet")
	s.sees("accepted 1")
	s.click("tbody button")
	s.sees("osfullname")
	s.picture("grains")
	js[any](s, "document.getElementById('panel').close(); location.hash = '#/actors?of=web1'")
	s.sees("Dispatcher")
	s.picture("minion")
	s.do(chromedp.EmulateViewport(360, 740))
	for _, v := range []string{"#/fleet", "#/jobs", "#/events"} {
		s.view(v)
		if w := js[int](s, "document.documentElement.scrollWidth"); w > 360 {
			t.Errorf("%s is %d pixels wide", v, w)
		}
		s.picture("narrow" + v[2:])
	}
}
