//go:build interop

package browser

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/session"
	"brine/cmd/tooltest"
	"brine/wire/loopback"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var links string // the tools, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "brine-browser-")
	if err == nil {
		err = tooltest.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	links = filepath.Join(dir, "links")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds the waits of a test. A machine that also builds is slow at times.
const patience = 2 * time.Minute

// site is a master with salt-api, in a separate folder. The browser connects through a door that can be shut.
type site struct {
	t        *testing.T
	dir      string
	pub, ret int
	api      int
	door     *door
	base     string // address of the page
	page     context.Context
	daemons  map[string]*exec.Cmd // by tool and id
}

func port(t *testing.T) int {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() })
	return p.Number
}

// plan tells how a site differs from the default.
type plan struct {
	more   string // lines for the master's configuration
	salt   string // the release of a Salt master; "" is a brine master
	rest   string // the server module with its options except port and address; "" is plain rest_cherrypy
	tls    bool
	prefix string // root_prefix
}

// folder makes a folder for a test. Its path is short, because paths of Unix sockets have at most 107 bytes.
// Processes may still write to it for a moment after the test.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
			if err = os.RemoveAll(dir); err == nil || time.Now().After(end) {
				break
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	return dir
}

// newSite starts a master and salt-api.
func newSite(t *testing.T, p plan) *site {
	t.Helper()
	tooltest.LookAtTree(t)
	dir := folder(t)
	s := &site{t: t, dir: dir, pub: port(t), ret: port(t), api: port(t), daemons: map[string]*exec.Cmd{}}
	if p.rest == "" {
		p.rest = "rest_cherrypy: {host: 127.0.0.1, disable_ssl: True"
	}
	s.write("master", fmt.Sprintf(`root_dir: %s/m
interface: 127.0.0.1
publish_port: %d
ret_port: %d
user: %s
chaos: %v
worker_threads: 3
sharedsecret: right
external_auth:
  sharedsecret:
    admin: ['.*', '@runner', '@wheel', '@jobs']
    limited: ['test.*', 'sys.*']
    looker: ['@runner']
netapi_enable_clients: [local, local_async, runner, wheel]
%s, port: %d, console: True}
%s`, s.dir, s.pub, s.ret, session.RunningUser(), p.salt == "", p.rest, s.api, p.more))
	if p.salt == "" {
		s.start("salt-master")
	} else {
		s.master(p.salt)
	}
	s.start("salt-api")
	s.door = openDoor(t, fmt.Sprintf("127.0.0.1:%d", s.api))
	s.base = "http://" + s.door.addr + p.prefix + "/console/"
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true}, Timeout: patience}
	if p.tls {
		s.base = "https" + strings.TrimPrefix(s.base, "http")
	}
	s.until("salt-api answers", func() bool {
		res, err := client.Get(s.url("api/session"))
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == 200
	})
	return s
}

func (s *site) url(path string) string { return s.base + path }

func (s *site) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "etc", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// minion starts a minion. more is appended to its configuration.
func (s *site) minion(id, more string) *exec.Cmd {
	s.write(filepath.Join(id, "minion"), fmt.Sprintf("root_dir: %s/%s\nid: %s\nmaster: 127.0.0.1\npublish_port: "+
		"%d\nmaster_port: %d\nuser: %s\nacceptance_wait_time: 1\n", s.dir, id, id, s.pub, s.ret, session.RunningUser())+
		more)
	return s.start("salt-minion", id)
}

// start starts a brine daemon until the test ends.
func (s *site) start(tool string, id ...string) *exec.Cmd {
	s.t.Helper()
	words := []string{"-c", filepath.Join(append([]string{s.dir, "etc"}, id...)...)}
	if tool != "salt-api" {
		words = append(words, "--disable-keepalive")
	}
	return s.daemon(tool+strings.Join(id, ""), exec.Command(filepath.Join(links, tool), words...))
}

// daemon runs a command until the test ends. If the test fails, its output is shown.
func (s *site) daemon(name string, cmd *exec.Cmd) *exec.Cmd {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.dir, name+".out"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.daemons[name] = cmd
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		late.Stop()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // for processes that it has left behind
		_ = log.Close()
		if s.t.Failed() {
			text, _ := os.ReadFile(log.Name())
			s.t.Logf("%s: %s", name, text)
		}
	})
	return cmd
}

// run runs a tool of the master to its end.
func (s *site) run(tool string, words ...string) string {
	s.t.Helper()
	path := filepath.Join(links, tool)
	if tool == "brine" {
		path = filepath.Join(filepath.Dir(links), tool)
	}
	out, err := exec.Command(path, append([]string{words[0], "-c", filepath.Join(s.dir, "etc")},
		words[1:]...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v: %s", tool, words, err, out)
	}
	return string(out)
}

func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			s.picture("failed")
			s.t.Fatalf("waited for: %s", what)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// open opens the page in a new browser.
func (s *site) open(width, height int, more ...chromedp.ExecAllocatorOption) {
	s.t.Helper()
	opt := append(slices.Clip(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.IgnoreCertErrors,
		chromedp.UserDataDir(folder(s.t)))
	opt = append(opt, more...)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opt...)
	s.t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	s.t.Cleanup(cancel)
	s.t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for the end of the browser
	s.page = ctx
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*runtime.EventExceptionThrown); ok {
			s.t.Errorf("the page threw: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		}
	})
	s.do(chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(s.url("")))
}

// do performs actions in the page.
func (s *site) do(acts ...chromedp.Action) {
	s.t.Helper()
	if err := s.try(acts...); err != nil {
		s.picture("failed")
		s.t.Fatal(err)
	}
}

func (s *site) try(acts ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(s.page, patience)
	defer cancel()
	if chromedp.FromContext(s.page).Target == nil { // the first action starts the browser, which must outlive ctx
		return chromedp.Run(s.page, acts...)
	}
	return chromedp.Run(ctx, acts...)
}

// js returns the value of an expression in the page. It waits for a promise.
func js[T any](s *site, expression string) (v T) {
	s.t.Helper()
	s.do(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	return v
}

// sees waits for a text in the page.
func (s *site) sees(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("the page shows %q", text), func() bool {
		return strings.Contains(js[string](s, "document.body.innerText"), text)
	})
}

// click clicks the element of a selector as soon as it exists.
func (s *site) click(selector string) {
	s.t.Helper()
	s.until("there is "+selector, func() bool {
		return js[bool](s, fmt.Sprintf("(() => { const e = document.querySelector(%q); e?.click(); return !!e })()",
			selector))
	})
}

func (s *site) keys(text string) {
	s.t.Helper()
	s.do(chromedp.KeyEvent(text))
}

// login logs in with the keyboard alone.
func (s *site) login(user, password string) {
	s.t.Helper()
	s.do(chromedp.WaitVisible("input[name=username]"), chromedp.WaitEnabled("form button"))
	s.until("the field of the user has the focus", func() bool {
		return js[bool](s, "document.activeElement.name === 'username'")
	})
	js[any](s, "document.activeElement.value = ''")
	s.keys(user + "\t" + password + "\r")
}

func (s *site) view(hash string) {
	s.t.Helper()
	js[any](s, fmt.Sprintf("document.getElementById('link').dataset.live = ''; if (location.hash === %q) "+
		"dispatchEvent(new Event('hashchange')); else location.hash = %q", hash, hash))
	s.live()
}

// live waits until the view has its stream.
func (s *site) live() {
	s.t.Helper()
	s.until("the view is live", func() bool {
		return js[bool](s, "document.getElementById('link').dataset.live === 'true'")
	})
}

// picture saves a picture of the page, in the folder that BRINE_PICTURES names.
func (s *site) picture(name string) {
	dir := os.Getenv("BRINE_PICTURES")
	if dir == "" || s.page == nil {
		return
	}
	var png []byte
	if err := s.try(chromedp.CaptureScreenshot(&png)); err == nil {
		_ = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(s.t.Name(), "/", "-")+"-"+name+".png"), png, 0o600)
	}
}

// door forwards connections to salt-api until it is shut.
type door struct {
	addr string
	mu   sync.Mutex
	shut bool
	open map[net.Conn]bool
}

func openDoor(t *testing.T, to string) *door {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{addr: ln.Addr().String(), open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = ln.Close(); d.set(true) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go d.pass(c, to)
		}
	}()
	return d
}

func (d *door) pass(c net.Conn, to string) {
	out, err := net.Dial("tcp", to)
	if err != nil {
		_ = c.Close()
		return
	}
	d.mu.Lock()
	shut := d.shut
	if !shut {
		d.open[c], d.open[out] = true, true
	}
	d.mu.Unlock()
	if !shut {
		go func() { _, _ = io.Copy(out, c); _ = out.Close() }()
		_, _ = io.Copy(c, out)
	}
	_, _ = c.Close(), out.Close()
	d.mu.Lock()
	delete(d.open, c)
	delete(d.open, out)
	d.mu.Unlock()
}

// set opens the door, or shuts it and cuts all connections.
func (d *door) set(shut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = shut
	for c := range d.open {
		if shut {
			_ = c.Close()
		}
	}
}
