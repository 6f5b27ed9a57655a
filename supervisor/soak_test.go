package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

// balance counts started incarnations that have not stopped, by path.
type balance struct {
	t     *testing.T
	mu    sync.Mutex
	alive map[string]int
}

func (b *balance) on(ctx supervisor.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := supervisor.Self(ctx).Path()
	switch ctx.Message().(type) {
	case *supervisor.Started:
		if b.alive[path]++; b.alive[path] > 1 {
			b.t.Errorf("%s lives %d times", path, b.alive[path])
		}
	case *supervisor.Stopped:
		b.alive[path]--
		if supervisor.Lifetime(ctx).Err() == nil {
			b.t.Errorf("%s stopped before its context was cancelled", path)
		}
	}
}

// TestSoak harms a tree with subtrees from several sides at once, then stops it. No child lives twice, none is left,
// every job was done, and the report is complete.
func TestSoak(t *testing.T) {
	b := &balance{t: t, alive: make(map[string]int)}
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{
		Name: "test", RestartDelayMax: time.Millisecond, WaitForKill: time.Minute, SweepEvery: time.Millisecond,
		Chaos: true,
	})
	var paths []string
	for i := range 2 {
		name := fmt.Sprintf("owner%d", i)
		add(t, s, owner(b, name, 3))
		paths = append(paths, name)
		tree, err := s.AddTree(fmt.Sprintf("group%d", i), supervisor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		add(t, tree, owner(b, "owner", 2))
		add(t, tree, scriptOn("leaf", b.on))
		group := fmt.Sprintf("group%d/", i)
		paths = append(paths, group[:len(group)-1], group+"owner", group+"leaf", group+"owner/w0", group+"owner/w1",
			name+"/w0", name+"/w1", name+"/w2")
	}
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() { harm(t, s, paths, rand.New(rand.NewPCG(uint64(i), 1)), 400) })
	}
	var jobs atomic.Int64
	workers.Go(func() { runJobs(t, s, b, &jobs, 200) })
	workers.Wait()
	if n := jobs.Load(); n != 200 {
		t.Errorf("%d jobs done, want 200", n)
	}
	r := s.Stop(time.Minute)
	if len(r.Abandoned) > 0 {
		t.Errorf("abandoned %v\n%s", r.Abandoned, r.Goroutines)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for path, n := range b.alive {
		if n != 0 {
			t.Errorf("%s: %d alive after Stop", path, n)
		}
	}
}

// owner has n workers of its own.
func owner(b *balance, name string, n int) supervisor.Spec {
	return scriptOn(name, func(ctx supervisor.Context) {
		b.on(ctx)
		if _, ok := ctx.Message().(*supervisor.Started); !ok {
			return
		}
		tree := supervisor.Nest(ctx, supervisor.Options{})
		for i := range n {
			if _, err := tree.Add(scriptOn(fmt.Sprintf("w%d", i), b.on)); err != nil &&
				!errors.Is(err, supervisor.ErrStopped) {
				b.t.Error(err)
			}
		}
	})
}

func harm(t *testing.T, s *supervisor.Supervisor, paths []string, rnd *rand.Rand, times int) {
	for range times {
		path := paths[rnd.IntN(len(paths))]
		switch rnd.IntN(5) {
		case 0:
			_ = s.Restart(path) // it may be gone just now
		case 1:
			_ = s.Inject(path, supervisor.FaultExit)
		case 2:
			_ = s.Inject(path, supervisor.FaultPanic)
		case 3:
			s.Snapshot()
		case 4:
			if ref, ok := s.Lookup(path); ok {
				ref.Send(boom())
			}
		}
		if t.Failed() {
			return
		}
	}
}

// runJobs adds actors that are done after one message, however often they die before.
func runJobs(t *testing.T, s *supervisor.Supervisor, b *balance, done *atomic.Int64, n int) {
	var wg sync.WaitGroup
	for i := range n {
		name := fmt.Sprintf("Job-%d", i)
		wg.Add(1)
		var once sync.Once
		ref, err := s.Add(scriptOn(name, b.on))
		if err != nil {
			t.Error(err)
			return
		}
		if i%3 == 0 {
			ref.Send(boom())
		}
		ref.Send(&do{func(ctx supervisor.Context) {
			once.Do(func() { done.Add(1); wg.Done() })
			supervisor.Of(ctx).Done(name)
		}})
	}
	end := make(chan struct{})
	go func() { wg.Wait(); close(end) }()
	actortest.Wait(t, "end of the jobs", end)
}

// TestSoakHangs makes actors of a tree hang, die and restart at the same time, with a watchdog that gives them no time.
// Afterwards all actors are there again, no goroutine stays stuck, and every message was handled or reported as lost.
func TestSoakHangs(t *testing.T) {
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{
		Name: "test", RestartDelayMax: time.Millisecond, SlowAfter: 4 * time.Millisecond,
		WorkerTimeout: 8 * time.Millisecond, WaitForKill: time.Minute, Chaos: true,
	})
	var sent, told atomic.Int64
	spec := func(name string, on func(supervisor.Context)) supervisor.Spec {
		spec := scriptOn(name, on)
		spec.OnLost = func(msg any, _ error) {
			if _, ok := msg.(*do); ok {
				told.Add(1)
			}
		}
		return spec
	}
	server := spec("server", func(ctx supervisor.Context) {
		if _, ok := ctx.Message().(*supervisor.Started); !ok {
			return
		}
		tree := supervisor.Nest(ctx, supervisor.Options{})
		for i := range 3 {
			if _, err := tree.Add(spec(fmt.Sprintf("w%d", i), nil)); err != nil &&
				!errors.Is(err, supervisor.ErrStopped) {
				t.Error(err)
			}
		}
		supervisor.Go(ctx, "socket", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	})
	add(t, s, server)
	add(t, s, spec("leaf", nil))
	paths := []string{"server", "leaf", "server/w0", "server/w1", "server/w2"}
	var workers sync.WaitGroup
	for i := range 3 {
		rnd := rand.New(rand.NewPCG(uint64(i), 2))
		workers.Go(func() {
			for range 150 {
				path := paths[rnd.IntN(len(paths))]
				ref, ok := s.Lookup(path)
				switch rnd.IntN(4) {
				case 0:
					_ = s.Inject(path, supervisor.FaultHang) // it may be gone just now
				case 1:
					_ = s.Restart(path)
				case 2:
					if ok {
						sent.Add(1)
						ref.Send(&do{func(ctx supervisor.Context) { told.Add(1); <-supervisor.Lifetime(ctx).Done() }})
					}
				case 3:
					s.Snapshot()
					if ok {
						sent.Add(1)
						ref.Send(&do{func(supervisor.Context) { told.Add(1) }})
					}
				}
			}
		})
	}
	workers.Wait()
	limit := time.Now().Add(time.Minute)
	settled := func() bool {
		for _, path := range paths {
			if c, ok := child(s.Snapshot(), path); !ok || c.State != stats.StateRunning || c.Stuck != 0 ||
				c.Mailbox != 0 || c.InHand != "" {
				return false
			}
		}
		return true
	}
	for !settled() {
		if runtime.Gosched(); time.Now().After(limit) {
			t.Fatalf("not settled: %+v", s.Snapshot())
		}
	}
	if r := s.Stop(time.Minute); len(r.Abandoned) > 0 {
		t.Errorf("abandoned %v\n%s", r.Abandoned, r.Goroutines)
	}
	if told.Load() < sent.Load() { // a message of an abandoned handler is counted twice
		t.Errorf("%d of %d messages were handled or lost", told.Load(), sent.Load())
	}
}
