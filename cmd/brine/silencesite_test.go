package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/wiretest"
	"brine/wire/zmq"
)

// silentPatience bounds each wait in the tests of silences. A correct run never reaches it.
const silentPatience = 2 * time.Minute

// silentSite is a master and a few minions, each in its own process, and further minions that a test lets sign
// in.
type silentSite struct {
	t        *testing.T
	dir      string
	pub, ret int
	rsa      map[string]wiretest.KeyPair
	zctx     *zmq.Context
	keys     *keys.Store
	cache    *datacache.Banks

	wires map[string]*wire      // of minions whose network can be cut, by id
	hosts map[string]*link.Host // of daemons in their own network namespace, by name; the master is one of them
	door  int                   // port of this machine that leads to the request port

	kept bool // daemons have a parent

	mu    sync.Mutex // for procs, because cases run concurrently
	procs map[string]*exec.Cmd
}

func newSilentSite(t *testing.T) *silentSite {
	t.Helper()
	dir, err := os.MkdirTemp("", "bs") // short, because sockets live below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := &silentSite{t: t, dir: dir, rsa: wiretest.Load(t, "edge_v3").Keys(), procs: map[string]*exec.Cmd{},
		wires: map[string]*wire{}}
	s.pub, s.ret = s.port(), s.port()
	s.door = s.ret
	if s.zctx, err = zmq.NewContext(1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.zctx.Close(); err != nil {
			t.Error(err)
		}
	})
	s.keys = keys.NewStore(keys.Options{Dir: s.path("m/etc/salt/pki/master")})
	s.cache = datacache.AttachBanks(s.path("m/var/cache/salt/master"))
	return s
}

func (s *silentSite) port() int {
	n, err := strconv.Atoi(freePort(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *silentSite) path(name string) string { return filepath.Join(s.dir, name) }

func (s *silentSite) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// config writes the files of the master. Minions must sign their messages, and the master checks their clocks.
func (s *silentSite) config(conf ...string) {
	s.t.Helper()
	iface := "127.0.0.1"
	if s.hosts["master"] != nil {
		iface = "0.0.0.0"
	}
	s.write("etc/master/master", fmt.Sprintf(`root_dir: %s
interface: %s
publish_port: %d
ret_port: %d
user: %s
worker_threads: 3
chaos: True
require_minion_sign_messages: True
drop_messages_signature_fail: True
request_server_ttl: 1800
log_level_logfile: info
%s
`, s.path("m"), iface, s.pub, s.ret, session.RunningUser(), strings.Join(conf, "\n")), 0o644)
	s.write("m/etc/salt/pki/master/master.pem", s.rsa["master"].Private, 0o400)
}

// minion writes the files of a minion and accepts its key. If cut is set, its network goes through a proxy.
func (s *silentSite) minion(id string, cut bool, conf ...string) {
	s.t.Helper()
	master, pub, ret := "127.0.0.1", s.pub, s.ret
	if h := s.hosts[id]; h != nil {
		master = h.Site
	}
	if cut {
		w := newWire(s.t, s.pub, s.ret)
		pub, ret = w.pub.Port(), w.ret.Port()
		s.wires[id] = w
	}
	s.write("etc/"+id+"/minion", fmt.Sprintf(`root_dir: %s
master: %s
publish_port: %d
master_port: %d
id: %s
user: %s
minion_sign_messages: True
acceptance_wait_time: 1
random_reauth_delay: 1
recon_default: 50
recon_max: 100
return_retry_timer: 1
return_retry_timer_max: 2
mine_enabled: False
log_level_logfile: info
%s
`, s.path(id), master, pub, ret, id, session.RunningUser(), strings.Join(conf, "\n")), 0o644)
	s.write(id+"/etc/salt/pki/minion/minion.pem", s.rsa["minion"].Private, 0o400)
	s.put(keys.Accepted, id)
}

// put stores a key for an id with the given status.
func (s *silentSite) put(st keys.Status, id string) {
	s.t.Helper()
	if err := s.keys.Put(st, id, strings.TrimSpace(s.rsa["minion"].Public)); err != nil {
		s.t.Fatal(err)
	}
}

// grains sets the grains of a minion in the master's cache.
func (s *silentSite) grains(id string, kv ...any) {
	s.t.Helper()
	if err := s.cache.StoreGrains(id, payload.M(kv...).Set("id", id)); err != nil {
		s.t.Fatal(err)
	}
}

// start starts a daemon with the configuration of that name. It ends with the test at the latest.
func (s *silentSite) start(name, tool string) {
	s.t.Helper()
	log, err := os.OpenFile(s.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	path, err := exec.LookPath(tool)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", s.path("etc/"+name), "--disable-keepalive")
	if s.kept {
		cmd.Args = cmd.Args[:3]
	}
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "DAEMON="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begin := cmd.Start
	if h := s.hosts[name]; h != nil {
		begin = func() error { return h.Start(cmd) }
	}
	if err := begin(); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.procs[name] = cmd
	s.mu.Unlock()
	s.t.Cleanup(func() { end(cmd, syscall.SIGKILL) })
}

// end sends a signal to a daemon and all processes that it started, and waits for its end.
func end(cmd *exec.Cmd, sig syscall.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, sig) // the daemon may have ended already
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
	_ = cmd.Wait()
}

// stop ends a daemon.
func (s *silentSite) stop(name string, sig syscall.Signal) { end(s.proc(name), sig) }

func (s *silentSite) proc(name string) *exec.Cmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.procs[name]
}

// signal sends a signal to the process of a daemon.
func (s *silentSite) signal(name string, sig syscall.Signal) {
	s.t.Helper()
	if err := s.proc(name).Process.Signal(sig); err != nil {
		s.t.Error(err)
	}
}

func (s *silentSite) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(s.path("*.log"))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "== %s\n%s", filepath.Base(f), raw[max(0, len(raw)-3000):])
	}
	return b.String()
}

// ask asks the master a question on its control socket.
func (s *silentSite) ask(request *payload.Map) (*payload.Map, error) {
	return s.askAt(s.path("m/var/run/salt/master"), request)
}

func (s *silentSite) askAt(sockDir string, request *payload.Map) (*payload.Map, error) {
	ctx, cancel := context.WithTimeout(context.Background(), silentPatience)
	defer cancel()
	reply, err := ipc.NewControlClient(control.At(sockDir).Path()).Do(ctx, request)
	if m, ok := reply.Value("result").(*payload.Map); ok {
		return m, err
	}
	return payload.NewMap(0), err
}

// why returns the master's reason for a silence.
func (s *silentSite) why(jid, id string) (code, text string, facts *payload.Map) {
	got, err := s.ask(control.Pack(control.GetWhy{JID: jid, IDs: []string{id}}))
	if err != nil {
		return "", err.Error(), nil
	}
	list := got.List("reasons")
	if len(list) != 1 {
		return "", fmt.Sprint(got), nil
	}
	one, _ := list[0].(*payload.Map)
	return one.Str("code"), one.Str("text"), one.Map("facts")
}

// until waits for a condition.
func (s *silentSite) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	s.within(t, silentPatience, what, ok)
}

func (s *silentSite) within(t *testing.T, patience time.Duration, what string, ok func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-limit:
			t.Fatalf("%s: waited in vain\n%s", what, s.logs())
		case <-tick.C:
		}
	}
}

// await waits until the master states the expected reason.
func (s *silentSite) await(t *testing.T, jid, id string, code ledger.Code, text string) {
	t.Helper()
	var got, said string
	limit := time.Now().Add(silentPatience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(limit); <-tick.C {
		if got, said, _ = s.why(jid, id); got == string(code) && strings.Contains(said, text) {
			return
		}
	}
	t.Errorf("%s of %s: got [%s] %s\nwant [%s] ... %s\n%s", jid, id, got, said, code, text, s.logs())
}

// connected waits until the master knows whether minions are connected.
func (s *silentSite) connected(t *testing.T, want string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		s.until(t, id+" connected: "+want, func() bool {
			_, _, facts := s.why("x", id)
			return facts.Str("connected") == want
		})
	}
}

// client returns a client of the master, as the command line uses it.
func (s *silentSite) client() *client.Client {
	return client.New(client.Options{Dial: zmq.Dialer(zmq.ReqOptions{
		Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", s.door), Context: s.zctx}),
		SockDir: s.path("m/var/run/salt/master"), CacheDir: s.path("m/var/cache/salt/master"),
		User: session.RunningUser(), KeyOwner: session.RunningUser(), Timeout: silentPatience})
}

// publish sends a job and waits until it is published.
func (s *silentSite) publish(t *testing.T, tgt any, tgtType, fun string, args ...any) string {
	t.Helper()
	c := s.client()
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), silentPatience)
	defer cancel()
	pub, err := c.Publish(ctx, client.Job{Tgt: tgt, TgtType: tgtType, Fun: fun, Arg: args})
	if err != nil || pub.JID == "" {
		t.Fatalf("publish %s on %v: %+v, %v\n%s", fun, tgt, pub, err, s.logs())
	}
	return pub.JID
}

// list sends a job to a list of ids.
func (s *silentSite) list(t *testing.T, ids []string, fun string, args ...any) string {
	t.Helper()
	tgt := make([]any, len(ids))
	for i, id := range ids {
		tgt[i] = id
	}
	return s.publish(t, tgt, "list", fun, args...)
}

// one sends a job to one minion.
func (s *silentSite) one(t *testing.T, id, fun string, args ...any) string {
	t.Helper()
	return s.list(t, []string{id}, fun, args...)
}

// unheard sends a job to a minion without a connection, and makes sure that the master knew about the missing
// connection then. While another minion connects, the master does not know yet whose connection that is.
func (s *silentSite) unheard(t *testing.T, id string) string {
	t.Helper()
	jid := s.one(t, id, "test.ping")
	s.until(t, "a job that certainly did not reach "+id, func() bool {
		_, text, _ := s.why(jid, id)
		if strings.Contains(text, "whether it was when the job was sent is not known") {
			jid = s.one(t, id, "test.ping")
		}
		return strings.Contains(text, "it was not connected when the job was sent")
	})
	return jid
}

// sent waits until the publish socket has got a job.
func (s *silentSite) sent(t *testing.T, jid string) {
	t.Helper()
	s.hop(t, jid, ledger.HopPublish, "")
}

// hop waits until the master knows a hop of a job.
func (s *silentSite) hop(t *testing.T, jid, name, id string) {
	t.Helper()
	s.until(t, "hop "+name+" of "+jid, func() bool {
		got, err := s.ask(control.Pack(control.GetTrace{JID: jid}))
		if err != nil {
			return false
		}
		for _, v := range got.List("hops") {
			h, _ := v.(*payload.Map)
			if h.Str("hop") == name && h.Str("minion") == id && h.Value("at") != nil {
				return true
			}
		}
		return false
	})
}

// running waits until a minion says that it runs the function of a job.
func (s *silentSite) running(t *testing.T, jid, id string) {
	t.Helper()
	s.await(t, jid, id, ledger.JobRunning, "it has been running")
}

// told waits until a minion has reported on its own that a job runs.
func (s *silentSite) told(t *testing.T, jid, id string) {
	t.Helper()
	s.hop(t, jid, ledger.HopStart, id)
}
