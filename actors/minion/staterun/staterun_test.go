package staterun_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/minion/staterun"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/states/run/low"
	"brine/modules/states/run/perform"
	"brine/modules/states/run/steps"
	"brine/modules/states/run/work"
	"brine/supervisor"
	"brine/wire/payload"
)

type anything struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// blocked are states that wait until they are let go, and tell that they began.
type blocked struct{ began, free chan string }

func newBlocked() *blocked { return &blocked{make(chan string, 10), make(chan string)} }

func (b *blocked) module() loader.Module {
	return loader.Module{File: "block", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("wait", func(c *states.Call, a anything) (states.Plan, error) {
				b.began <- c.Chunk.Str("__id__")
				select {
				case text := <-b.free:
					return states.Correct(text), nil
				case <-c.Ctx.Done():
					return states.Plan{}, c.Ctx.Err()
				}
			}, "Wait."),
		}
	}}
}

// rig is a run of waiting states below an actor that stands for a job.
type rig struct {
	*blocked
	top  *supervisor.Supervisor
	work *work.Work
	end  chan error
	does atomic.Value // what the run does, as the driver tells
}

func chunk(id string, parallel bool) *low.Step {
	return &low.Step{Chunk: payload.M("state", "block", "fun", "wait", "name", id, "__id__", id, "__sls__", "t",
		"parallel", parallel)}
}

func start(t *testing.T, ctx context.Context, all ...*low.Step) *rig {
	t.Helper()
	r := &rig{blocked: newBlocked(), end: make(chan error, 1)}
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{r.module()})
	env := &loader.Env{Registry: loader.NewRegistry(), ID: "web1"}
	call := loader.NewCall(ctx, env, "state.apply", nil)
	r.work = work.New(work.Options{ID: "1", Steps: all, How: steps.Options{},
		Performer: &perform.Performer{Call: call, States: reg}})
	r.top = supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "minion"})
	t.Cleanup(func() { r.top.Stop(5 * time.Second) })
	_, err := r.top.Add(supervisor.Spec{Name: "Job", New: func() supervisor.Actor { return job{r, ctx} }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// job drives the run as the actor of a job does.
type job struct {
	*rig
	ctx context.Context
}

func (j job) Receive(ctx supervisor.Context) {
	if _, ok := ctx.Message().(*supervisor.Started); ok {
		d := staterun.New(supervisor.Nest(ctx, supervisor.Options{}), func(what string) { j.does.Store(what) })
		supervisor.Go(ctx, "function", func(context.Context) error {
			_, err := d.Drive(j.ctx, j.work)
			j.end <- err
			return nil
		})
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.After(20 * time.Second); !ok(); {
		select {
		case <-limit:
			t.Fatalf("%s: waited in vain", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (r *rig) waitFor(t *testing.T, path, note string) {
	t.Helper()
	eventually(t, path+" shows "+note, func() bool {
		child, err := r.top.Look(path)
		return err == nil && child.Note == note
	})
}

// TestShown: the tree shows which state runs, as an actor below the job, and states that run beside others below that.
func TestShown(t *testing.T) {
	r := start(t, t.Context(), chunk("a", false), chunk("b", true), chunk("c", false))
	<-r.began
	r.waitFor(t, "Job/StateRun", "1 of 3: block.wait a")
	if what := r.does.Load(); what != "1 of 3: block.wait a" {
		t.Errorf("the driver tells %v", what)
	}
	r.free <- "a is done"
	<-r.began
	<-r.began
	r.waitFor(t, "Job/StateRun", "2 of 3: block.wait c")
	r.waitFor(t, "Job/StateRun/State-2", "block.wait b")
	r.free <- "one"
	r.free <- "two"
	if err := <-r.end; err != nil {
		t.Fatal(err)
	}
	ret := r.work.Answer()
	if ret.Len() != 3 || ret.Map("block_|-a_|-a_|-wait").Str("comment") != "a is done" ||
		ret.Map("block_|-b_|-b_|-wait").Value("__parallel__") != true {
		t.Errorf("got %v", ret)
	}
}

// TestActorDies: a run whose actor dies is not carried on; what was reached is there.
func TestActorDies(t *testing.T) {
	r := start(t, t.Context(), chunk("a", false), chunk("b", false))
	<-r.began
	r.free <- "done"
	<-r.began
	r.waitFor(t, "Job/StateRun", "2 of 2: block.wait b")
	if err := r.top.Restart("Job/StateRun"); err != nil {
		t.Fatal(err)
	}
	if err := <-r.end; err == nil || !strings.Contains(err.Error(), "died") {
		t.Errorf("got %v", err)
	}
	if ret := r.work.Answer(); ret.Len() != 1 {
		t.Errorf("got %v", ret)
	}
	select {
	case id := <-r.began:
		t.Errorf("%s was begun again", id)
	default:
	}
}

// TestParallelDies: a state whose own actor dies has a failing return, and the run goes on.
func TestParallelDies(t *testing.T) {
	r := start(t, t.Context(), chunk("a", true), chunk("b", false))
	<-r.began
	<-r.began
	r.waitFor(t, "Job/StateRun/State-1", "block.wait a")
	if err := r.top.Restart("Job/StateRun/State-1"); err != nil {
		t.Fatal(err)
	}
	r.waitForResult(t, "block_|-a_|-a_|-wait", false)
	r.free <- "done"
	if err := <-r.end; err != nil {
		t.Fatal(err)
	}
}

func (r *rig) waitForResult(t *testing.T, tag string, want any) {
	t.Helper()
	eventually(t, "the return of "+tag, func() bool {
		ret := r.work.Answer().Map(tag)
		return ret != nil && ret.Value("result") == want
	})
}

// TestKilled: the end of the job's context ends the run and its states.
func TestKilled(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	r := start(t, ctx, chunk("a", false), chunk("b", false))
	<-r.began
	kill()
	if err := <-r.end; !errors.Is(err, work.ErrEnded) {
		t.Errorf("got %v", err)
	}
}
