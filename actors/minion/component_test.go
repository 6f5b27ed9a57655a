package minion

import (
	"strings"
	"sync"
	"testing"
	"time"

	"brine/actors/minion/facts"
	"brine/actors/minion/jobs"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/payload"
)

// lateGrains are there when they are let.
type lateGrains struct {
	fixedGrains
	let <-chan struct{}
}

func (g lateGrains) Map() *payload.Map { <-g.let; return g.all }

func (g lateGrains) Get(name string) (any, bool) { <-g.let; return g.all.Get(name) }

// waitsIn waits until the goroutine of an actor does nothing but wait.
func (r *rig) waitsIn(path string) {
	r.t.Helper()
	for limit := time.After(patience); ; {
		stack, err := r.m.top.Stack(path)
		if err != nil {
			r.t.Fatal(err)
		}
		if head, _, _ := strings.Cut(stack, "\n"); strings.Contains(head, "[chan receive") ||
			strings.Contains(head, "[sync.") {
			return
		}
		select {
		case <-limit:
			r.t.Fatalf("%s does not wait: %s", path, stack)
		case <-time.After(time.Millisecond):
		}
	}
}

// look lets the watchdog look so many times.
func (r *rig) look(times int) {
	const every = supervisor.DefaultSlowAfter / 4
	for range times {
		r.clock.WaitTimer(r.t, every)
		r.clock.Advance(every)
		r.clock.WaitTimer(r.t, every)
	}
}

// TestHungDispatcher: another one takes the job after the time of a component.
func TestHungDispatcher(t *testing.T) {
	r := newRig(t, "")
	r.cfg.WorkerTimeout = time.Minute
	r.up()
	if err := r.m.top.Inject("Dispatcher", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	r.waitsIn("Dispatcher")
	const jid = "20260101000000000001"
	r.master().publish(jid, "test.ping")
	r.look(4*5 + 1)
	r.master().awaitReturn(t, jid)
}

// TestGrainsMayTakeLong: a Dispatcher that waits for the first grains to match a job does not hang.
func TestGrainsMayTakeLong(t *testing.T) {
	r := newRig(t, "")
	r.cfg.WorkerTimeout = time.Minute
	let := make(chan struct{})
	open := sync.OnceFunc(func() { close(let) })
	defer open()
	plain := r.opt.Grains
	r.opt.Grains = func(fresh bool) facts.Grains {
		g, _ := plain(fresh).(fixedGrains)
		return lateGrains{g, let}
	}
	r.start()
	const jid = "20260101000000000001"
	job := load(jid, "test.ping")
	job.Set("tgt", "os:Debian")
	job.Set("tgt_type", "grain")
	r.m.jobs.Dispatcher().Send(&jobs.Received{Publication: link.Publication{Job: payload.NewJob(job),
		Link: r.m.links[0]}})
	r.waitsIn("Dispatcher")
	r.look(4 * 20)
	if c, err := r.m.top.Look("Dispatcher"); err != nil || c.Incarnation != 1 {
		t.Errorf("incarnation %d, %v", c.Incarnation, err)
	}
	open()
	r.master().awaitReturn(t, jid)
}
