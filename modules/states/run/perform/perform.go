// Package perform calls the function of one chunk and gives its return: it checks the arguments, asks unless, onlyif
// and creates, fills in slots, calls the state function, tries again where retry says so, and looks at the form of what
// the function returned. Which chunk is called when is not its business (see steps). Answers to State.call of
// salt/state.py.
package perform

import (
	"context"
	"time"

	"brine/modules/execution/pillar"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Performer performs the chunks of one run. Several goroutines may use it.
type Performer struct {
	// Call is the call of the function that runs the states: its options, grains and pillar are those of the run.
	Call *loader.Call
	// States are the state functions.
	States *loader.Registry
	// Run is what state functions may see of the run.
	Run states.Run
	// Mocked says that no function is called.
	Mocked bool
	// Reload gets what a chunk wants anew after it: grains, pillar or the modules. nil: nothing is.
	Reload func(what Fresh)
	// Sleep waits before another attempt; nil: time.
	Sleep func(ctx context.Context, d time.Duration)
}

// Fresh is what is to be read anew after a chunk.
type Fresh struct{ Grains, Pillar, Modules bool }

// Outcome is what a chunk came to.
type Outcome struct {
	Ret      *payload.Map
	Runs     int  // how often the function was called, or would have been
	Bare     bool // the chunk was refused before anything was called
	Start    string
	Duration float64 // milliseconds

	called bool // the function of the chunk was
}

// Do performs a chunk. test is test mode; beside says that the chunk runs in parallel to others.
func (p *Performer) Do(ctx context.Context, chunk *payload.Map, test, prereq, beside bool) Outcome {
	out := p.attempt(ctx, chunk, test, beside)
	if beside && out.called {
		out.Ret.Set("__parallel__", true)
	}
	if out.Bare || prereq || !chunk.Has("retry") {
		return out
	}
	return p.retry(ctx, chunk, test, beside, out)
}

// attempt performs a chunk once.
func (p *Performer) attempt(ctx context.Context, chunk *payload.Map, test, beside bool) Outcome {
	began := time.Now()
	out := Outcome{Runs: 1, Start: clock(began)}
	f, errs := p.Verify(chunk)
	if len(errs) > 0 {
		text := ""
		for _, line := range errs {
			text += line + "\n"
		}
		out.Bare = true
		out.Ret = payload.M("result", false, "name", chunk.Value("name"), "changes", payload.NewMap(0), "comment", text)
		return out
	}
	ret, err := p.call(ctx, f, chunk, test, &out.called)
	if err != nil {
		ret = payload.M("result", false, "name", chunk.Value("name"), "changes", payload.NewMap(0), "comment",
			excepted(f.Name, err))
	}
	out.Ret = unified(ret)
	if chunk.Has("provider") {
		out.Ret.Set("warnings", append(out.Ret.List("warnings"), "brine does not honour the argument provider yet"))
	}
	if python.Truth(chunk.Value("no_log")) {
		for _, key := range []string{"name", "comment", "changes"} {
			out.Ret.Set(key, pillar.Mask(out.Ret.Value(key)))
		}
	}
	p.refresh(chunk, out.Ret)
	out.Duration = milliseconds(time.Since(began))
	return out
}

// clock is a time of day as Python shows it.
func clock(at time.Time) string {
	text := at.Format("15:04:05.000000")
	if at.Nanosecond()/1000 == 0 {
		return text[:8]
	}
	return text
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// excepted is the comment of a function that raised an exception.
func excepted(fun string, err error) string {
	return "An exception occurred in this state: " + loader.Traceback(fun, err)
}

// call asks the checks of a chunk, and calls its function if they let it. called tells whether they did.
func (p *Performer) call(ctx context.Context, f *loader.Func, chunk *payload.Map, test bool,
	called *bool) (*payload.Map,
	error) {
	c := *p.Call
	c.Ctx, c.Fun = ctx, f.Name
	ret, err := p.checks(&c, chunk)
	if err == nil && ret == nil {
		ret, err = p.run(&c, f, chunk, test, called)
	}
	if err != nil {
		return nil, err
	}
	if chunk.Has("check_cmd") && !(p.has(chunk, "mod_run_check_cmd") && f.Takes("check_cmd")) {
		checked, err := checkCommands(&c, chunk.Value("check_cmd"))
		if err != nil {
			return nil, err
		}
		ret.Update(checked)
	}
	return ret, nil
}

// run calls the function itself.
func (p *Performer) run(c *loader.Call, f *loader.Func, chunk *payload.Map, test bool, called *bool) (*payload.Map,
	error) {
	if p.Mocked {
		return payload.M("name", chunk.Value("name"), "result", true, "comment", "Not called, mocked", "changes",
			payload.NewMap(0)), nil
	}
	if ret, err := p.conditions(c, f, chunk); ret != nil || err != nil {
		return ret, err
	}
	*called = true
	kw, err := p.arguments(c, f, chunk)
	if err != nil {
		return nil, err
	}
	bound, err := loader.Bind(f, nil, kw)
	if err != nil {
		return nil, err
	}
	inner := states.In(c, states.Situation{Chunk: chunk, Test: test, Saltenv: saltenvOf(chunk), Run: p.Run})
	if test {
		inner = inTest(inner)
	}
	v, err := withUmask(chunk.Value("umask"), f, func() (any, error) { return loader.Nested(inner, f, bound) })
	if err != nil {
		return nil, err
	}
	ret, isMap := v.(*payload.Map)
	if !isMap {
		return nil, loader.Raise("salt.exceptions.SaltException", "Malformed state return. Data must be a "+
			"dictionary type.")
	}
	return ret, nil
}

// inTest is a call whose functions see the option test.
func inTest(c *loader.Call) *loader.Call {
	if c.Opts().Value("test") == true {
		return c
	}
	env, inner := *c.Env, *c
	opts := c.Opts().Clone().Set("test", true)
	env.Opts = func() *payload.Map { return opts }
	inner.Env = &env
	return &inner
}

// saltenvOf is the environment that files of a chunk come from.
func saltenvOf(chunk *payload.Map) string {
	for _, key := range []string{"saltenv", "__env__"} {
		if v := chunk.Value(key); v != nil {
			return python.Str(v)
		}
	}
	return "base"
}

// has tells whether the module of a chunk has a function.
func (p *Performer) has(chunk *payload.Map, name string) bool {
	_, ok := p.States.Lookup(chunk.Str("state") + "." + name)
	return ok
}

// refresh has read anew what a chunk wants, or what its changes make stale. Source: State.check_refresh.
func (p *Performer) refresh(chunk, ret *payload.Map) {
	if p.Reload == nil {
		return
	}
	want := Fresh{Grains: python.Truth(chunk.Value("reload_grains")),
		Pillar: python.Truth(chunk.Value("reload_pillar"))}
	changed := ret.Map("changes").Len() > 0
	switch {
	case !changed:
		want.Modules = python.Truth(chunk.Value("force_reload_modules"))
	case python.Truth(chunk.Value("reload_modules")) || want.Grains || want.Pillar:
		want.Modules = true
	default:
		want.Modules = bringsModules(chunk)
	}
	if want != (Fresh{}) {
		p.Reload(want)
	}
}
