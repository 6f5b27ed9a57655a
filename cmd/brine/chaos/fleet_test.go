package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// patience bounds each wait for something that must come; it is reached only when something is wrong.
const patience = 4 * time.Minute

// fleet is one master and its minions, all below one short directory.
type fleet struct {
	t        testing.TB
	root     string
	pub, ret int           // ports of the master
	asked    int           // port by which the command line reaches it
	net      *link.Network // nil without network namespaces
	wires    map[string]*wire
	user     string
	master   *member
	minions  []*member       // brine's
	guests   []*member       // of Salt, which are left alone
	deaf     map[string]bool // of those, who has been started anew at the end of this round
	statics  map[string][]string
	zctx     *zmq.Context
	bus      *bus
	report   *report

	mu    sync.Mutex
	last  time.Time // when the latest fault, or the undoing of one, was over
	clock time.Time // of the latest jid
}

// masterConf: a hung actor is replaced after hangLimit; the workers are few so that they are busy.
const masterConf = `root_dir: %s
interface: %s
publish_port: %d
ret_port: %d
user: %s
auto_accept: True
chaos: True
worker_threads: 3
worker_timeout: %d
request_timeout: 5
loop_interval: 1
log_level_logfile: info
`

// minionConf: connections and sign-ins are made again soon. Requests wait as long as Salt's defaults let them.
const minionConf = `root_dir: %s
master: %s
publish_port: %d
master_port: %d
id: %s
user: %s
acceptance_wait_time: 1
random_reauth_delay: 1
recon_default: 50
recon_max: 200
log_level_logfile: info
%s`

// minionWaits are how long a minion waits for the master's answers, in seconds. Under the race detector, on a machine
// that has other things to do, answers take longer than the defaults allow.
func minionWaits() string {
	if tooltest.Race {
		return "return_retry_timer: 8\nreturn_retry_timer_max: 10\nauth_timeout: 10\nrequest_channel_timeout: 20\n"
	}
	return ""
}

// hangLimit is worker_timeout in seconds.
func hangLimit() int {
	if tooltest.Race {
		return 8
	}
	return 1
}

func newFleet(t testing.TB, minions int) *fleet {
	t.Helper()
	tooltest.LookAtTree(t)
	root, err := os.MkdirTemp("/tmp", "bc") // short: Unix socket paths end at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, root: root, user: "root", report: newReport()}
	if u, err := user.Current(); err == nil {
		f.user = u.Username
	}
	t.Cleanup(f.end)
	if f.zctx, err = zmq.NewContext(1); err != nil {
		t.Fatal(err)
	}
	f.pub, f.ret = f.port(), f.port()
	f.network(minions)
	f.master = f.member("m", "salt-master", f.path("m/var/run/salt/master/brine.ipc"))
	listen := "127.0.0.1"
	if f.net != nil {
		listen, f.master.host = "0.0.0.0", f.net.Site()
	}
	f.write("etc/m/master", fmt.Sprintf(masterConf, f.path("m"), listen, f.pub, f.ret, f.user, hangLimit()))
	for i := range minions {
		id := brineID(i)
		multi := map[bool]string{false: "False", true: "True"}[i%2 == 1]
		extra := fmt.Sprintf("chaos: True\nworker_timeout: %d\nmultiprocessing: %s\n", hangLimit(), multi)
		f.writeMinion(id, extra)
		m := f.member(id, "salt-minion", f.path(filepath.Join(id, "var/run/salt/minion/brine.ipc")))
		m.host = f.wires[id].cable
		f.minions = append(f.minions, m)
	}
	return f
}

// writeMinion writes the configuration of a minion.
func (f *fleet) writeMinion(id, extra string) {
	host, pub, ret := f.way(id)
	f.write(filepath.Join("etc", id, "minion"), fmt.Sprintf(minionConf, f.path(id), host, pub, ret, id, f.user,
		minionWaits())+extra)
}

func (f *fleet) path(name string) string { return filepath.Join(f.root, name) }

func (f *fleet) port() int {
	p, err := loopback.Reserve()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = p.Release() }) // ends with the process at the latest
	return p.Number
}

func (f *fleet) write(name, text string) {
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// member describes a daemon of brine. Jobs find the name of their minion, and the file for their lines, in the
// environment.
func (f *fleet) member(id, tool, sock string) *member {
	return &member{id: id, argv: []string{filepath.Join(links, tool), "-c", f.path("etc/" + id)},
		log: f.path(id + ".log"), sock: sock, kept: true,
		env: append(os.Environ(), "HOME="+f.root, "SALT_CONFIG_DIR=", "LC_ALL=C.UTF-8", "CHAOS_ID="+id,
			"CHAOS_FILE="+f.effects(id), "GORACE=halt_on_error=1")}
}

// effects is the file in which each job of a minion leaves a line.
func (f *fleet) effects(id string) string { return f.path("effects-" + id) }

// ours are all daemons of brine.
func (f *fleet) ours() []*member { return append([]*member{f.master}, f.minions...) }

func (f *fleet) all() []*member { return append(f.ours(), f.guests...) }

// ids names the minions, brine's first.
func (f *fleet) ids() []string {
	var ids []string
	for _, m := range slices.Concat(f.minions, f.guests) {
		ids = append(ids, m.id)
	}
	return ids
}

// guest tells whether a minion is Salt's.
func (f *fleet) guest(id string) bool {
	return slices.ContainsFunc(f.guests, func(m *member) bool { return m.id == id })
}

// start starts everything, waits until all minions answer, and notes the actors that are always there.
func (f *fleet) start(ctx context.Context) {
	f.t.Helper()
	for _, m := range f.all() {
		if err := m.start(); err != nil {
			f.t.Fatal(err)
		}
	}
	if _, err := f.master.ask(ctx, payload.M("cmd", "process")); err != nil {
		// the key of the command line is there then
		f.t.Fatal(err)
	}
	f.bus = newBus(f.client())
	f.t.Cleanup(f.bus.close)
	if _, err := f.back(ctx); err != nil {
		f.t.Fatal(err)
	}
	if err := f.backOfGuests(ctx); err != nil {
		f.t.Fatal(err)
	}
	f.statics = map[string][]string{}
	for _, m := range f.ours() {
		paths, _, err := m.tree(ctx)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, p := range paths {
			if !strings.Contains(p, "Job-") {
				f.statics[m.id] = append(f.statics[m.id], p)
			}
		}
		slices.Sort(f.statics[m.id])
	}
}

// client is the command line's way to the master. A request is made once: what became of one without an answer is
// left open.
func (f *fleet) client() *client.Client {
	answer := time.Second
	if tooltest.Race {
		answer = 15 * time.Second
	}
	return client.New(client.Options{Dial: zmq.Dialer(zmq.ReqOptions{
		Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", f.asked), Context: f.zctx}),
		SockDir: f.path("m/var/run/salt/master"), CacheDir: f.path("m/var/cache/salt/master"), User: f.user,
		KeyOwner: f.user, Timeout: answer, Tries: 1})
}

// ask asks the master; a failure is one of the test.
func (f *fleet) ask(ctx context.Context, kv ...any) *payload.Map {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := f.master.askMap(ctx, kv...)
	if err != nil {
		f.t.Error(err)
	}
	return out
}

// until waits for a condition; what it returns while it does not hold is the error in the end.
func until(ctx context.Context, what string, holds func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: waited in vain: %w", what, err)
		}
	}
}

// end stops everything, and keeps the logs.
func (f *fleet) end() {
	for _, m := range slices.Backward(f.all()) {
		m.kill()
	}
	for _, p := range below(processes(), os.Getpid()) { // jobs that are still at it, and what Salt has left
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
	reapOrphans(f.owns)
	f.keepLogs()
	if f.zctx != nil {
		if err := f.zctx.Close(); err != nil {
			f.t.Error(err)
		}
	}
	if err := os.RemoveAll(f.root); err != nil {
		f.t.Errorf("remove %s: %v", f.root, err)
	}
}

func (f *fleet) owns(pid int) bool {
	return slices.ContainsFunc(f.all(), func(m *member) bool { return m.owns(pid) })
}

// note writes a line of the diary of faults.
func (f *fleet) note(format string, args ...any) {
	file, err := os.OpenFile(f.path("faults.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer file.Close()
	fmt.Fprintf(file, time.Now().UTC().Format("15:04:05.000 ")+format+"\n", args...)
}

func (f *fleet) keepLogs() {
	names, _ := filepath.Glob(filepath.Join(f.root, "*.log"))
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if f.t.Failed() {
			f.t.Logf("--- end of %s\n%s", filepath.Base(name), raw[max(0, len(raw)-3000):])
		}
		if *flagKeep != "" {
			err = errors.Join(os.MkdirAll(*flagKeep, 0o755), os.WriteFile(filepath.Join(*flagKeep, filepath.Base(name)),
				raw, 0o644))
		}
		if err != nil {
			f.t.Logf("keep %s: %v", name, err)
		}
	}
}
