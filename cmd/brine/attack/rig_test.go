package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/zmq"
)

const (
	patience = time.Minute // one wait for something that must come; reached only when something is wrong
	honest   = "honest"    // the id of the minion that good asks
)

// second is the time within which a good request must be answered. The race detector makes daemons some five times
// slower.
func second() time.Duration {
	if tooltest.Race {
		return 5 * time.Second
	}
	return time.Second
}

// site is a master that is attacked, with an honest minion, below one short directory.
type site struct {
	t        testing.TB
	root     string
	pub, ret int
	user     string
	zctx     *zmq.Context
	master   *daemon
	minions  map[string]*daemon
}

// masterConf is the master's file. Keys are accepted by themselves, unless a test says otherwise in what follows.
const masterConf = `root_dir: %s
interface: 127.0.0.1
publish_port: %d
ret_port: %d
user: %s
auto_accept: True
worker_threads: 3
loop_interval: 1
log_level_logfile: debug
`

const minionConf = `root_dir: %s
master: 127.0.0.1
publish_port: %d
master_port: %d
id: %s
user: %s
acceptance_wait_time: 1
random_reauth_delay: 1
recon_default: 50
recon_max: 200
log_level_logfile: debug
`

// newSite starts a master whose file ends with extra, and the honest minion. With the end of the test everything ends.
func newSite(t testing.TB, extra string) *site {
	t.Helper()
	s := newBareSite(t, extra)
	s.startMinion(honest, "")
	s.good()
	return s
}

// newBareSite starts a master without a minion.
func newBareSite(t testing.TB, extra string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("starts daemons")
	}
	tooltest.LookAtTree(t)
	root, err := os.MkdirTemp("/tmp", "ba") // short: Unix socket paths end at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil { // neighbours may look
		t.Fatal(err)
	}
	s := &site{t: t, root: root, user: "root", minions: map[string]*daemon{}}
	if u, err := user.Current(); err == nil {
		s.user = u.Username
	}
	if s.zctx, err = zmq.NewContext(1); err != nil {
		t.Fatal(err)
	}
	s.pub, s.ret = s.port(), s.port()
	t.Cleanup(s.end)
	s.writeMaster(extra)
	s.startMaster()
	return s
}

func (s *site) end() {
	for _, d := range s.daemons() {
		d.kill()
	}
	_ = s.zctx.Close()
	if s.t.Failed() {
		for _, d := range s.daemons() {
			text, _ := os.ReadFile(d.log)
			s.t.Logf("%s:\n%s", d.name, tail(text, 6000))
		}
	}
	if err := os.RemoveAll(s.root); err != nil {
		s.t.Errorf("remove %s: %v", s.root, err)
	}
}

func tail(text []byte, n int) []byte { return text[max(0, len(text)-n):] }

func (s *site) daemons() []*daemon {
	all := []*daemon{}
	if s.master != nil {
		all = append(all, s.master)
	}
	for _, d := range s.minions {
		all = append(all, d)
	}
	return all
}

func (s *site) port() int {
	s.t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = p.Release() }) // ends with the process at the latest
	return p.Number
}

// path is a file below the site's directory: the master's root is m, a minion's is its id.
func (s *site) path(rel string) string { return filepath.Join(s.root, rel) }

// cache is a file in the master's cache directory, pki one in its key directory.
func (s *site) cache(rel string) string { return s.path(filepath.Join("m/var/cache/salt/master", rel)) }
func (s *site) pki(rel string) string   { return s.path(filepath.Join("m/etc/salt/pki/master", rel)) }

func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) writeMaster(extra string) {
	s.t.Helper()
	s.write(s.path("etc/m/master"), overridden(fmt.Sprintf(masterConf, s.path("m"), s.pub, s.ret, s.user), extra))
}

// overridden is a configuration with more lines at its end, which replace those of the same keys.
func overridden(conf, extra string) string {
	var out strings.Builder
	for line := range strings.Lines(conf) {
		key, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(extra, key+":") && !strings.Contains(extra, "\n"+key+":") {
			out.WriteString(line)
		}
	}
	return out.String() + extra
}

// startMaster starts the master and waits until it answers.
func (s *site) startMaster() {
	s.t.Helper()
	s.master = s.start("master", filepath.Join(links, "salt-master"), "-c", s.path("etc/m"), "--disable-keepalive",
		"-l", "debug")
	s.eventually("the master's request port", func() error {
		if !s.master.running() {
			s.t.Fatalf("the master ended: %s", s.logOf(s.master))
		}
		_, err := s.stranger().askWithin(second(), payload.M("cmd", payload.CmdPing))
		return err
	})
}

// startMinion starts a minion whose file ends with extra. Unless keys are accepted by hand it is there when good
// answers.
func (s *site) startMinion(id, extra string) *daemon {
	s.t.Helper()
	s.write(s.path("etc/"+id+"/minion"), overridden(fmt.Sprintf(minionConf, s.path(id), s.pub, s.ret, id, s.user),
		extra))
	s.minions[id] = s.start("minion "+id, filepath.Join(links, "salt-minion"), "-c", s.path("etc/"+id), "-l", "debug",
		"--disable-keepalive")
	if id == honest {
		s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	}
	return s.minions[id]
}

// good makes sure that an honest user is served within a second: the master answers, and so does a minion. Of three
// tries one must do, for the machine has other work.
func (s *site) good() {
	s.t.Helper()
	var err error
	for range 3 {
		if _, err = s.stranger().askWithin(second(), payload.M("cmd", payload.CmdPing)); err != nil {
			continue
		}
		if s.minions[honest] == nil {
			return
		}
		if err = s.ping(second()); err == nil {
			return
		}
	}
	s.t.Fatalf("a good request is not answered within %v: %v", second(), err)
}

// client is the command line of the user that the master runs as.
func (s *site) client() *client.Client {
	return client.New(client.Options{Dial: zmq.Dialer(zmq.ReqOptions{
		Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", s.ret), Context: s.zctx}),
		SockDir: s.path("m/var/run/salt/master"), CacheDir: s.cache(""), User: s.user, KeyOwner: s.user})
}

// ping makes the honest minion answer a job.
func (s *site) ping(limit time.Duration) error {
	got, err := s.run(limit, client.Job{Tgt: honest, Fun: "test.ping"})
	if err == nil && got[honest] == nil {
		err = fmt.Errorf("no return within %v", limit)
	}
	return err
}

// run publishes a job as an honest user and returns the returns that came within a time, by id.
func (s *site) run(limit time.Duration, job client.Job) (map[string]*payload.Map, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := s.client()
	defer c.Close()
	r, err := c.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	got := map[string]*payload.Map{}
	for ret, err := range r.Returns(ctx) {
		if err != nil {
			break
		}
		if ret.Silence == client.Answered {
			got[ret.ID] = ret.Data.Map()
		}
	}
	return got, nil
}

// result is what a finished command left.
type result struct {
	stdout, stderr string
	code           int
}

// tool runs one of brine's tools with the master's configuration: salt, salt-key, salt-run, brine.
func (s *site) tool(name string, args ...string) result {
	s.t.Helper()
	return s.toolAs(nil, name, args...)
}

// toolAs is tool as another user of the machine; nil is this one.
func (s *site) toolAs(who *syscall.Credential, name string, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(links, name), append([]string{"-c", s.path("etc/m")}, args...)...)
	if name == "brine" && len(args) > 0 { // the admin command takes -c behind its word
		cmd.Args = append([]string{cmd.Args[0], args[0], "-c", s.path("etc/m")}, args[1:]...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Env = s.env()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%s %q: %v", name, args, err)
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// env keeps a token file or Saltfile of the user out of the tests.
func (s *site) env() []string {
	return append(os.Environ(), "HOME="+s.root, "SALT_CONFIG_DIR=", "LC_ALL=C.UTF-8", "COLUMNS=80")
}

// eventually calls try every 20 ms until it returns nil.
func (s *site) eventually(what string, try func() error) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if err = try(); err == nil {
			return
		}
	}
	s.t.Fatalf("%s: not within %v: %v", what, patience, err)
}

func (s *site) logOf(d *daemon) string {
	text, _ := os.ReadFile(d.log)
	return string(text)
}

// said waits until a daemon's output holds a text.
func (s *site) said(d *daemon, text string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("%q in the log of %s", text, d.name), func() error {
		if !strings.Contains(s.logOf(d), text) {
			return errors.New("it is not there")
		}
		return nil
	})
}

// raw opens a plain TCP connection to a port of the master.
func (s *site) raw(port int) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}
