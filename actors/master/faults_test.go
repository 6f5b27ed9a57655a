package master

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// TestWorkerPanics: a worker that dies of a request answers it, and the next request finds workers.
func TestWorkerPanics(t *testing.T) {
	r := newRig(t, "chaos: true", "restart_delay_max: 1")
	r.faulty = true
	m := r.minion("m1")
	for range 3 {
		equal(t, "before", r.clear(cmd("ping")), cmd("ping"))
	}
	for i := range 3 { // a death without a request in hand
		if err := r.m.Supervisor().Inject(fmt.Sprintf("ReqServer/MWorker-fast-%d", i),
			supervisor.FaultPanic); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		equal(t, "answer of a living worker", r.clear(cmd("ping")), cmd("ping"))
	}
	r.noLogins() // what asks for them panics
	equal(t, "answer in clear", r.clear(cmd("mk_token", "eauth", "auto")), handlerFailed)
	r.m.core.desks.data.cache = nil // what uses it panics, after the request was opened
	equal(t, "answer to a minion", m.ask(cmd("_mine", "data", payload.M("a", 1))), "")
	equal(t, "and then", m.ask(cmd("_file_envs")), []any{"base"})
	r.eventually("restarts", func() error {
		restarts := 0
		r.tree(func(c stats.Child) {
			if strings.HasPrefix(c.Name, "MWorker-") {
				restarts += c.Restarts
			} else if c.Restarts > 0 {
				t.Errorf("%s was restarted", c.Path)
			}
		})
		if restarts != 5 {
			return fmt.Errorf("%d, want 5", restarts)
		}
		return nil
	})
}

// TestWorkerHangs: a request that is in hand for too long is answered, and its worker replaced.
func TestWorkerHangs(t *testing.T) {
	t.Parallel() // it waits, and so do the other tests of timeouts
	r := newRig(t, "chaos: true", "worker_threads: 1", "request_timeout: 5", "stop_timeout: 1")
	r.faulty = true
	equal(t, "before", r.clear(cmd("ping")), cmd("ping"))
	if err := r.m.Supervisor().Inject("ReqServer/MWorker-fast-0", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	equal(t, "answer", r.clear(cmd("ping")), handlerFailed)
	equal(t, "and then", r.clear(cmd("ping")), cmd("ping"))
	r.log.Await(t, "worker hangs and is replaced")
}

// TestLateAnswer: a request whose answer another actor owes is answered by the deadline.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chaos: true", "request_timeout: 5", "peer_run: {m1: ['test.*']}", "stop_timeout: 1")
	r.faulty = true
	m := r.minion("m1")
	equal(t, "answer", m.ask(cmd("minion_runner", "fun", "test.sleep", "arg", []any{"600"})), "")
	r.log.Await(t, "a request was not answered in time")
}

// TestReqServerDies: the port is bound again, and everybody is served.
func TestReqServerDies(t *testing.T) {
	r := newRig(t, "chaos: true")
	r.faulty = true
	m := r.minion("m1")
	for _, name := range []string{"ReqServer", "EventPublisher", "Publisher", "JobStore", "Maintenance"} {
		if err := r.m.Supervisor().Inject(name, supervisor.FaultPanic); err != nil {
			t.Fatal(err)
		}
		r.m.Fire("test/poke", payload.NewMap(0))
		ref, _ := r.m.Supervisor().Lookup(name)
		ref.Send(&Maintain{Now: time.Now()}) // any message sets the fault off
		r.eventually(name+" lives again", func() error {
			var err error = errors.New("not restarted")
			r.tree(func(c stats.Child) {
				if c.Name == name && c.Restarts > 0 && c.State == stats.StateRunning {
					err = nil
				}
			})
			return err
		})
		m.q.Close()
		m.q = r.connect()
		jid := r.publish(payload.NewMap(0))
		m.giveBack(jid, "test.ping", true)
		equal(t, "return after the death of "+name, r.stored(jid).Map("m1").Value("return"), true)
	}
}

// TestRunnerDies: whoever waits for a runner is told.
func TestRunnerDies(t *testing.T) {
	r := newRig(t, "chaos: true", "peer_run: {m1: ['test.*']}")
	r.faulty = true
	m := r.minion("m1")
	ear := r.hear()
	answer := make(chan any, 1)
	go func() { answer <- m.ask(cmd("minion_runner", "fun", "test.sleep", "arg", []any{"30"})) }()
	var jid string
	for jid == "" {
		if tag, data := ear.next(); strings.HasSuffix(tag, "/new") {
			jid = data.Str("jid")
		}
	}
	if running := r.m.core.functions.list(); len(running) != 1 || running[0].Str("fun") != "runner.test.sleep" {
		t.Errorf("running: %v", running)
	}
	r.endRunner(jid, true)
	equal(t, "success", ear.await("salt/run/"+jid+"/ret").Value("success"), false)
	equal(t, "answer", actortest.Wait(t, "answer", answer), "")
	r.eventually("end of the runner", func() error {
		if n := len(r.m.core.functions.list()); n > 0 {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
}

// TestUnwritableCache: returns that cannot be stored are not acknowledged, which is said once, and then they can be
// stored again.
func TestUnwritableCache(t *testing.T) {
	store := &brokenStore{}
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: jobStoreOptions{store: store, log: log.Logger()}}
	}})
	give := func() error {
		done := make(chan error, 1)
		ref.Send(&StoreReturn{JID: someJID, ID: "m1", Load: ret("m1", someJID), Stored: func(err error) {
			done <- err
		}})
		return actortest.Wait(t, "the store's answer", done)
	}
	store.fail = errors.New("no space left on device")
	for range 5 {
		if err := give(); !errors.Is(err, store.fail) {
			t.Errorf("got %v", err)
		}
	}
	store.fail = nil
	if err := give(); err != nil {
		t.Error(err)
	}
	log.Await(t, "jobs can be stored again")
	said := 0
	for _, line := range log.Lines() {
		if strings.Contains(line, "jobs cannot be stored") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times: %q", said, log.Lines())
	}
	store.panics = true
	if err := give(); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("after a panic: %v", err)
	}
}

// brokenStore fails as it is told. Its one caller at a time is the writer of a JobStore.
type brokenStore struct {
	fail    error
	panics  bool
	entered chan struct{}
	release chan struct{}
	groups  []int
}

func (b *brokenStore) Commit(_ []jobstore.Load, rets []jobstore.Return) (jobstore.Result, error) {
	if b.entered != nil {
		b.entered <- struct{}{}
		<-b.release
	}
	if b.panics {
		panic("broken")
	}
	b.groups = append(b.groups, len(rets))
	return jobstore.Result{}, b.fail
}

func (b *brokenStore) Clean(time.Time) (int, error) { return 0, nil }

func (b *brokenStore) Compact(context.Context) (int64, int64, error) { return 0, 0, nil }

// TestJobStoreGroups: while one group is on its way the next gathers; what waits at the end is written.
func TestJobStoreGroups(t *testing.T) {
	store := &brokenStore{entered: make(chan struct{}, 10), release: make(chan struct{})}
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: jobStoreOptions{store: store, log: discard()}}
	}})
	done := make(chan error, 20)
	send := func(n int) {
		for range n {
			ref.Send(&StoreReturn{JID: someJID, ID: "m1", Load: ret("m1", someJID), Stored: func(err error) {
				done <- err
			}})
		}
	}
	send(1)
	actortest.Wait(t, "first group", store.entered)
	send(5)
	store.release <- struct{}{}
	actortest.Wait(t, "second group", store.entered)
	send(3)
	handled := func() error {
		if n := ref.Depth(); n > 0 {
			return fmt.Errorf("%d wait", n)
		}
		return nil
	}
	(&rig{t: t}).eventually("messages handled", handled)
	stopped := make(chan supervisor.Report, 1)
	go func() { stopped <- s.Stop(patience) }()
	store.release <- struct{}{}
	actortest.Wait(t, "last group", store.entered)
	store.release <- struct{}{}
	if r := actortest.Wait(t, "stop", stopped); len(r.Abandoned) > 0 {
		t.Errorf("abandoned %v", r.Abandoned)
	}
	for range 9 {
		if err := actortest.Wait(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(store.groups) != "[1 5 3]" {
		t.Errorf("groups of %v", store.groups)
	}
}

// TestJobStoreDies: what had gathered is written by the dying actor, and its successor goes on.
func TestJobStoreDies(t *testing.T) {
	store := &brokenStore{entered: make(chan struct{}, 10), release: make(chan struct{})}
	s := actortest.Start(t, supervisor.Options{})
	crasher := actortest.NewCrasher(func() supervisor.Actor {
		return &jobStore{opt: jobStoreOptions{store: store, log: discard()}}
	})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: crasher.New})
	done := make(chan error, 20)
	send := func(n int) {
		for range n {
			ref.Send(&StoreReturn{JID: someJID, ID: "m1", Load: ret("m1", someJID), Stored: func(err error) {
				done <- err
			}})
		}
	}
	send(1)
	actortest.Wait(t, "first group", store.entered)
	crasher.Panic(&SaveLoad{})
	send(2)
	ref.Send(&SaveLoad{JID: someJID})
	send(1)
	store.release <- struct{}{}
	for range 2 {
		actortest.Wait(t, "a later group", store.entered)
		store.release <- struct{}{}
	}
	for range 4 {
		if err := actortest.Wait(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(store.groups) != "[1 2 1]" {
		t.Errorf("groups of %v", store.groups)
	}
}

// TestDamagedStore: a job store that is damaged is put aside, loudly, and the master runs.
func TestDamagedStore(t *testing.T) {
	r := newSite(t)
	r.writeFile(filepath.Join(r.cfg.CacheDir, jobstore.StoreFile), strings.Repeat("no database ", 1000), 0o600)
	r.start()
	r.log.Await(t, setaside.Text)
	aside, err := filepath.Glob(filepath.Join(r.cfg.CacheDir, jobstore.StoreFile+".damaged-*"))
	if err != nil || len(aside) != 1 {
		t.Errorf("put aside: %v, %v", aside, err)
	}
	m := r.minion("m1")
	m.giveBack(someJID, "test.ping", true)
}

// TestFullQueue: what is too much is refused in Salt's words, counted and said.
func TestFullQueue(t *testing.T) {
	r := newRig(t, "request_queue_max: 0", "worker_threads: 1")
	got := r.clear(cmd("ping"))
	equal(t, "answer", got, handlerFailed)
	r.log.Await(t, "requests are refused: too many wait")
}

// TestReadOnlyCache: a master whose cache cannot be written does not start, and says why.
func TestReadOnlyCache(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; TestNoCache is for root, too")
	}
	r := newSite(t)
	if err := os.Chmod(r.cfg.CacheDir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(r.cfg.CacheDir, 0o700) })
	r.refusesToStart(os.ErrPermission)
}

// TestNoCache: the same with a file where the cache should be.
func TestNoCache(t *testing.T) {
	r := newSite(t)
	if err := os.RemoveAll(r.cfg.CacheDir); err != nil {
		t.Fatal(err)
	}
	r.writeFile(r.cfg.CacheDir, "", 0o600)
	r.refusesToStart(syscall.ENOTDIR)
}

func (r *rig) refusesToStart(want error) {
	r.t.Helper()
	own, err := LoadKeys(r.cfg, actortest.NewLog().Logger())
	if err == nil {
		var m *Master
		if m, err = Start(Options{Config: r.cfg, Logger: discard(), Keys: own, RunningUser: userName()}); err == nil {
			_, _ = m.Stop(patience)
		}
	}
	if !errors.Is(err, want) {
		r.t.Errorf("start: got %v, want %v", err, want)
	}
}

// TestNoFilesOfJobs: a jobs directory that cannot be written is said once; jobs and returns go on.
func TestNoFilesOfJobs(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	jobs := filepath.Join(r.cfg.CacheDir, "jobs")
	if err := os.RemoveAll(jobs); err != nil {
		t.Fatal(err)
	}
	r.writeFile(jobs, "", 0o600)
	for range 3 {
		jid := r.publish(payload.NewMap(0))
		m.giveBack(jid, "test.ping", true)
		equal(t, "return", r.stored(jid).Map("m1").Value("return"), true)
	}
	settledJobs{r.m.core.jobs}.settle() // what could not be written is said when a commit is over
	if err := os.Remove(jobs); err != nil {
		t.Fatal(err)
	}
	r.jobDir(r.publish(payload.NewMap(0)))
	r.log.Await(t, "can be written again")
	said := 0
	for _, line := range r.log.Lines() {
		if strings.Contains(line, "cannot be written") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times: %q", said, r.log.Lines())
	}
}

// TestPortTaken: a master that cannot bind leaves nothing running.
func TestPortTaken(t *testing.T) {
	r := newRig(t)
	other := *r.cfg
	other.CacheDir, other.SockDir = t.TempDir(), filepath.Join(r.dir, "s2")
	if err := os.Mkdir(other.SockDir, 0o755); err != nil {
		t.Fatal(err)
	}
	own, err := LoadKeys(&other, actortest.NewLog().Logger())
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Start(Options{Config: &other, Logger: discard(), Keys: own, RunningUser: userName()}); err == nil {
		_, _ = m.Stop(time.Second)
		t.Fatal("a second master started on the same ports")
	}
	equal(t, "the first one", r.clear(cmd("ping")), cmd("ping"))
}

// TestStoppedMasterIsSilent: an idle master ends without leaving anybody behind, and answers no more.
func TestStoppedMasterIsSilent(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	r.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	frame, _, err := m.Seal(cmd("_file_envs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.q.Do(ctx, frame); err == nil {
		t.Error("a stopped master answers")
	}
}
