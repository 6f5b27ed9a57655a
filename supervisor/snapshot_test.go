package supervisor_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

func TestSnapshotOfAHungActor(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock})
	ref := add(t, s, script("a"))
	call(t, ref, func(ctx supervisor.Context) bool {
		supervisor.Note(ctx, "20240517120000000000")
		supervisor.Failed(ctx)
		return true
	})
	release := hang(t, ref)
	clock.Advance(3 * time.Second)
	ref.Send(&do{func(supervisor.Context) {}})
	clock.Advance(2 * time.Second)
	ref.Send(&do{func(supervisor.Context) {}})
	clock.Advance(time.Second)
	c := s.Snapshot()[0]
	if c.State != stats.StateRunning || c.InHand != "*supervisor_test.do" || c.InHandMS != 6000 {
		t.Errorf("got %s, %s for %d ms", c.State, c.InHand, c.InHandMS)
	}
	if c.Mailbox != 2 || c.OldestMS != 3000 || c.Received != 4 || c.Failed != 1 || c.Note != "20240517120000000000" {
		t.Errorf("got %d waiting, oldest %d ms, %d received, %d failed, note %q", c.Mailbox, c.OldestMS, c.Received,
			c.Failed, c.Note)
	}
	if c.Busy != 1 || c.BusyMS != 6000 || c.Rate != 4./6 {
		t.Errorf("got busy %v, %d ms, rate %v", c.Busy, c.BusyMS, c.Rate)
	}
	release()
	call(t, ref, func(supervisor.Context) bool { return true })
	for s.Snapshot()[0].InHand != "" {
	}
	clock.Advance(6 * time.Second)
	c = s.Snapshot()[0]
	if c.Mailbox != 0 || c.OldestMS != 0 || c.Busy != 0.5 || c.Handling.Count != 5 {
		t.Errorf("got %d waiting, oldest %d ms, busy %v, %d handled", c.Mailbox, c.OldestMS, c.Busy, c.Handling.Count)
	}
	if c.Handling.MaxUS != 6e6 || c.Waiting.MaxUS != 3e6 || c.Handling.P50US != 0 {
		t.Errorf("got handling %+v, waiting %+v", c.Handling, c.Waiting)
	}
}

// TestBusyShareIsOfTheLastSeconds: the sweep moves the measured window.
func TestBusyShareIsOfTheLastSeconds(t *testing.T) {
	clock := actortest.NewClock()
	// no timer except that of the sweep
	s := actortest.Start(t, supervisor.Options{Clock: clock, SlowAfter: -1, WorkerTimeout: -1})
	ref := add(t, s, script("a"))
	release := hang(t, ref)
	clock.Advance(9 * time.Second)
	release()
	for s.Snapshot()[0].InHand != "" {
	}
	for range 3 { // each sweep ends before the next one can be awaited
		clock.WaitTimer(t, clock.Timers()[0])
		clock.Advance(clock.Timers()[0])
		clock.WaitTimer(t, supervisor.DefaultSweepEvery)
	}
	clock.Advance(time.Second)
	if c := s.Snapshot()[0]; c.Busy != 0 || c.BusyMS != 9000 || c.Rate != 0 {
		t.Errorf("got busy %v, %d ms, rate %v", c.Busy, c.BusyMS, c.Rate)
	}
}

func TestSentIsCounted(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	probe := actortest.NewProbe()
	to := add(t, s, supervisor.Spec{Name: "probe", New: probe.New})
	ref := add(t, s, script("a"))
	call(t, ref, func(ctx supervisor.Context) bool {
		supervisor.Send(ctx, to, &numbered{1})
		ctx.Send(to.PID(), &numbered{2})
		ctx.Request(to.PID(), &numbered{3})
		return true
	})
	call(t, add(t, s, script("b")), func(ctx supervisor.Context) bool {
		ctx.RequestWithCustomSender(ref.PID(), &do{func(ctx supervisor.Context) {
			ctx.Respond(&numbered{4})
			ctx.RequestWithCustomSender(to.PID(), &numbered{5}, ref.PID())
			ctx.Forward(to.PID())
		}}, to.PID())
		return true
	})
	for n := 1; n <= 5; n++ {
		if m := actortest.Expect[*numbered](t, probe); m.n != n {
			t.Errorf("got %d, want %d", m.n, n)
		}
	}
	actortest.Expect[*do](t, probe)
	probe.None(t)
	for name, want := range map[string]uint64{"a": 6, "b": 1, "probe": 0} {
		if c, _ := child(s.Snapshot(), name); c.Sent != want {
			t.Errorf("%s: got %d sent, want %d", name, c.Sent, want)
		}
	}
}

// TestFieldNames: `brine admin` and others read these names.
func TestFieldNames(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	ref := add(t, s, script("a"))
	ref.Send(boom())
	incarnation(t, ref)
	b, err := json.Marshal(s.Snapshot()[0])
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"name", "path", "state", "incarnation", "since", "restarts", "mailbox", "oldest_ms",
		"received", "sent", "failed", "busy", "last_death"} {
		if _, ok := m[name]; !ok {
			t.Errorf("no field %q in %s", name, b)
		}
	}
	death, _ := m["last_death"].(map[string]any)
	for _, name := range []string{"time", "reason", "message", "stack"} {
		if _, ok := death[name]; !ok {
			t.Errorf("no field %q in %v", name, death)
		}
	}
}

// TestSnapshotWhileEverythingHappens: observers and actors do not disturb each other (for the race detector), and the
// observed values are plausible.
func TestSnapshotWhileEverythingHappens(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{RestartDelayMax: time.Millisecond})
	log := make(lives, 10000)
	ref := add(t, s, server(t, log, supervisor.Options{}))
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, c := range s.Snapshot() {
				if c.Mailbox < 0 || c.OldestMS < 0 || c.Busy < 0 || c.Busy > 1 || c.Incarnation < c.Restarts {
					t.Errorf("got %+v", c)
				}
			}
			s.History()
		}
	}()
	for i := range 300 {
		ref.Send(&do{func(supervisor.Context) {}})
		if i%20 == 0 {
			ref.Send(boom())
		}
		if w, ok := s.Lookup("ReqServer/MWorker-0"); ok {
			w.Send(&do{func(supervisor.Context) {}})
			if i%30 == 0 {
				w.Send(exit())
			}
		}
	}
	incarnation(t, ref)
	close(stop)
	<-ended
	if c := s.Snapshot()[0]; c.Restarts != 15 || len(c.Deaths) != 5 || !slices.IsSortedFunc(c.Deaths,
		func(a, b stats.Death) int {
			return a.Incarnation - b.Incarnation
		}) {
		t.Errorf("got %d restarts, deaths %+v", c.Restarts, c.Deaths)
	}
}
