package steps

import (
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// begin does with a step what its requisites say. Source: State.call_chunk.
func (r *Run) begin(s *low.Step) {
	switch verdict := r.verdict(s); verdict {
	case unmet:
		r.skip(s, false, "Recursive requisite found")
	case failed:
		r.fail(s)
	case skipReq:
		r.skip(s, true, "State was not run because requisites were skipped by another state")
	case pre:
		r.skip(s, true, "No changes detected")
	case onfail:
		r.skip(s, true, "State was not run because onfail req did not change")
	case onchanges:
		r.skip(s, true, "State was not run because none of the onchanges reqs changed")
	default:
		f := &flight{step: s, chunk: s.Chunk, tag: low.Tag(s.Chunk), test: s.Test,
			beside: python.Truth(s.Chunk.Value("parallel")) && !s.Test}
		if verdict == change && !s.Test {
			f.reqs = watched(s)
		}
		f.skip = verdict == skipWatch && !s.Test
		if f.beside && r.full() {
			r.waiting = append(r.waiting, s)
			return
		}
		r.call(f)
	}
}

// full tells whether as many parallel chunks run as may.
func (r *Run) full() bool {
	running := 0
	for _, f := range r.flying {
		if f.beside {
			running++
		}
	}
	return r.opt.MaxParallel > 0 && running >= r.opt.MaxParallel
}

// startWaiting begins parallel chunks for which there is a place now.
func (r *Run) startWaiting() {
	for len(r.waiting) > 0 && !r.full() {
		s := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.begin(s)
	}
}

// call asks for a call.
func (r *Run) call(f *flight) {
	r.last++
	r.flying[r.last] = f
	if !f.test {
		r.began(f.tag)
	}
	if f.beside {
		f.number = r.number
		r.number++
	} else {
		r.front = r.last
	}
	r.emit(&Call{ID: r.last, Step: f.step, Chunk: f.chunk, Test: f.test, Beside: f.beside,
		After: r.phase != ofChunks})
}

// began keeps the place of a chunk among the returns.
func (r *Run) began(tag string) {
	if !r.placed[tag] {
		r.placed[tag] = true
		r.order = append(r.order, tag)
	}
}

// take takes the end of a call. An end that nobody waits for is nothing.
func (r *Run) take(e Ended) {
	f := r.flying[e.Call]
	if f == nil {
		return
	}
	delete(r.flying, e.Call)
	if r.front == e.Call {
		r.front = 0
	}
	if f.test && !e.Bare {
		r.tested[f.tag] = e.Ret
		return
	}
	ret := r.numbered(f, e)
	if f.test {
		r.tested[f.tag] = ret
		return
	}
	if f.skip {
		ret.Set("comment", ret.Str("comment")+" mod_watch was not run because requisites were skipped by another state")
	}
	if f.reqs != nil && ret.Map("changes").Len() == 0 && !python.Truth(ret.Value("skip_watch")) && !r.ended {
		watch := f.chunk.Clone().Set("sfun", f.chunk.Value("fun")).Set("fun", "mod_watch").Set("__reqs__", f.reqs)
		r.call(&flight{step: f.step, chunk: watch, tag: f.tag, beside: f.beside})
		return
	}
	r.done(f.step, f.tag, ret)
}

// numbered is a return with what the run adds to it.
func (r *Run) numbered(f *flight, e Ended) *payload.Map {
	ret := e.Ret
	if e.Bare {
		ret.Set("__run_num__", r.number)
		r.number++
		return ret
	}
	runs := int64(max(e.Runs, 1))
	number := f.number
	if !f.beside {
		number = r.number + runs - 1
		r.number += runs
	}
	ret.Set("__sls__", f.chunk.Value("__sls__")).Set("__run_num__", number)
	return ret.Set("start_time", e.Start).Set("duration", e.Duration).Set("__id__", f.chunk.Value("__id__"))
}

// done keeps the return of a step.
func (r *Run) done(s *low.Step, tag string, ret *payload.Map) {
	subs, _ := ret.Value("sub_state_run").([]any)
	ret.Delete("sub_state_run")
	r.began(tag)
	r.results.Set(tag, ret)
	r.emit(&Result{Tag: tag, Chunk: s.Chunk, Ret: ret})
	for _, sub := range subs {
		r.sub(s.Chunk, sub)
	}
	r.checkFailhard(s, ret)
}

// sub keeps one of the further returns that a function gave (sub_state_run).
func (r *Run) sub(chunk *payload.Map, v any) {
	data, _ := v.(*payload.Map)
	if data.Len() == 0 {
		return
	}
	r.number++
	ret := payload.M("name", chunk.Value("name"), "changes", data.Value("changes"), "result", data.Value("result"),
		"duration", data.Value("duration"), "start_time", data.Value("start_time"), "comment", data.Str("comment"),
		"__state_ran__", true, "__run_num__", r.number, "__sls__", chunk.Value("__sls__"), "__id__", chunk.Value("__id__"))
	r.results.Set(low.Tag(data.Map("low")), ret)
}

// checkFailhard ends the run after a failure, where the chunk or the run says so.
func (r *Run) checkFailhard(s *low.Step, ret *payload.Map) {
	hard := r.opt.Failhard
	if v, ok := s.Chunk.Get("failhard"); ok {
		hard = python.Truth(v)
	}
	if hard && !r.opt.Test && ret.Value("result") == false {
		r.ended = true
	}
}

// skip gives a step a return without calling it. A step that is run in test mode has it as its own return, too.
func (r *Run) skip(s *low.Step, result bool, comment string) {
	ret := payload.M("changes", payload.NewMap(0), "result", result, "duration", 0.0, "start_time", "", "comment", comment,
		"__state_ran__", false, "__run_num__", r.number, "__sls__", s.Chunk.Value("__sls__"), "__id__",
		s.Chunk.Value("__id__"), "name", s.Chunk.Value("name"))
	r.number++
	tag := low.Tag(s.Chunk)
	if s.Test {
		r.tested[tag] = ret
	}
	r.done(s, tag, ret)
}

// fail gives a step a return because a requisite failed. One whose test run went well before has failed by the chunk
// with the prereq: it has the return of that test run, without its changes.
func (r *Run) fail(s *low.Step) {
	tag := low.Tag(s.Chunk)
	ret := r.tested[tag]
	if ret == nil {
		r.skip(s, false, "One or more requisite failed: "+r.failures(s))
		return
	}
	ret.Set("changes", payload.NewMap(0)).Set("__run_num__", r.number)
	ret.Set("__sls__", s.Chunk.Value("__sls__")).Set("__id__", s.Chunk.Value("__id__")).Set("name", s.Chunk.Value("name"))
	r.number++
	r.done(s, tag, ret)
}

// Drop takes a call back that was asked for and not made. Its chunk has no return.
func (r *Run) Drop(call int) {
	delete(r.flying, call)
	if r.front == call {
		r.front = 0
	}
}
