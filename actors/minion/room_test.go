package minion

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/jobs"
	"brine/modules/host/jobprocess"

	"golang.org/x/sys/unix"
)

// TestNoRoom lets jobs wait while the machine is full, but never the questions about jobs.
func TestNoRoom(t *testing.T) {
	var full fakeRoom
	full.memory.Store(99)
	r := newRig(t, "")
	r.opt.room = full.sources()
	r.up()
	f := r.master()
	f.publish(jid(1), "t.echo", "x")
	r.log.Await(t, "Insufficient memory headroom, queuing job "+jid(1))
	found := asData(r.run(jid(2), "saltutil.find_job", jid(1)).Value("return"))
	if n, _ := found.Int("queued"); n != 1 {
		t.Errorf("find_job: %v", found)
	}
	full.memory.Store(10)
	r.until(t, "return", func() bool { return f.has(jid(1)) }, lookEvery)
	once(t, f, jid(1))
}

// refusing is a launcher that cannot start anything for a while.
type refusing struct {
	jobs.Launcher
	left atomic.Int64
	err  error
}

func (l *refusing) Start(label string) (*jobprocess.Process, error) {
	if l.left.Add(-1) >= 0 {
		return nil, fmt.Errorf("fork: %w", l.err)
	}
	return l.Launcher.Start(label)
}

// TestPostponed puts jobs back whose process could not be started: they keep their turn, and run once.
func TestPostponed(t *testing.T) {
	refuse := &refusing{err: unix.EAGAIN}
	refuse.left.Store(2)
	r, trace := processRigWith(t, "process_count_max: 1\n", func(r *rig) {
		refuse.Launcher = jobprocess.New(r.opt.Worker)
		r.opt.launch = refuse
	})
	f := r.master()
	for i := range 4 {
		f.publish(jid(i), "p.pid", trace)
	}
	r.log.Await(t, "the process of a job cannot be started now; the job is queued")
	queue := filepath.Join(r.cfg.CacheDir, "queues", "master.test", "job_queue")
	r.until(t, "queue", func() bool { return len(files(t, queue)) == 4 }, 0)
	for i := range 4 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, lookEvery)
		once(t, f, jid(i))
	}
	var order []string
	for line := range strings.Lines(readFile(t, trace)) {
		order = append(order, strings.Fields(line)[0])
	}
	if got, want := strings.Join(order, " "), strings.Join([]string{jid(0), jid(1), jid(2), jid(3)}, " "); got != want {
		t.Errorf("the jobs ran as %s; %v", got, f.awaitReturn(t, jid(0)))
	}
	r.awaitIdle(t)
	if left := files(t, queue); len(left) > 0 {
		t.Errorf("left in the queue: %q", left)
	}
}

// TestPostponedAndKilled ends a job that was put back, and one whose program cannot be run at all.
func TestPostponedAndKilled(t *testing.T) {
	refuse := &refusing{err: unix.ENOMEM}
	refuse.left.Store(1 << 40)
	r, trace := processRigWith(t, "", func(r *rig) {
		refuse.Launcher = jobprocess.New(r.opt.Worker)
		r.opt.launch = refuse
	})
	f := r.master()
	f.publish(jid(1), "p.pid", trace)
	r.until(t, "queue", func() bool {
		n, _ := asData(r.run(fmt.Sprintf("20260102030406%06d", time.Now().UnixNano()%1000000), "saltutil.find_job",
			jid(1)).Value("return")).Int("queued")
		return n == 1
	}, 0)
	r.run(jid(2), "saltutil.kill_job", jid(1))
	if text := f.awaitReturn(t, jid(1)).Str("return"); text != "The job was ended by signal 9 (killed) before it "+
		"had begun" {
		t.Errorf("killed: %q", text)
	}
	refuse.err = errors.New("no such file")
	r.clock.Advance(5 * time.Second)
	if text := r.run(jid(3), "p.pid", trace).Str("return"); !strings.Contains(text,
		"could not be started: fork: no such file") {
		t.Errorf("a program that is not there: %q", text)
	}
}

// TestProcessQueueSurvives stops a minion with jobs in the queue: the next one runs them, each once.
func TestProcessQueueSurvives(t *testing.T) {
	for _, own := range []string{"True", "False"} {
		r, trace := processRigWith(t, "process_count_max: 2\n", func(r *rig) {
			r.cfg.Multiprocessing = own == "True"
			if err := r.opt.Registry.Register(processFunctions()...); err != nil {
				t.Fatal(err)
			}
		})
		f := r.master()
		for i := range 2 {
			f.publish(jid(i), "cmd.run", "echo "+jid(i)+" $$ >> "+trace+"; exec sleep 600")
		}
		for i := range 10 {
			f.publish(jid(10+i), "p.pid", trace)
		}
		begun(t, trace, jid(0))
		begun(t, trace, jid(1))
		if found := asData(r.run(jid(30), "saltutil.find_job", jid(19)).Value("return")); !found.Has("queued") {
			t.Errorf("find_job: %v", found)
		}
		r.stop()
		self := r.opt.Worker
		r.fun = newFunctions()
		r.opt = r.options()
		r.opt.Worker = self
		if err := r.opt.Registry.Register(processFunctions()...); err != nil {
			t.Fatal(err)
		}
		r.ready = make(chan struct{}, 8)
		r.start()
		for i := range 10 {
			f.awaitReturn(t, jid(10+i))
			once(t, f, jid(10+i))
		}
		for id, pids := range traces(t, trace) {
			if len(pids) != 1 {
				t.Errorf("multiprocessing %s: job %s ran %d times", own, id, len(pids))
			}
		}
		r.stop()
	}
}

// TestQueueKeepsItsOrder: what waits when a minion stops is run by the next one in the order in which it came,
// whichever master it came from.
func TestQueueKeepsItsOrder(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n", "one.test", "two.test")
	r.start()
	for range r.masters {
		actortest.Wait(t, "ready minion", r.ready)
	}
	trace := filepath.Join(r.dir, "trace")
	r.master().publish(jid(50), "cmd.run", "echo "+jid(50)+" $$ >> "+trace+".first; exec sleep 600")
	begun(t, trace+".first", jid(50))
	waiting := func() int {
		return len(files(t, filepath.Join(r.cfg.CacheDir, "queues", "one.test", "job_queue"))) + len(files(t,
			filepath.Join(r.cfg.CacheDir, "queues", "two.test", "job_queue")))
	}
	var want []string
	for i := range 6 { // later ones have lower jids
		r.masters[i%2].publish(jid(20-i), "cmd.run", "echo "+jid(20-i)+" >> "+trace)
		want = append(want, jid(20-i))
		r.until(t, "queued job", func() bool { return waiting() == i+1 }, time.Millisecond)
		r.clock.Advance(time.Millisecond)
	}
	r.stop()
	r.again()
	for i := range 6 {
		r.masters[i%2].awaitReturn(t, jid(20-i))
		once(t, r.masters[i%2], jid(20-i))
	}
	if got := strings.Fields(readFile(t, trace)); !slices.Equal(got, want) {
		t.Errorf("the jobs ran in the order %q, want %q", got, want)
	}
}

// fakeRoom is a machine whose descriptors and memory a test sets.
type fakeRoom struct{ open, limit, memory atomic.Int64 }

func (f *fakeRoom) sources() jobs.Machine {
	return jobs.Machine{
		Descriptors: func() (int, int) { return int(f.open.Load()), int(f.limit.Load()) },
		Memory:      func() float64 { return float64(f.memory.Load()) },
	}
}
