package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/run"
	"brine/config"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/wiretest"
	"brine/wire/zmq"

	"github.com/prometheus/client_golang/prometheus"
)

// patience bounds every wait of a test; it is reached only when something is wrong.
const patience = time.Minute

// rig is a master on loopback ports, with everything it keeps below one directory.
type rig struct {
	t      testing.TB
	dir    string
	cfg    *config.Master
	log    *actortest.Log
	m      *Master
	zctx   *zmq.Context
	rsa    map[string]wiretest.KeyPair
	faulty bool // actors may have died

	metrics    prometheus.Registerer // of the master
	unmeasured bool
	book       ledger.Limits
	silent     bool // nothing is kept of the log
	jobs       func(own jobCache) jobCache
	runs       func(inner run.Func) run.Func
}

// newRig prepares a site and starts its master. conf are lines of its configuration file.
func newRig(t testing.TB, conf ...string) *rig {
	t.Helper()
	r := newSite(t, conf...)
	r.start()
	return r
}

// newSite prepares the directory of a master: its keys are those of the recorded vectors.
func newSite(t testing.TB, conf ...string) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bm") // short: paths of Unix sockets end at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	r := &rig{t: t, dir: dir, log: actortest.NewLog(), rsa: wiretest.Load(t, "edge_v3").Keys()}
	pub, ret := freePorts(t)
	lines := overridden([]string{"root_dir: " + dir, "interface: 127.0.0.1", "id: testmaster", "user: " + userName(),
		fmt.Sprintf("publish_port: %d", pub), fmt.Sprintf("ret_port: %d", ret), "worker_threads: 3", "stop_timeout: 3"},
		conf)
	r.write("etc/master", strings.Join(lines, "\n")+"\n", 0o644)
	if r.cfg, err = config.LoadMaster(filepath.Join(dir, "etc/master"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.cfg.Environment().Verify(); err != nil {
		t.Fatal(err)
	}
	r.writeFile(filepath.Join(r.cfg.PKIDir, "master.pem"), r.rsa["master"].Private, 0o400)
	if r.zctx, err = zmq.NewContext(1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.zctx.Close(); err != nil {
			t.Errorf("close context: %v", err)
		}
	})
	return r
}

// overridden joins lines of a configuration; a key of more wins.
func overridden(lines, more []string) (out []string) {
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, key+":") }) {
			out = append(out, line)
		}
	}
	return append(out, more...)
}

func userName() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return os.Getenv("USER")
}

func freePorts(t testing.TB) (int, int) {
	t.Helper()
	var ports [2]int
	for i := range ports {
		p, err := loopback.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Release() }) // ends with the process at the latest
		ports[i] = p.Number
	}
	return ports[0], ports[1]
}

func (r *rig) write(name, text string, mode os.FileMode) {
	r.t.Helper()
	r.writeFile(filepath.Join(r.dir, name), text, mode)
}

func (r *rig) writeFile(path, text string, mode os.FileMode) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// start starts the master; it ends with the test at the latest.
func (r *rig) start() {
	r.t.Helper()
	own, err := LoadKeys(r.cfg, actortest.NewLog().Logger())
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := Start(Options{Config: r.cfg, Logger: r.logger(), book: r.book, jobs: r.jobs, runs: r.runs, Keys: own,
		RunningUser: userName(),
		Version:     "3008.3", Metrics: r.metrics, Unmeasured: r.unmeasured, Functions: []string{"test.ping", "test.echo"},
		OnDeath: func(d stats.Death) {
			if d.Reason != "exit" && !r.faulty {
				r.t.Errorf("%s died: %s\n%s", d.Path, d.Reason, d.Stack)
			}
		}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.m = m
	r.t.Cleanup(r.stop)
}

func (r *rig) logger() *slog.Logger {
	if r.silent {
		return discard()
	}
	return r.log.Logger()
}

// stop ends the master.
func (r *rig) stop() {
	if r.m == nil {
		return
	}
	report, err := r.m.Stop(patience)
	if err != nil || len(report.Abandoned) > 0 {
		r.t.Errorf("stop: %v, abandoned %v\n%s", err, report.Abandoned, report.Goroutines)
	}
	r.m = nil
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// connect opens one connection to the request port.
func (r *rig) connect() *zmq.Req {
	q := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.RetPort, "", 0), Context: r.zctx})
	r.t.Cleanup(func() { _ = q.Close() })
	return q
}

// send sends one frame over a connection of its own and returns the reply's frame.
func (r *rig) send(frame []byte) []byte {
	r.t.Helper()
	q := r.connect()
	defer q.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := q.Do(ctx, frame)
	if err != nil {
		r.t.Fatalf("request was not answered: %v", err)
	}
	return reply
}

// ask sends an envelope and decodes the reply.
func (r *rig) ask(envelope any) any {
	r.t.Helper()
	return decoded(r.t, r.send(packed(r.t, envelope)))
}

// clear sends a load as the command line does.
func (r *rig) clear(load *payload.Map) any {
	r.t.Helper()
	return r.ask(clearEnvelope(load))
}

func clearEnvelope(load *payload.Map) *payload.Map {
	return payload.M("enc", "clear", "load", load, "version", 3)
}

// rootKey is what the command line of root sends as its key.
func (r *rig) rootKey() string {
	return r.read(filepath.Join(r.cfg.CacheDir, "."+userName()+"_key"))
}

func packed(t testing.TB, v any) []byte {
	t.Helper()
	b, err := payload.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t testing.TB, frame []byte) any {
	t.Helper()
	v, err := payload.Unmarshal(frame)
	if err != nil {
		t.Fatalf("reply %x: %v", frame, err)
	}
	return v
}

// equal compares values as they are on the wire.
func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !payload.Equal(got, decoded(t, packed(t, want))) {
		t.Errorf("%s: got %s, want %s", what, show(got), show(want))
	}
}

func show(v any) string { return fmt.Sprintf("%T %v", v, v) }

// accept puts a minion's public key among the accepted ones.
func (r *rig) accept(id, key string) {
	r.t.Helper()
	if err := r.keyStore().Put(keys.Accepted, id, strings.TrimSpace(r.rsa[key].Public)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) keyStore() *keys.Store { return keys.NewStore(keys.Options{Dir: r.cfg.PKIDir}) }

// testMinion is one minion's side of the request port.
type testMinion struct {
	*auth.Minion
	r    *rig
	id   string
	key  *crypt.PrivateKey
	q    *zmq.Req
	link string // the topic that the last sign-in gave it
}

// memory is a TrustStore that forgets.
type memory struct{ key string }

func (m *memory) MasterKey() (string, error)    { return m.key, nil }
func (m *memory) SetMasterKey(pub string) error { m.key = pub; return nil }
func (m *memory) TakeMasterKey(pub string) (string, error) {
	if m.key == "" {
		m.key = pub
	}
	return m.key, nil
}
func (m *memory) SigningKey() (string, error) { return "", nil }

// minion makes a minion of an id with the recorded pair "minion"; it is not accepted nor signed in.
func (r *rig) newMinion(id string, change ...func(*auth.MinionOptions)) *testMinion {
	r.t.Helper()
	opt := auth.MinionOptions{ID: id, Key: r.pair("minion"), Trust: &memory{}}
	for _, f := range change {
		f(&opt)
	}
	m, err := auth.NewMinion(opt)
	if err != nil {
		r.t.Fatal(err)
	}
	return &testMinion{Minion: m, r: r, id: id, key: opt.Key, q: r.connect()}
}

func (r *rig) pair(name string) *crypt.PrivateKey {
	r.t.Helper()
	key, err := crypt.ParsePrivateKey([]byte(r.rsa[name].Private), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return key
}

// minion makes a minion that is accepted and signed in.
func (r *rig) minion(id string, change ...func(*auth.MinionOptions)) *testMinion {
	r.t.Helper()
	r.accept(id, "minion")
	m := r.newMinion(id, change...)
	if step := m.signIn(); step.Verdict != auth.Accepted {
		r.t.Fatalf("sign-in of %s: %+v", id, step)
	}
	return m
}

func (m *testMinion) signIn() auth.Step {
	m.r.t.Helper()
	frame, err := m.Request()
	if err != nil {
		m.r.t.Fatal(err)
	}
	step := m.Reply(m.do(frame))
	m.link = step.Link
	return step
}

func (m *testMinion) do(frame []byte) []byte {
	m.r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := m.q.Do(ctx, frame)
	if err != nil {
		m.r.t.Fatalf("request of %s was not answered: %v", m.id, err)
	}
	return reply
}

// try sends a load; an error is the master's refusal.
func (m *testMinion) try(load *payload.Map) (any, error) {
	m.r.t.Helper()
	frame, nonce, err := m.Seal(load)
	if err != nil {
		m.r.t.Fatal(err)
	}
	return m.Open(m.do(frame), nonce)
}

// ask sends a load and returns the answer.
func (m *testMinion) ask(load *payload.Map) any {
	m.r.t.Helper()
	v, err := m.try(load)
	if err != nil {
		m.r.t.Fatalf("%s of %s: %v", load.Str("cmd"), m.id, err)
	}
	return v
}

// bus listens to the events of the master at its socket, as Salt's tools do.
type busEar struct {
	t   testing.TB
	sub *ipc.Subscription
}

func (r *rig) listen() *busEar {
	r.t.Helper()
	sub, err := ipc.Subscribe(testContext(r.t), filepath.Join(r.cfg.SockDir, event.MasterPubSocket), ipc.FramingPlain)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = sub.Close() })
	return &busEar{r.t, sub}
}

// next is the next event, nudges left out.
func (e *busEar) next() (string, *payload.Map) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		tag, data, err := e.sub.Next(ctx)
		if err != nil {
			e.t.Fatalf("event: %v", err)
		}
		if tag != event.TagNudge {
			return tag, data
		}
	}
}

// await skips events until one has the tag.
func (e *busEar) await(tag string) *payload.Map {
	e.t.Helper()
	var seen []string
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		got, data, err := e.sub.Next(ctx)
		if err != nil {
			e.t.Fatalf("no event %s, only %q: %v", tag, seen, err)
		}
		if got == tag {
			return data
		}
		seen = append(seen, got)
	}
}

// until collects the tags before one that has the tag.
func (e *busEar) until(tag string) []string {
	e.t.Helper()
	var seen []string
	for {
		got, _ := e.next()
		if got == tag {
			return seen
		}
		seen = append(seen, got)
	}
}

// hear makes sure that a subscription stands: it fires an event of its own until it comes back.
func (r *rig) hear() *busEar {
	r.t.Helper()
	return r.hearBy(r.m.Fire)
}

// hearBy is hear for a master to which events come in another way.
func (r *rig) hearBy(fire func(tag string, data *payload.Map)) *busEar {
	r.t.Helper()
	ear := r.listen()
	for n := 0; ; n++ {
		fire("test/ear", payload.M("n", n))
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		tag, _, err := ear.sub.Next(ctx)
		cancel()
		if err == nil && tag == "test/ear" {
			fire("test/ear/end", payload.M("n", n))
			ear.await("test/ear/end")
			return ear
		}
	}
}

// tree walks the snapshot.
func (r *rig) tree(each func(stats.Child)) {
	var walk func([]stats.Child)
	walk = func(list []stats.Child) {
		for _, c := range list {
			each(c)
			walk(c.Children)
		}
	}
	walk(r.m.Supervisor().Snapshot())
}

// eventually tries until it succeeds.
func (r *rig) eventually(what string, try func() error) {
	r.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if err = try(); err == nil {
			return
		}
	}
	r.t.Fatalf("%s: %v", what, err)
}

// harm lets an actor die as soon as it lives: it may be about to start, or to start again.
func (r *rig) harm(path string, how supervisor.Fault) {
	r.t.Helper()
	r.eventually(path+" can be harmed", func() error {
		err := r.m.Supervisor().Inject(path, how)
		if err != nil && !errors.Is(err, supervisor.ErrGone) && !errors.Is(err, supervisor.ErrUnknown) {
			r.t.Fatal(err)
		}
		return err
	})
}

// discard is a logger for what a test does not look at.
func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// newContext is a context that ends with the test, or when it is told to.
func newContext(t testing.TB) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	return ctx, stop
}

// oldClock makes a minion whose clock is an hour behind.
func oldClock(o *auth.MinionOptions) {
	o.Now = func() time.Time { return time.Now().Add(-time.Hour) }
}
