package minion

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/facts"
	"brine/actors/minion/link"
	"brine/config"
	"brine/modules/execution"
	"brine/modules/matchers"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/wiretest"
)

// patience is how long a test waits for what must happen; it only passes when the test fails.
const patience = time.Minute

// rig is a minion m1 with masters in memory and a clock that stands still.
type rig struct {
	t       testing.TB
	m       *Minion
	cfg     *config.Minion
	dir     string
	clock   *actortest.Clock
	log     *actortest.Log
	masters []*fakeMaster
	exits   chan link.Exit
	ready   chan struct{}
	fun     *functions
	trust   *memTrust // of the first master
	opt     Options
	report  supervisor.Report // of the last stop
}

// newRig prepares a minion whose configuration is extra; nothing runs yet.
func newRig(t testing.TB, extra string, hosts ...string) *rig {
	t.Helper()
	if len(hosts) == 0 {
		hosts = []string{"master.test"}
	}
	dir, err := os.MkdirTemp("", "bm") // short: sockets live in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text := "id: m1\nroot_dir: " + dir + "\nstop_timeout: 1000\nmine_enabled: False\nchaos: True\n" +
		"worker_timeout: -1\nmaster:\n" // the clock goes faster than a handler on a busy machine
	for _, h := range hosts {
		text += "  - " + h + "\n"
	}
	path := filepath.Join(dir, "minion")
	if err := os.WriteFile(path, []byte(text+extra), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.LoadMinion(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cfg.SockDir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, cfg: cfg, dir: dir, clock: actortest.NewClock(), log: actortest.NewLog(),
		exits: make(chan link.Exit, 8), ready: make(chan struct{}, 8), trust: newTrust("")}
	r.fun = newFunctions()
	for range hosts {
		r.masters = append(r.masters, newFakeMaster(t, nil))
	}
	r.opt = r.options()
	return r
}

// fixedGrains are the same at each moment.
type fixedGrains struct{ all *payload.Map }

func (g fixedGrains) Map() *payload.Map           { return g.all }
func (g fixedGrains) Get(name string) (any, bool) { return g.all.Get(name) }

func (r *rig) options() Options {
	reg := execution.Machine{Version: "3008.3"}.Functions()
	if err := reg.Register(r.fun.list()...); err != nil {
		r.t.Fatal(err)
	}
	next := 0
	return Options{
		Config: r.cfg, Logger: r.log.Logger(), Clock: r.clock, Registry: reg,
		SignIn: func(config.MasterAddr) (*auth.Minion, error) {
			return auth.NewMinion(auth.MinionOptions{
				ID: r.cfg.ID, Key: testKey(r.t, "minion"), Trust: r.trust, RejectedRetry: r.cfg.RejectedRetry,
				MasterFinger: r.cfg.MasterFinger, AuthSafemode: r.cfg.AuthSafemode,
				AcceptanceWait: r.cfg.AcceptanceWaitTime, AcceptanceWaitMax: r.cfg.AcceptanceWaitTimeMax,
				SignPubMessages: true,
			})
		},
		Grains: func(bool) facts.Grains {
			return fixedGrains{payload.M("id", r.cfg.ID, "os", "Debian", "role", "web", "master",
				r.cfg.Raw.Value("master"))}
		},
		Match: func(job *payload.Job, about matchers.Facts) bool {
			hit, _ := matchers.Match(job.Tgt(), job.TgtType(), "", &about)
			return hit
		},
		Exit:  func(e link.Exit) { r.exits <- e },
		Ready: func() { r.ready <- struct{}{} },
		transport: func(config.MasterAddr) link.Transport {
			next++
			return r.masters[(next-1)%len(r.masters)]
		},
	}
}

// start starts the minion and stops it at the end of the test.
func (r *rig) start() *rig {
	r.t.Helper()
	m, err := Start(r.opt)
	if err != nil {
		r.t.Fatal(err)
	}
	r.m = m
	r.t.Cleanup(r.stop)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.bus.Ref().Ready(ctx); err != nil { // it opens sockets; the clock must not run away from it
		r.t.Fatal(err)
	}
	return r
}

// stop stops the minion, unless it was stopped before.
func (r *rig) stop() {
	if r.m == nil {
		return
	}
	m := r.m
	r.m = nil
	r.fun.release()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		if r.report, err = m.Stop(r.cfg.StopTimeout); err != nil {
			r.t.Errorf("stop: %v: %v\n%s", err, r.report.Abandoned, r.report.Goroutines)
		}
	}()
	limit := time.After(patience)
	for {
		select {
		case <-done:
			return
		case <-limit:
			r.t.Error("the minion does not stop")
			return
		case <-time.After(4 * time.Millisecond): // slower than time: a stop is patient with a busy machine
			r.clock.Advance(time.Millisecond)
		}
	}
}

// up starts the minion and waits until its first master can send jobs.
func (r *rig) up() *rig {
	r.t.Helper()
	r.start()
	actortest.Wait(r.t, "ready minion", r.ready)
	return r
}

// master is the first one.
func (r *rig) master() *fakeMaster { return r.masters[0] }

// run publishes a job from the first master and waits for its return.
func (r *rig) run(jid, fun string, args ...any) *payload.Map {
	r.t.Helper()
	r.master().publish(jid, fun, args...)
	return r.master().awaitReturn(r.t, jid)
}

// fakeMaster is a master in memory: the sign-in of wire/auth, and what minions have sent.
type fakeMaster struct {
	t testing.TB

	mu       lock
	auth     *auth.Master
	keys     *memKeys
	down     bool
	lookup   error // of the name
	pillar   any
	to       link.Publications
	stopSub  func()
	returns  map[string][]*payload.Map // by jid
	requests []*payload.Map            // of other commands
	signIns  int
	changed  chan struct{}
	moves    bool // what moved answers
	subs     int
	answer   func(o *auth.Opened) (any, bool)
	late     bool           // returns are taken, and acknowledged when nobody waits any more
	listens  chan struct{}  // closed: the master accepts connections; nil: nobody can tell
	stuck    bool           // returns are neither taken nor refused
	clear    []byte         // the answer to returns, as it is; nil: they are taken
	breaks   map[string]int // by command: how many requests lose their connection after they were carried out
}

func newFakeMaster(t testing.TB, change func(*auth.MasterOptions)) *fakeMaster {
	t.Helper()
	f := &fakeMaster{t: t, mu: newLock(), keys: newKeys(), returns: map[string][]*payload.Map{},
		changed: make(chan struct{}), pillar: payload.M("where", "master")}
	f.restart(change)
	return f
}

// restart gives the master new session keys, as a new process has them.
func (f *fakeMaster) restart(change func(*auth.MasterOptions)) {
	f.t.Helper()
	opt := auth.MasterOptions{Key: testKey(f.t, "master"), Keys: f.keys, Sessions: newSessions(), PublishPort: 4505,
		MinimumAuthVersion: 3, SignPublications: true, Rules: auth.Rules{AcceptAll: true}}
	if change != nil {
		change(&opt)
	}
	m, err := auth.NewMaster(opt)
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth = m
	f.tell()
}

func (f *fakeMaster) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeMaster) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.tell()
}

// await waits until ok.
func (f *fakeMaster) await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		f.mu.Lock()
		if ok() {
			f.mu.Unlock()
			return
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("no %s", what)
		}
	}
}

func (f *fakeMaster) awaitReturn(t testing.TB, jid string) *payload.Map {
	t.Helper()
	f.await(t, "return of "+jid, func() bool { return len(f.returns[jid]) > 0 })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.returns[jid][0]
}

// events are the tags of the minion events so far.
func (f *fakeMaster) events() (tags []string) {
	for _, r := range f.requests {
		if r.Str("cmd") == payload.CmdMinionEvent {
			tags = append(tags, r.Str("tag"))
		}
	}
	return tags
}

// Listening waits for the end of listens.
func (f *fakeMaster) Listening(ctx context.Context) error {
	select {
	case <-f.listens:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *fakeMaster) Exchange(ctx context.Context, frame, _ []byte) ([]byte, error) {
	f.mu.Lock()
	down, lookup, master := f.down, f.lookup, f.auth
	f.mu.Unlock()
	switch {
	case lookup != nil:
		return nil, lookup
	case down && f.listens != nil:
		return nil, transport.ErrUnconnected
	case down:
		return nil, transport.ErrTimeout
	}
	req, err := payload.DecodeRequest(frame)
	if err != nil {
		f.t.Error(err)
		return nil, err
	}
	if auth.IsSignIn(req) {
		reply, _ := master.Handle(req, time.Now())
		f.set(func() { f.signIns++ })
		if f.broken(payload.CmdAuth) {
			return nil, transport.ErrLost
		}
		return reply, nil
	}
	o, refuse := master.OpenRequest(req, time.Now())
	if refuse != nil {
		return refuse, nil
	}
	f.mu.Lock()
	late, stuck, clear := f.late && o.Cmd == payload.CmdReturn, f.stuck && o.Cmd == payload.CmdReturn, f.clear
	f.mu.Unlock()
	if clear != nil && o.Cmd == payload.CmdReturn {
		return clear, nil
	}
	if stuck {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	reply, err := f.handle(master, o)
	if late {
		<-ctx.Done()
	}
	if f.broken(o.Cmd) {
		return nil, transport.ErrLost
	}
	return reply, err
}

// broken tells whether a request of this kind loses its connection, and counts it.
func (f *fakeMaster) broken(cmd string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.breaks[cmd] == 0 {
		return false
	}
	f.breaks[cmd]--
	return true
}

func (f *fakeMaster) handle(master *auth.Master, o *auth.Opened) ([]byte, error) {
	f.mu.Lock()
	answer, pillar := f.answer, f.pillar
	f.mu.Unlock()
	if answer != nil {
		if v, ok := answer(o); ok {
			return f.seal(o, v), nil
		}
	}
	switch o.Cmd {
	case payload.CmdPillar:
		if err, ok := pillar.(error); ok {
			return nil, err
		}
		return master.PillarReply(o, pillar)
	case payload.CmdReturn:
		f.set(func() { f.returns[o.Load.Str("jid")] = append(f.returns[o.Load.Str("jid")], o.Load) })
		return f.seal(o, nil), nil
	}
	f.set(func() { f.requests = append(f.requests, o.Load) })
	return f.seal(o, true), nil
}

func (f *fakeMaster) seal(o *auth.Opened, v any) []byte {
	b, err := payload.Marshal(v)
	if err != nil {
		f.t.Error(err)
	}
	return o.Seal(b)
}

func (f *fakeMaster) Subscribe(ctx context.Context, port int, to link.Publications) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.set(func() { f.to, f.stopSub, f.subs = to, cancel, f.subs+1 })
	to.Link(true)
	<-ctx.Done()
	return nil
}

func (f *fakeMaster) Moved(context.Context, bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	moves := f.moves
	f.moves = false
	return moves
}

func (f *fakeMaster) Close() {}

func load(jid, fun string, args ...any) *payload.Map {
	if args == nil {
		args = []any{}
	}
	return payload.M("fun", fun, "arg", args, "tgt", "m*", "jid", jid, "ret", "", "tgt_type", "glob", "user", "root")
}

// publish sends a job to all minions.
func (f *fakeMaster) publish(jid, fun string, args ...any) { f.send(f.sealed(load(jid, fun, args...))) }

func (f *fakeMaster) sealed(load *payload.Map) []byte {
	f.mu.Lock()
	master := f.auth
	f.mu.Unlock()
	frame, err := master.SealPublication(load)
	if err != nil {
		f.t.Fatal(err)
	}
	return frame
}

// send puts frames on the publish port.
func (f *fakeMaster) send(frames ...[]byte) {
	f.await(f.t, "subscription", func() bool { return f.to.Payload != nil })
	f.mu.Lock()
	to := f.to
	f.mu.Unlock()
	for _, frame := range frames {
		to.Payload(bytes.Clone(frame))
	}
}

// lock guards what a test and the actors share. Make it with newLock.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

func jid(n int) string { return fmt.Sprintf("20260102030405%06d", n) }

// testKey is a recorded key pair.
func testKey(t testing.TB, name string) *crypt.PrivateKey {
	t.Helper()
	key, err := crypt.ParsePrivateKey([]byte(wiretest.Load(t, "rsa").Keys()[name].Private), "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// memTrust is a TrustStore in memory.
type memTrust struct {
	mu     lock
	master string
}

func newTrust(master string) *memTrust { return &memTrust{mu: newLock(), master: master} }

func (s *memTrust) MasterKey() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.master, nil
}
func (s *memTrust) SigningKey() (string, error) { return "", nil }
func (s *memTrust) TakeMasterKey(pub string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.master == "" {
		s.master = pub
	}
	return s.master, nil
}
func (s *memTrust) SetMasterKey(pub string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.master = pub
	return nil
}

// memKeys is a KeyStore in memory.
type memKeys struct {
	t          testing.TB
	mu         lock
	state, pub map[string]string
}

func newKeys() *memKeys {
	return &memKeys{mu: newLock(), state: map[string]string{}, pub: map[string]string{}}
}

func (k *memKeys) Get(id string) (state, pub string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state[id], k.pub[id], nil
}

func (k *memKeys) Accepted(id string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pub[id], k.state[id] == auth.StateAccepted
}

func (k *memKeys) Put(id, state, pub string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state[id], k.pub[id] = state, pub
	return nil
}

func (k *memKeys) TakeAutosign(string) bool { return false }

func (k *memKeys) set(id, state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state[id] = state
}

// memSessions is a SessionStore in memory.
type memSessions struct {
	mu  lock
	key map[string]string
}

func newSessions() *memSessions { return &memSessions{mu: newLock(), key: map[string]string{}} }

func (s *memSessions) Session(id, _ string, _ time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.key[id]
	return key, ok
}

func (s *memSessions) Foreign(string, string) bool { return false }

func (s *memSessions) Create(id, _, key string, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key[id] = key
	return nil
}

func (s *memSessions) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.key, id)
	return nil
}

// portSpy is a master that tells the ports it is subscribed on.
func portSpy(f *fakeMaster, ports chan<- int) func(config.MasterAddr) link.Transport {
	return func(config.MasterAddr) link.Transport { return spied{f, ports} }
}

type spied struct {
	*fakeMaster
	ports chan<- int
}

func (s spied) Subscribe(ctx context.Context, port int, to link.Publications) error {
	s.ports <- port
	return s.fakeMaster.Subscribe(ctx, port, to)
}
