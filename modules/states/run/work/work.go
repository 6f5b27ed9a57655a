// Package work is a run of states as it is carried out: it puts together who decides what comes next (steps) and who
// calls a chunk (perform), and tells an observer what begins and what ends. Drive carries a run out by itself; a daemon
// takes Next and Perform apart and makes actors of them. Answers to State.call_high of salt/state.py.
package work

import (
	"context"
	"errors"
	"sync"
	"time"

	"brine/modules/loader"
	"brine/modules/states/run/low"
	"brine/modules/states/run/perform"
	"brine/modules/states/run/steps"
	"brine/wire/payload"
	"brine/wire/python"
)

// Observer is told what happens in a run. Several goroutines may call it.
type Observer interface {
	// Begins is called before a function of a chunk is. Its error keeps the chunk from being called and ends the run.
	Begins(call *steps.Call) error
	// Ends is called for each chunk that has its return.
	Ends(result *steps.Result)
	// Holds waits while the run is paused before a chunk; stop ends the run there (soft_kill).
	Holds(ctx context.Context, chunk *payload.Map) (stop bool)
}

// Options are what a run is made of.
type Options struct {
	ID        string // of the run; what its functions keep for each other is found under it
	Steps     []*low.Step
	How       steps.Options
	Performer *perform.Performer // without Run, which New sets
	Observer  Observer           // nil: nobody is told
}

// Work is one run.
type Work struct {
	opt  Options
	mu   sync.Mutex // held while run is used; performers of parallel chunks look at results
	run  *steps.Run
	init map[string]bool // modules whose mod_init was called
	// aggregated are the tags of chunks whose mod_aggregate was called.
	aggregated map[string]bool
	test       bool
}

// New makes a run that has not begun.
func New(opt Options) *Work {
	w := &Work{opt: opt, run: steps.New(opt.Steps, opt.How),
		init: map[string]bool{}, aggregated: map[string]bool{}, test: opt.How.Test}
	opt.Performer.Run = view{w}
	return w
}

// view is what state functions see of a run.
type view struct{ w *Work }

func (v view) ID() string             { return v.w.opt.ID }
func (v view) Chunks() []*payload.Map { return v.w.run.Chunks() }

func (v view) Results() *payload.Map {
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	return v.w.run.Results().Clone()
}

// Len is how many chunks there are.
func (w *Work) Len() int { return len(w.run.Chunks()) }

// Answer are the returns so far.
func (w *Work) Answer() *payload.Map {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.run.Answer()
}

// Next takes an event (steps.Began, Ended, Stopped), and gives the calls that are to be made now. over says that the
// run has ended.
func (w *Work) Next(event any) (calls []*steps.Call, over bool) {
	w.mu.Lock()
	effects := w.run.Next(event)
	w.mu.Unlock()
	for _, effect := range effects {
		switch effect := effect.(type) {
		case *steps.Call:
			calls = append(calls, effect)
		case *steps.Result:
			if effect.Ret.Value("start_time") == "" {
				effect.Ret.Set("start_time", time.Now().Format("15:04:05.000000"))
			}
			if w.opt.Observer != nil {
				w.opt.Observer.Ends(effect)
			}
		case *steps.Finished:
			over = true
		}
	}
	return calls, over
}

// Begin asks the observer whether a call may be made now, which waits while the run is paused. stop ends the run.
func (w *Work) Begin(ctx context.Context, call *steps.Call) (stop bool, err error) {
	if w.opt.Observer == nil {
		return false, nil
	}
	if !call.After && w.opt.Observer.Holds(ctx, call.Chunk) { // listeners run after a soft_kill, too, as in Salt
		return true, nil
	}
	return false, w.opt.Observer.Begins(call)
}

// Perform makes a call and gives the event of its end.
func (w *Work) Perform(ctx context.Context, call *steps.Call) steps.Ended {
	w.prepare(ctx, call)
	out := w.opt.Performer.Do(ctx, call.Chunk, call.Test || w.test, call.Test, call.Beside)
	return steps.Ended{Call: call.ID, Ret: out.Ret, Runs: out.Runs, Bare: out.Bare, Start: out.Start,
		Duration: out.Duration}
}

// prepare calls mod_init of a module before its first chunk, and mod_aggregate for a chunk that is carried out with
// others.
func (w *Work) prepare(ctx context.Context, call *steps.Call) {
	module := call.Chunk.Str("state")
	w.mu.Lock()
	first := !w.init[module]
	w.init[module] = true
	w.mu.Unlock()
	c := *w.opt.Performer.Call
	c.Ctx = ctx
	if first {
		if v, err := w.ofModule(&c, module+".mod_init", call.Chunk); err != nil || !python.Truth(v) {
			w.mu.Lock()
			w.init[module] = false
			w.mu.Unlock()
		}
	}
	if len(call.Step.Group) == 0 || call.Test {
		return
	}
	chunk, group := w.grouped(call)
	v, err := w.ofModule(&c, module+".mod_aggregate", chunk, group, view{w}.Results())
	if chunk, ok := v.(*payload.Map); ok && err == nil {
		call.Chunk = chunk
	}
}

// grouped are a chunk and those that may be carried out with it, as mod_aggregate gets them: with a mark (__agg__) on
// those that were carried out already. The chunks of the run are not changed, as others read them.
func (w *Work) grouped(call *steps.Call) (chunk *payload.Map, group []any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aggregated[low.Tag(call.Step.Chunk)] = true
	for _, member := range call.Step.Group {
		if w.aggregated[low.Tag(member)] {
			member = member.Clone().Set("__agg__", true)
		}
		group = append(group, member)
	}
	return call.Chunk.Clone().Set("__agg__", true), group
}

// ofModule calls a function that a state module may have for the run; nil where it has none.
func (w *Work) ofModule(c *loader.Call, name string, args ...any) (any, error) {
	f, ok := w.opt.Performer.States.Lookup(name)
	if !ok {
		return nil, nil
	}
	bound, err := loader.Bind(f, args, nil)
	if err != nil {
		return nil, err
	}
	return loader.Nested(c, f, bound)
}

// Drop takes calls back that were not made.
func (w *Work) Drop(calls ...*steps.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, call := range calls {
		w.run.Drop(call.ID)
	}
}

// ErrEnded means that a run ended before its end: its context is over.
var ErrEnded = errors.New("the run of states was ended")

// Drive carries the run out and gives its returns. With an error they are those that there are.
func (w *Work) Drive(ctx context.Context) (*payload.Map, error) {
	ends := make(chan steps.Ended)
	beside := 0
	defer func() {
		for range beside {
			<-ends
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var event any = steps.Began{}
	for {
		calls, over := w.Next(event)
		if over {
			return w.Answer(), nil
		}
		event = nil
		for i, call := range calls {
			stop, err := w.Begin(ctx, call)
			switch {
			case err != nil:
				return w.Answer(), err
			case ctx.Err() != nil:
				return w.Answer(), ErrEnded
			case stop:
				w.Drop(calls[i:]...)
				event = steps.Stopped{}
			case call.Beside:
				beside++
				go func() { ends <- w.Perform(ctx, call) }()
			default:
				event = w.Perform(ctx, call)
			}
			if stop {
				break
			}
		}
		if event == nil {
			select {
			case e := <-ends:
				beside--
				event = e
			case <-ctx.Done():
				return w.Answer(), ErrEnded
			}
		}
	}
}
