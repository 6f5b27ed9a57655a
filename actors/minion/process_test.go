package minion

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/host/jobprocess"
	"brine/supervisor"
	"brine/wire/payload"
)

// processRig is a rig whose jobs have processes of their own, and the file in which they leave their traces.
func processRig(t *testing.T, extra string) (*rig, string) {
	t.Helper()
	return processRigWith(t, extra, func(*rig) {})
}

// processRigWith is a processRig that was changed before its start.
func processRigWith(t *testing.T, extra string, change func(*rig)) (*rig, string) {
	t.Helper()
	r := newRig(t, "multiprocessing: True\n"+extra)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.opt.Worker = jobprocess.Options{Path: self}
	change(r)
	return r.up(), filepath.Join(r.dir, "trace")
}

// until waits for something, while the clock goes on in steps, not so fast that handlers seem to hang.
func (r *rig) until(t *testing.T, what string, ok func() bool, step time.Duration) {
	t.Helper()
	for limit := time.After(patience); !ok(); {
		select {
		case <-limit:
			t.Fatalf("no %s", what)
		case <-time.After(step / 10):
			r.clock.Advance(step)
		}
	}
}

// has tells whether a job was answered.
func (f *fakeMaster) has(jid string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.returns[jid]) > 0
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// traces are the pids by job that a file tells of; more than one when a job ran more than once.
func traces(t *testing.T, path string) map[string][]int {
	t.Helper()
	out := map[string][]int{}
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		jid, pid, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); ok && err == nil {
			out[jid] = append(out[jid], n)
		}
	}
	return out
}

// begun waits until the function of a job has left its trace, and returns the pid.
func begun(t *testing.T, path, jid string) int {
	t.Helper()
	for limit := time.Now().Add(patience); ; {
		if pids := traces(t, path)[jid]; len(pids) > 0 {
			return pids[0]
		}
		if time.Now().After(limit) {
			t.Fatalf("job %s does not begin", jid)
		}
		<-time.After(time.Millisecond)
	}
}

// gone waits until a process has ended and was waited for.
func gone(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; {
		if time.Now().After(limit) {
			t.Fatalf("process %d is still there", pid)
		}
		<-time.After(time.Millisecond)
	}
}

// zombies counts the children of this process that have ended and were not waited for.
func zombies(t *testing.T) (n int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(tasks) == 0 {
		t.Skip("the kernel does not list children")
	}
	for _, task := range tasks {
		list, _ := os.ReadFile(task)
		for pid := range strings.FieldsSeq(string(list)) {
			if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && strings.Contains(string(stat),
				") Z ") {
				n++
			}
		}
	}
	return n
}

// noZombies waits until every child that has ended was waited for.
func noZombies(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(patience); zombies(t) > 0; {
		if time.Now().After(limit) {
			t.Fatalf("%d zombies", zombies(t))
		}
		<-time.After(time.Millisecond)
	}
}

// TestProcess runs functions in processes of their own, with all that they see of the minion.
func TestProcess(t *testing.T) {
	r, trace := processRig(t, "cache_jobs: True\n")
	f := r.master()
	pid, _ := r.run(jid(1), "p.pid", trace).Int("return")
	if pid == int64(os.Getpid()) || pid == 0 {
		t.Errorf("the function ran in %d", pid)
	}
	gone(t, int(pid))
	want := payload.M("pillar", payload.M("where", "master"), "role", "web", "id", "m1")
	if got := r.run(jid(2), "p.see", trace).Value("return"); !payload.Equal(got, want) {
		t.Errorf("the function sees %v", got)
	}
	if got := r.run(jid(3), "p.nosuch").Value("return"); got != "'p.nosuch' is not available." {
		t.Errorf("unknown function: %v", got)
	}
	if got := r.run(jid(4), "p.exception", trace); !strings.Contains(got.Str("return"), "RuntimeError: boom") ||
		got.Value("success") != false {
		t.Errorf("exception: %v", got)
	}
	f.await(t, "report of the exception", func() bool { return len(f.events()) == 3 })
	if got := r.run(jid(5), "event.send", "a/tag", payload.M("x", 1)).Value("return"); got != true {
		t.Errorf("event.send: %v", got)
	}
	f.await(t, "event of a function", func() bool { return f.events()[len(f.events())-1] == "a/tag" })
	if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, "minion_jobs", jid(1), "return.p")); err != nil {
		t.Errorf("the return is not kept (cache_jobs): %v", err)
	}
	for i := range 5 {
		once(t, f, jid(i+1))
	}
	r.awaitIdle(t)
	noZombies(t)
}

// TestProcessDeaths ends processes in every way; the return says how.
func TestProcessDeaths(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // under nohup it is ignored, and the processes inherit that
	t.Cleanup(func() { signal.Stop(heard) })
	r, trace := processRig(t, "job_memory_limit: 67108864\njob_cpu_limit: 1\n")
	f := r.master()
	kill := func(sig syscall.Signal) func(int) {
		return func(pid int) { _ = syscall.Kill(pid, sig) }
	}
	ask := func(fun string, n int, args ...any) func(int) {
		return func(pid int) {
			text := r.run(jid(n), fun, args...).Str("return")
			if want := fmt.Sprintf("sent to job %s at pid %d", jid(n-100), pid); !strings.HasSuffix(text, want) {
				t.Errorf("%s: %q, want %q", fun, text, want)
			}
		}
	}
	for i, tt := range []struct {
		fun  string
		end  func(pid int)
		want string
	}{
		{"p.wait", kill(syscall.SIGKILL), "The job was ended by signal 9 (killed)"},
		{"p.wait", kill(syscall.SIGTERM), "The job was ended by signal 15 (terminated)"},
		{"p.wait", kill(syscall.SIGSEGV), "exit code 2"},
		{"p.wait", ask("saltutil.kill_job", 103, jid(3)), "The job was ended by signal 9 (killed)"},
		{"p.wait", ask("saltutil.term_job", 104, jid(4)), "The job was ended by signal 15 (terminated)"},
		{"p.wait", ask("saltutil.signal_job", 105, jid(5), int64(1)), "The job was ended by signal 1 (hangup)"},
		{"p.crash", nil, "panic: boom far away"},
		{"p.grow", nil, "out of memory, with a limit of 67108864 bytes (job_memory_limit)"},
		{"p.burn", nil, "it has used its 1s of processor time (job_cpu_limit)"},
	} {
		f.publish(jid(i), tt.fun, trace)
		pid := begun(t, trace, jid(i))
		if tt.end != nil {
			tt.end(pid)
		}
		ret := f.awaitReturn(t, jid(i))
		if text := ret.Str("return"); !strings.Contains(text, tt.want) || ret.Value("success") != false ||
			ret.Value("retcode") != int64(1) {
			t.Errorf("%s, %d: %v, want %q", tt.fun, i, ret, tt.want)
		}
		gone(t, pid)
		once(t, f, jid(i))
	}
	r.awaitIdle(t)
	for id, pids := range traces(t, trace) {
		if len(pids) != 1 {
			t.Errorf("job %s ran %d times", id, len(pids))
		}
	}
	noZombies(t)
}

// TestLimitsNeedProcesses: limits that bound nothing are no secret.
func TestLimitsNeedProcesses(t *testing.T) {
	for _, limit := range []string{"job_memory_limit: 67108864\n", "job_cpu_limit: 1\n"} {
		newRig(t, limit).start().log.Await(t, "WARN job_memory_limit and job_cpu_limit have no effect without "+
			"multiprocessing: True")
	}
	r, _ := processRig(t, "job_cpu_limit: 1\n")
	for _, line := range r.log.Lines() {
		if strings.Contains(line, "have no effect") {
			t.Error(line)
		}
	}
}

// TestProcessSignals are signals that do not end a job: they reach the process.
func TestProcessSignals(t *testing.T) {
	r, trace := processRig(t, "")
	f := r.master()
	f.publish(jid(1), "p.wait", trace)
	pid := begun(t, trace, jid(1))
	found := asData(r.run(jid(2), "saltutil.find_job", jid(1)).Value("return"))
	if got, _ := found.Int("pid"); int(got) != pid || found.Keys()[0] != "pid" {
		t.Errorf("find_job: %v, the process is %d", found, pid)
	}
	state := func(want byte) {
		t.Helper()
		for limit := time.Now().Add(patience); ; {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if _, rest, _ := strings.Cut(string(stat), ") "); rest != "" && (rest[0] == 'T') == (want == 'T') {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("the process is not %c: %s", want, stat)
			}
		}
	}
	r.run(jid(3), "saltutil.signal_job", jid(1), int64(syscall.SIGSTOP))
	state('T')
	r.run(jid(4), "saltutil.signal_job", jid(1), int64(syscall.SIGCONT))
	state('S')
	r.run(jid(5), "saltutil.signal_job", jid(1), int64(0))
	r.run(jid(6), "saltutil.signal_job", jid(1), int64(syscall.SIGSTOP))
	state('T')
	r.run(jid(7), "saltutil.term_job", jid(1)) // a stopped process ends, too
	f.awaitReturn(t, jid(1))
	gone(t, pid)
}

// TestProcessOfADeadActor ends with the actor of its job.
func TestProcessOfADeadActor(t *testing.T) {
	r, trace := processRig(t, "")
	f := r.master()
	for i, how := range []supervisor.Fault{supervisor.FaultPanic, supervisor.FaultExit} {
		f.publish(jid(i), "p.wait", trace)
		pid := begun(t, trace, jid(i))
		harm(t, r, "Jobs/Job-"+jid(i), how)
		if text := f.awaitReturn(t, jid(i)).Str("return"); !strings.HasPrefix(text, "The job died on the minion: ") {
			t.Errorf("%s: %q", how, text)
		}
		gone(t, pid)
		once(t, f, jid(i))
	}
	noZombies(t)
}

// TestProcessStop stops a minion with running jobs: each has its return, and nothing of them is left.
func TestProcessStop(t *testing.T) {
	r, trace := processRig(t, "")
	f := r.master()
	for i := range 10 {
		f.publish(jid(i), "p.wait", trace)
	}
	f.publish(jid(10), "cmd.run", "trap '' TERM; echo "+jid(10)+" $$ >> "+trace+"; sleep 600")
	var pids []int
	for i := range 11 {
		pids = append(pids, begun(t, trace, jid(i)))
	}
	r.stop()
	for i := range 11 {
		if text := f.awaitReturn(t, jid(i)).Value("return"); text != sayStopped {
			t.Errorf("return of a job that was running at the stop: %v", text)
		}
		gone(t, pids[i])
	}
	if left := files(t, filepath.Join(r.cfg.CacheDir, "proc")); len(left) > 0 {
		t.Errorf("proc entries left: %q", left)
	}
	noZombies(t)
}

// TestProcessCrowd runs 200 jobs at once, 8 at a time, in order, and each once.
func TestProcessCrowd(t *testing.T) {
	r, trace := processRig(t, "process_count_max: 8\n")
	f := r.master()
	const n = 200
	for i := range n {
		if i%40 == 20 {
			f.publish(jid(i), "p.crash", trace)
		} else {
			f.publish(jid(i), "p.pid", trace)
		}
	}
	if found := asData(r.run(jid(1000), "saltutil.find_job", jid(n-1)).Value("return")); found.Str("jid") != jid(n-1) &&
		len(traces(t, trace)[jid(n-1)]) == 0 {
		t.Errorf("find_job of the last one: %v", found)
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		once(t, f, jid(i))
	}
	ran := traces(t, trace)
	for i := range n {
		if len(ran[jid(i)]) != 1 {
			t.Errorf("job %d ran %d times", i, len(ran[jid(i)]))
		}
	}
	r.awaitIdle(t)
	noZombies(t)
}

// TestNoZombies runs jobs that leave processes of all kinds, in both forms of multiprocessing: each that ends is waited
// for.
func TestNoZombies(t *testing.T) {
	for _, own := range []bool{true, false} {
		r, trace := processRigWith(t, "", func(r *rig) {
			r.cfg.Multiprocessing = own
			if err := r.opt.Registry.Register(processFunctions()...); err != nil {
				t.Fatal(err)
			}
		})
		f := r.master()
		const n = 60
		for i := range n {
			switch i % 6 {
			case 0:
				f.publish(jid(i), "cmd.run", "true")
			case 1:
				f.publish(jid(i), "cmd.run_bg", "true")
			case 2: // forks twice, and leaves the session
				f.publish(jid(i), "cmd.run", "setsid sh -c 'sleep 0 >/dev/null 2>&1 & exit 0'")
			case 3:
				f.publish(jid(i), "cmd.run", "kill -9 $$")
			case 4:
				f.publish(jid(i), "cmd.run", "sleep 600", payload.M("timeout", 0.1, "__kwarg__", true))
			case 5:
				f.publish(jid(i), "cmd.run", "echo "+jid(i)+" $$ >> "+trace+"; sleep 600")
				begun(t, trace, jid(i))
				r.run(jid(1000+i), []string{"saltutil.kill_job", "saltutil.term_job"}[i/6%2], jid(i))
			}
		}
		for i := range n {
			f.awaitReturn(t, jid(i))
			once(t, f, jid(i))
		}
		r.awaitIdle(t)
		noZombies(t)
		for id, pids := range traces(t, trace) {
			for _, pid := range pids {
				gone(t, pid)
			}
			if len(pids) != 1 {
				t.Errorf("own processes %v: job %s ran %d times", own, id, len(pids))
			}
		}
		r.stop()
	}
}
