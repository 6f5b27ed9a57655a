package minion

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/payload"
)

// again starts a second minion where the first has ended.
func (r *rig) again() {
	r.t.Helper()
	r.fun = newFunctions()
	r.opt = r.options()
	r.ready = make(chan struct{}, 8)
	r.start()
}

// TestStop ends the jobs that run, and their returns arrive before the minion ends.
func TestStop(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i := range 3 {
		f.publish(jid(i), "t.block")
		r.awaitBegun(t, jid(i), 1)
	}
	r.stop()
	for i := range 3 {
		if text := f.awaitReturn(t, jid(i)).Value("return"); text != textStopped && text != "released" {
			t.Errorf("return of a job that was running at the stop: %v", text)
		}
	}
	if left := append(files(t, string(procDir(filepath.Join(r.cfg.CacheDir, "proc")))), files(t, r.spool())...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestAfterDeath lets a minion find what a killed one has left: jobs that had begun, returns, a queue, rubbish.
func TestAfterDeath(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n")
	proc, queue := procDir(filepath.Join(r.cfg.CacheDir, "proc")), jobQueue(filepath.Join(r.cfg.CacheDir, "queues"))
	l := &link{master: r.cfg.Masters[0]}
	entry := func(n int, fun string) *payload.Map {
		e := procEntry(load(jid(n), fun))
		return e.Set("pid", int64(1<<30)) // nobody's
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(proc.write(jid(1), entry(1, "t.block"), l))
	must(proc.write(jid(2), entry(2, "t.echo"), l)) // its return is in the spool: killed between the two
	must(proc.write(jid(3), entry(3, "t.echo"), nil))
	must(proc.write(jid(4), entry(4, "t.echo"), l)) // still in the queue, too
	must(os.WriteFile(proc.path(jid(5)), nil, 0o600))
	must(os.WriteFile(proc.path("rubbish"), []byte("\xc1"), 0o600))
	s := &spool{dir: r.spool()}
	_, err := s.put(jid(2), payload.M("cmd", "_return", "id", "m1", "jid", jid(2), "fun", "t.echo", "return", "kept", "success", true, "retcode", int64(0)))
	must(err)
	must(os.WriteFile(s.path("spoilt"), []byte("\xc1"), 0o600))
	for _, n := range []int{4, 6, 7} {
		_, err := queue.put(r.clock.Now(), load(jid(n), "t.echo", int64(n)), l)
		must(err)
		r.clock.Advance(1000)
	}
	must(os.WriteFile(filepath.Join(queue.dir(l), "queued_1_x.p"), []byte("\xc1"), 0o600))

	r.up()
	f := r.master()
	for n, want := range map[int]any{1: textLost, 2: "kept", 3: textLost, 4: textLost, 6: int64(6), 7: int64(7)} {
		if got := f.awaitReturn(t, jid(n)).Value("return"); got != want {
			t.Errorf("job %d: %v, want %v", n, got, want)
		}
	}
	f.publish(jid(1), "t.echo", "x") // it had begun once: never again
	r.run(jid(8), "test.ping")
	r.awaitIdle(t)
	for _, n := range []int{1, 2, 3, 4, 6, 7} {
		once(t, f, jid(n))
	}
	for _, n := range []int{1, 2, 3, 4} {
		if r.fun.count(jid(n)) != 0 {
			t.Errorf("job %d ran again", n)
		}
	}
	r.awaitSpool(t, 1) // the spoilt one, set aside
	if left := files(t, queue.dir(l)); len(left) != 0 {
		t.Errorf("queue: %q", left)
	}
	r.log.Await(t, "proc entries cannot be read")
}

// TestLiveNeighbour leaves the entries of another minion's process alone, as long as that lives.
func TestLiveNeighbour(t *testing.T) {
	dir := procDir(t.TempDir())
	for name, pid := range map[string]int64{"mine": int64(os.Getpid()), "alive": 77, "dead": 78} {
		if err := dir.write(name, payload.M("jid", name, "pid", pid), nil); err != nil {
			t.Fatal(err)
		}
	}
	lost, err := dir.orphans(func(pid int) bool { return pid == 77 })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range lost {
		names = append(names, o.name)
		if o.load.Has("pid") || o.load.Has(procMaster) {
			t.Errorf("%s: %v", o.name, o.load)
		}
	}
	if got := strings.Join(names, " "); got != "dead mine" {
		t.Errorf("orphans %q", got)
	}
	if alive(0) || alive(-1) {
		t.Error("nobody lives")
	}
}

// TestChaos harms actors of all kinds while jobs run: every job that had begun is answered, none runs twice, and
// what is answered twice is the same return.
func TestChaos(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{"EventBus", "Refresher", "Dispatcher", "Jobs", "Master-master.test_4506", "Master-master.test_4506/ReturnSender",
		"Master-master.test_4506/Subscriber", "Master-master.test_4506/Authenticator"}
	const n = 400
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
		if i%5 == 4 {
			harm(t, r, paths[rnd.IntN(len(paths))], []supervisor.Fault{supervisor.FaultPanic, supervisor.FaultExit}[rnd.IntN(2)])
		}
		if i%100 == 50 {
			for j := range i + 1 {
				f.awaitReturn(t, jid(j))
			}
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		if got := r.fun.count(jid(i)); got > 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range n {
		for _, ret := range f.returns[jid(i)][1:] {
			if a, b := fmt.Sprint(ret.Value("return")), fmt.Sprint(f.returns[jid(i)][0].Value("return")); a != b {
				t.Errorf("job %d has two returns: %s and %s", i, a, b)
			}
		}
	}
}

// TestRestarts stops a minion many times with jobs at every stage.
func TestRestarts(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 60
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
		if i%15 == 14 {
			r.awaitBegun(t, jid(i), 1)
			r.stop()
			r.again()
			actortest.Wait(t, "ready minion", r.ready)
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
	}
	r.awaitIdle(t)
	for i := range n {
		once(t, f, jid(i))
	}
}
