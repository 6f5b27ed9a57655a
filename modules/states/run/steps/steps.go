// Package steps decides what a run of states does next. A Run is a state machine: Next takes what happened and gives
// what is to be done now (call a chunk, tell a result), so that the same events always lead to the same effects. It
// looks at requisites, runs prereq tests, watches, listeners and beacons, stops at failhard, and lets parallel chunks
// run beside others. It calls nothing, waits for nothing and knows no clock. Answers to call_chunks, call_chunk,
// call_listen and call_beacons of State in salt/state.py.
package steps

import (
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options say how a run goes.
type Options struct {
	Test        bool // test mode: failhard does not count
	Failhard    bool // each chunk is failhard that does not say otherwise
	MaxParallel int  // how many chunks may run beside each other (state_max_parallel); 0: any number
	// Done are returns of an earlier run, by tag: their chunks are not called again; nil: none.
	Done *payload.Map
	// Disabled are the returns of chunks that nobody may run, by tag, which come first.
	Disabled *payload.Map
}

// Events: what happened.
type (
	// Began starts the run.
	Began struct{}
	// Ended tells what a call came to.
	Ended struct {
		Call int
		// Ret is the return: name, changes, result, comment and what else the function says.
		Ret *payload.Map
		// Runs is how often the function ran (retry); 0 counts as 1.
		Runs int
		// Bare says that the chunk was refused before anything was called: its return has no times and no SLS.
		Bare bool
		// Start and Duration are start_time, and the milliseconds that it took.
		Start    string
		Duration float64
	}
	// Stopped ends the run after what is in flight (soft_kill). Listeners still run.
	Stopped struct{}
)

// Effects: what is to be done.
type (
	// Call is a function of a chunk to be called.
	Call struct {
		ID    int
		Step  *low.Step
		Chunk *payload.Map // the one to be called: that of the step, or its mod_watch
		Test  bool         // in test mode, whatever the run is in
		// Beside says that the run goes on meanwhile (parallel).
		Beside bool
		// After says that it is called when all chunks are done: a listener, or a beacon.
		After bool
	}
	// Result is a chunk that has its return.
	Result struct {
		Tag   string
		Chunk *payload.Map
		Ret   *payload.Map
	}
	// Finished ends the run.
	Finished struct{}
)

// phases of a run.
const (
	ofChunks = iota
	ofListeners
	ofBeacons
	over
)

// Run is one run. It is used by one goroutine.
type Run struct {
	opt     Options
	all     []*low.Step // those that were compiled
	byTag   map[string]*low.Step
	queue   []*low.Step // those of the phase that are not yet done, the next one first
	pending []*low.Step // parallel ones that wait for others
	results *payload.Map
	order   []string // tags of results in the order in which their chunks began
	placed  map[string]bool
	tested  map[string]*payload.Map // returns of test runs for prereq, by tag
	flying  map[int]*flight
	waiting []*low.Step // parallel ones for which there is no place yet
	front   int         // the call that the run waits for; 0: none
	last    int         // number of the last call
	number  int64       // __run_num__ of the next return
	phase   int
	ended   bool // failhard or Stopped: no further chunk begins
	started map[string]bool
	errors  *payload.Map // of listeners
	effects []any
}

// flight is a call that was asked for and has not ended.
type flight struct {
	step   *low.Step
	chunk  *payload.Map
	tag    string
	test   bool
	beside bool
	reqs   *payload.Map // of a chunk with changes to watch: what its mod_watch gets
	skip   bool         // the result says that mod_watch was skipped
	number int64        // of a parallel chunk
}

// New makes a run of steps in their order.
func New(all []*low.Step, opt Options) *Run {
	r := &Run{opt: opt, all: all, queue: all, results: payload.NewMap(len(all)), tested: map[string]*payload.Map{},
		placed: map[string]bool{},
		byTag:  map[string]*low.Step{}, flying: map[int]*flight{}, started: map[string]bool{},
		errors: payload.NewMap(0), number: int64(opt.Disabled.Len())}
	for tag, ret := range opt.Done.All() {
		if ret, ok := ret.(*payload.Map); ok {
			r.takeOver(tag.(string), ret)
		}
	}
	for _, s := range all {
		if !s.Test {
			r.byTag[low.Tag(s.Chunk)] = s
		}
	}
	return r
}

// takeOver keeps the return that an earlier run has reached.
func (r *Run) takeOver(tag string, ret *payload.Map) {
	r.began(tag)
	r.results.Set(tag, ret)
	if n, ok := ret.Int("__run_num__"); ok {
		r.number = max(r.number, n+1)
	}
}

// Results are the returns so far, by tag. A parallel chunk that runs has none. The map is the run's: it may be read
// between two events.
func (r *Run) Results() *payload.Map { return r.results }

// Answer is what the run returns when it is over: disabled chunks first, then the others in the order in which they
// began.
func (r *Run) Answer() *payload.Map {
	out := r.opt.Disabled.Clone()
	for _, tag := range r.order {
		if ret, has := r.results.Get(tag); has {
			out.Set(tag, ret)
		}
	}
	out.Update(r.results)
	return out
}

// Chunks are all chunks in their order, each once.
func (r *Run) Chunks() (out []*payload.Map) {
	for _, s := range r.all {
		if !s.Test {
			out = append(out, s.Chunk)
		}
	}
	return out
}

// InFlight are the tags of chunks that were begun and have no return, in the order of their calls.
func (r *Run) InFlight() (out []string) {
	for id := 1; id <= r.last; id++ {
		if f := r.flying[id]; f != nil {
			out = append(out, f.tag)
		}
	}
	return out
}

// Next takes an event and gives the effects. Effects are in the order in which they are to be carried out.
func (r *Run) Next(event any) []any {
	r.effects = nil
	switch e := event.(type) {
	case Began:
	case Stopped:
		r.ended = true
	case Ended:
		r.take(e)
	}
	r.advance()
	return r.effects
}

func (r *Run) emit(effect any) { r.effects = append(r.effects, effect) }

// advance goes on until a call must end first.
func (r *Run) advance() {
	for r.phase != over && r.front == 0 {
		if r.ended {
			r.queue, r.pending, r.waiting = nil, nil, nil
		}
		r.startWaiting()
		if r.retryPending() {
			continue
		}
		if len(r.queue) == 0 {
			if len(r.pending) > 0 || len(r.flying) > 0 {
				return
			}
			r.nextPhase()
			continue
		}
		if !r.try(r.queue[0]) {
			return
		}
	}
}

// retryPending tries what waited for parallel chunks; true when something began.
func (r *Run) retryPending() bool {
	for i, s := range r.pending {
		if r.ready(s) {
			r.pending = append(r.pending[:i:i], r.pending[i+1:]...)
			r.begin(s)
			return true
		}
	}
	return false
}

// try begins the step at the head of the queue, or puts aside what cannot begin; false when the run must wait.
func (r *Run) try(s *low.Step) bool {
	tag := low.Tag(s.Chunk)
	if r.results.Has(tag) || !s.Test && r.isPending(s) || r.isFlying(tag) {
		r.queue = r.queue[1:]
		return true
	}
	if first := r.unmet(s); first != nil {
		r.queue = append([]*low.Step{first}, r.queue...)
		return true
	}
	if !r.ready(s) {
		if s.Test || !python.Truth(s.Chunk.Value("parallel")) {
			return false
		}
		r.pending = append(r.pending, s)
		r.queue = r.queue[1:]
		return true
	}
	r.queue = r.queue[1:]
	r.begin(s)
	return true
}

func (r *Run) isPending(s *low.Step) bool {
	for _, p := range append(r.pending, r.waiting...) {
		if p == s {
			return true
		}
	}
	return false
}

func (r *Run) isFlying(tag string) bool {
	for _, f := range r.flying {
		if f.tag == tag {
			return true
		}
	}
	return false
}

// unmet is a step that must be done before another one and is not, though its place comes later: one of a group.
func (r *Run) unmet(s *low.Step) *low.Step {
	for _, need := range s.Needs {
		tag := low.Tag(need.Chunk)
		other := r.byTag[tag]
		if other == nil || other == s || need.Kind == "prereq" || r.results.Has(tag) || r.isFlying(tag) ||
			r.isPending(other) || r.started[tag] {
			continue
		}
		r.started[tag] = true // each is pulled before its place at most once
		return other
	}
	return nil
}

// ready tells whether everything that a step waits for has its return.
func (r *Run) ready(s *low.Step) bool {
	for _, need := range s.Needs {
		tag := low.Tag(need.Chunk)
		if need.Kind == "prereq" {
			continue
		}
		if other := r.byTag[tag]; r.isFlying(tag) || other != nil && r.isPending(other) {
			return false
		}
	}
	return true
}
