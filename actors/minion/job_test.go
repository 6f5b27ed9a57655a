package minion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/loader"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// awaitIdle waits until nothing is left of any job but its return.
func (r *rig) awaitIdle(t *testing.T) {
	t.Helper()
	limit := time.After(patience)
	for {
		if len(host{r.m, nil}.Running()) == 0 && len(files(t, filepath.Join(r.cfg.CacheDir, "proc"))) == 0 {
			return
		}
		select {
		case <-limit:
			t.Fatalf("jobs left: %v, entries %q", host{r.m, nil}.Running(),
				files(t, filepath.Join(r.cfg.CacheDir, "proc")))
		default:
		}
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// once fails unless a job has one return.
func once(t *testing.T, f *fakeMaster, jid string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.returns[jid]); n != 1 {
		var what []string
		for _, ret := range f.returns[jid] {
			what = append(what, fmt.Sprintf("%.200v", ret.Value("return")))
		}
		t.Errorf("job %s has %d returns: %q", jid, n, what)
	}
}

// TestOutcomes are the ends a job can come to.
func TestOutcomes(t *testing.T) {
	r := newRig(t, "cache_jobs: True\n").up()
	for i, tt := range []struct {
		fun     string
		args    []any
		want    string // in the return
		success bool
	}{
		{"t.echo", []any{"hello"}, "hello", true},
		{"t.nosuch", nil, "'t.nosuch' is not available.", false},
		{"t.echo", nil, "Passed invalid arguments to t.echo", false},
		{"t.panic", nil, "The minion function caused an exception", false},
		{"t.odd", nil, "The return cannot be packed", false},
		{"test.retcode", []any{int64(42)}, "true", false},
	} {
		ret := r.run(jid(i), tt.fun, tt.args...)
		if text := fmt.Sprint(ret.Value("return")); !strings.Contains(text, tt.want) {
			t.Errorf("%s: return %.200q, want %q", tt.fun, text, tt.want)
		}
		if ret.Value("success") != tt.success {
			t.Errorf("%s: success %v", tt.fun, ret.Value("success"))
		}
		once(t, r.master(), jid(i))
	}
	r.awaitIdle(t)
	f := r.master()
	f.await(t, "report of the exception", func() bool { return slices.Contains(f.events(), "_salt_error") })
	if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, "minion_jobs", jid(0), "return.p")); err != nil {
		t.Errorf("the return is not kept (cache_jobs): %v", err)
	}
}

// TestDuplicates takes each jid once, whichever master it comes from.
func TestDuplicates(t *testing.T) {
	r := newRig(t, "minion_jid_queue_hwm: 3\n", "a.test", "b.test").start()
	for range r.masters {
		actortest.Wait(t, "ready master", r.ready)
	}
	a, b := r.masters[0], r.masters[1]
	a.publish(jid(1), "t.echo", "x")
	a.awaitReturn(t, jid(1))
	b.publish(jid(1), "t.echo", "x")
	b.publish(jid(2), "t.echo", "x")
	b.awaitReturn(t, jid(2))
	if n := r.fun.count(jid(1)); n != 1 {
		t.Errorf("a job of two masters ran %d times", n)
	}
	a.publish("req", "t.block")
	r.awaitBegun(t, "req", 1)
	a.publish("req", "t.block") // the jid of jobs without one is no name
	r.awaitBegun(t, "req", 2)
	a.publish(jid(3), "t.block")
	r.awaitBegun(t, jid(3), 1)
	for i := range 5 {
		a.publish(jid(10+i), "t.echo", "x")
		a.awaitReturn(t, jid(10+i))
	}
	a.publish(jid(3), "t.block") // it has left the list of the last jids, but it runs
	a.publish(jid(20), "t.echo", "x")
	a.awaitReturn(t, jid(20))
	if n := r.fun.count(jid(3)); n != 1 {
		t.Errorf("a running job was started %d times", n)
	}
}

// TestOddJIDs are jids that must not become paths.
func TestOddJIDs(t *testing.T) {
	r := newRig(t, "").up()
	for _, id := range []string{"..", "../../x", "a/b", "a#b", strings.Repeat("9", payload.MaxJID), "ü"} {
		if got := r.run(id, "t.echo", id).Value("return"); got != id {
			t.Errorf("jid %q: return %v", id, got)
		}
	}
	r.awaitIdle(t)
	if _, err := os.Stat(filepath.Join(r.dir, "x")); err == nil {
		t.Error("a jid became a path")
	}
}

// TestKill ends jobs by signals; the function is told, and the return tells it.
func TestKill(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i, tt := range []struct{ fun, with, want string }{
		{"t.block", "saltutil.kill_job", "The job was ended by signal 9 (killed)"},
		{"t.block", "saltutil.term_job", "The job was ended by signal 15 (terminated)"},
		{"t.deaf", "saltutil.kill_job", "The job was ended by signal 9 (killed)"},
	} {
		victim, killer := jid(10*i), jid(10*i+1)
		f.publish(victim, tt.fun)
		r.awaitBegun(t, victim, 1)
		text := r.run(killer, tt.with, victim).Str("return")
		if !strings.HasPrefix(text, "Signal ") || !strings.Contains(text, "sent to job "+victim+" at pid ") {
			t.Errorf("%s: %q", tt.with, text)
		}
		ret := f.awaitReturn(t, victim)
		if ret.Value("return") != tt.want || ret.Value("success") != false || ret.Value("retcode") != int64(1) {
			t.Errorf("%s of %s: %v", tt.with, tt.fun, ret)
		}
		if again := r.run(jid(10*i+2), tt.with, victim).Value("return"); again != "" {
			t.Errorf("%s of a job that has ended: %v", tt.with, again)
		}
	}
	f.publish(jid(50), "t.block")
	r.awaitBegun(t, jid(50), 1)
	r.run(jid(51), "saltutil.signal_job", jid(50), int64(0)) // asks, and harms nobody
	if got := r.run(jid(52), "saltutil.find_job", jid(50)).Value("return"); asData(got).Str("jid") != jid(50) {
		t.Errorf("find_job after signal 0: %v", got)
	}
	r.run(jid(53), "saltutil.signal_job", jid(50), int64(2))
	f.awaitReturn(t, jid(50))
	r.fun.release() // the deaf one comes to its end, and nobody hears of it
	r.run(jid(60), "test.ping")
	for i := range 3 {
		once(t, f, jid(10*i))
	}
	r.awaitIdle(t)
}

// TestFindJob is answered at once while a hundred jobs run.
func TestFindJob(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 100
	for i := range n {
		f.publish(jid(i), "t.block")
	}
	for i := range n {
		r.awaitBegun(t, jid(i), 1)
	}
	r.clock.Advance(shownAfter)
	if names := files(t, filepath.Join(r.cfg.CacheDir, "proc")); len(names) != n {
		limit := time.After(patience)
		for len(names) != n {
			select {
			case <-limit:
				t.Fatalf("%d proc entries", len(names))
			default:
				names = files(t, filepath.Join(r.cfg.CacheDir, "proc"))
			}
		}
	}
	found, _ := r.run(jid(200), "saltutil.find_job", jid(70)).Value("return").(*payload.Map)
	if found.Str("jid") != jid(70) || found.Str("fun") != "t.block" || found.Keys()[0] != "pid" {
		t.Errorf("find_job: %v", found)
	}
	running, _ := r.run(jid(201), "saltutil.running").Value("return").([]any)
	if len(running) != n+1 && len(running) != n { // itself is in the list, where it has begun
		t.Errorf("running: %d jobs", len(running))
	}
	r.fun.release()
	for i := range n {
		f.awaitReturn(t, jid(i))
	}
	r.awaitIdle(t)
}

// TestJobDies crashes the actor of a job that runs: it is answered, and not run again.
func TestJobDies(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i, how := range []supervisor.Fault{supervisor.FaultPanic, supervisor.FaultExit} {
		f.publish(jid(i), "t.block")
		r.awaitBegun(t, jid(i), 1)
		harm(t, r, "Jobs/Job-"+jid(i), how)
		ret := f.awaitReturn(t, jid(i))
		if text := ret.Str("return"); !strings.HasPrefix(text, "The job died on the minion: ") ||
			ret.Value("success") != false {
			t.Errorf("%s: %v", how, ret)
		}
		if n := r.fun.count(jid(i)); n != 1 {
			t.Errorf("%s: ran %d times", how, n)
		}
	}
	r.run(jid(10), "test.ping")
	for i := range 2 {
		once(t, f, jid(i))
	}
	r.awaitIdle(t)
}

// TestQueue lets jobs wait behind process_count_max, on disk, but never the questions about jobs.
func TestQueue(t *testing.T) {
	r := newRig(t, "process_count_max: 2\njob_queue_max: 3\n").up()
	f := r.master()
	for i := range 6 {
		f.publish(jid(i), "t.block")
	}
	r.awaitBegun(t, jid(0), 1)
	r.awaitBegun(t, jid(1), 1)
	if text := f.awaitReturn(t, jid(5)).Str("return"); !strings.Contains(text, "job queue of the minion is full") {
		t.Errorf("job beyond job_queue_max: %q", text)
	}
	found := asData(r.run(jid(20), "saltutil.find_job", jid(3)).Value("return"))
	if n, _ := found.Int("queued"); found.Str("jid") != jid(3) || n != 2 {
		t.Errorf("find_job of a waiting job: %v", found)
	}
	queue := filepath.Join(r.cfg.CacheDir, "queues", "master.test", "job_queue")
	if names := files(t, queue); len(names) != 3 {
		t.Errorf("queue on disk: %q", names)
	}
	r.run(jid(21), "saltutil.kill_job", jid(3))
	if text := f.awaitReturn(t, jid(3)).Str("return"); text != "The job was ended by signal 9 (killed) before it "+
		"had begun" {
		t.Errorf("killed in the queue: %q", text)
	}
	r.run(jid(22), "saltutil.kill_job", jid(0))
	r.awaitBegun(t, jid(2), 1)
	r.fun.release()
	for i := range 5 {
		f.awaitReturn(t, jid(i))
	}
	r.awaitIdle(t)
	if names := files(t, queue); len(names) != 0 {
		t.Errorf("queue on disk after all: %q", names)
	}
	if n := r.fun.count(jid(3)) + r.fun.count(jid(5)); n != 0 {
		t.Errorf("jobs that were refused ran")
	}
}

// TestCompoundTargets matches on grains and pillar of the master that asks.
func TestCompoundTargets(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i, tt := range []struct {
		tgt, kind string
		hit       bool
	}{
		{"role:web", "grain", true}, {"role:db", "grain", false}, {"where:master", "pillar", true},
		{"m1,m2", "list", true}, {"G@os:Debian and m*", "compound", true}, {"m1", "nonsense", false},
		{"x*", "glob", false},
	} {
		f.send(f.sealed(load(jid(i), "t.echo", "x").Set("tgt", tt.tgt).Set("tgt_type", tt.kind)))
		r.run(jid(100+i), "test.ping") // the one before has been looked at
		if got := r.fun.count(jid(i)); (got == 1) != tt.hit {
			if tt.hit {
				f.awaitReturn(t, jid(i))
			} else {
				t.Errorf("%s %s: ran %d times", tt.kind, tt.tgt, got)
			}
		}
	}
}

// TestStartEvent fires the event that a 3008 master asks for.
func TestStartEvent(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.send(f.sealed(load(jid(1), "t.echo", "x").Set("start_event", true)))
	f.awaitReturn(t, jid(1))
	f.await(t, "start event", func() bool { return slices.Contains(f.events(), "salt/job/"+jid(1)+"/start/m1") })
}

// TestNoReturns is pub_ret: False.
func TestNoReturns(t *testing.T) {
	r := newRig(t, "pub_ret: False\n").up()
	r.master().publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	r.awaitIdle(t)
}

// TestTwoMasters answers each master's jobs to that master, with its pillar.
func TestTwoMasters(t *testing.T) {
	r := newRig(t, "", "a.test", "b.test", "a.test")
	r.masters[0].pillar, r.masters[1].pillar = payload.M("where", "a"), payload.M("where", "b")
	r.start()
	for range 2 {
		actortest.Wait(t, "ready master", r.ready)
	}
	for i, f := range r.masters[:2] {
		f.publish(jid(i), "t.pillar")
		if p, _ := f.awaitReturn(t, jid(i)).Value("return").(*payload.Map); p.Str("where") != string(rune('a'+i)) {
			t.Errorf("pillar of master %d: %v", i, p)
		}
	}
	r.masters[0].publish(jid(10), "mine.send", "test.ping")
	r.masters[0].awaitReturn(t, jid(10))
	for _, f := range r.masters[:2] {
		f.await(t, "mine data at both masters", func() bool {
			return slices.ContainsFunc(f.requests, func(l *payload.Map) bool { return l.Str("cmd") == payload.CmdMine })
		})
	}
	r.masters[1].set(func() { r.masters[1].down = true })
	r.masters[0].publish(jid(11), "test.ping")
	r.masters[0].awaitReturn(t, jid(11))
	if l := r.m.links; len(l) != 2 {
		t.Errorf("%d connections to two masters, one named twice", len(l))
	}
}

// TestRequestWhilePending tells whoever asks the master that an operator has to act.
func TestRequestWhilePending(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 7\n").up()
	f := r.master()
	f.await(t, "start events", func() bool { return len(f.events()) == 2 })
	f.set(func() { f.down = true })
	if _, err := (host{r.m, r.m.links[0]}).Request(t.Context(), payload.M("cmd", "_x")); loader.ClassOf(
		err) != "salt.exceptions.SaltReqTimeoutError" ||
		loader.Message(err) != "Message timed out" {
		t.Errorf("a request to a silent master: %v", err)
	}
	f.set(func() { f.down = false })
	f.restart(func(o *auth.MasterOptions) { o.Rules.AcceptAll = false })
	f.keys.set("m1", auth.StatePending)
	if _, err := (host{r.m, r.m.links[0]}).Request(t.Context(), payload.M("cmd", "_x")); loader.ClassOf(
		err) != "salt.exceptions.SaltClientError" ||
		!strings.Contains(err.Error(), "operator") || strings.Contains(err.Error(), "_x") {
		t.Errorf("a request with a pending key: %v", err)
	}
}
