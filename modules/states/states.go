// Package states is what every state function stands on: the call it receives, and the plan it returns. A module is a
// folder below, by Salt's file name, in the one form of modules (see loader); its functions are made by Fn.
//
// A state function looks at the machine and returns a plan. The plan either says that nothing is to be done (Correct,
// Wrong), or what would be done, beside the function that does it (Would). Test mode shows the plan and a real run
// applies the same one, so the two cannot disagree on what is wrong. The package compiles no states and decides no
// order (see run). Answers to what salt/states/*.py return.
package states

import (
	"context"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Situation is the chunk that a state function is called for, and what is around it.
type Situation struct {
	Chunk   *payload.Map // as it was compiled, requisites included (__low__); only read; never nil
	Test    bool         // nothing may be changed (test=True)
	Saltenv string       // where files are taken from (__env__); "base" when nothing else is said
	Run     Run          // the run that the chunk is of; never nil
}

// Run is what a state function may see of its run.
type Run interface {
	// ID names the run (__instance_id__). What file.accumulated keeps is found under it.
	ID() string
	// Chunks are all chunks, in their order (__lowstate__). They are only read.
	Chunks() []*payload.Map
	// Results are the returns so far, by tag (__running__). They are only read.
	Results() *payload.Map
}

// Alone is the run of a function that is called outside one.
type Alone struct{}

// ID is that of no run.
func (Alone) ID() string { return "alone" }

// Chunks are none.
func (Alone) Chunks() []*payload.Map { return nil }

// Results are none.
func (Alone) Results() *payload.Map { return payload.NewMap(0) }

type situationKey struct{}

// In is a call whose state functions are in a situation.
func In(c *loader.Call, s Situation) *loader.Call {
	inner := *c
	inner.Ctx = context.WithValue(c.Ctx, situationKey{}, s)
	return &inner
}

// Inside tells whether a call is made by a state function.
func Inside(c *loader.Call) bool { return c.Ctx.Value(situationKey{}) != nil }

// Call is what a state function gets of its surroundings.
type Call struct {
	*loader.Call
	Situation
}

// Salt calls an execution function (__salt__[name]). kw may be nil.
func (c *Call) Salt(name string, kw *payload.Map, args ...any) (any, error) {
	return c.Call.Call(name, args, kw)
}

// Has tells whether there is an execution function of that name here.
func (c *Call) Has(name string) bool { return c.Env.Has(name) }

// callOf makes the call of a state function.
func callOf(c *loader.Call) *Call {
	s, ok := c.Ctx.Value(situationKey{}).(Situation)
	if !ok {
		s = Situation{Chunk: payload.NewMap(0), Test: python.Truth(c.Opts().Value("test")), Saltenv: "base", Run: Alone{}}
	}
	return &Call{Call: c, Situation: s}
}

// Fn makes a function of a state module: its name without that of the module, what plans it, one sentence of help, and
// examples of SLS lines, if any. A is a struct of parameters as loader.Fn has it; its first one is called name. An
// error is an exception of Python, which becomes the failing result of the chunk.
func Fn[A any](name string, plan func(*Call, A) (Plan, error), doc string, examples ...string) loader.Func {
	f := loader.Fn(name, func(c *loader.Call, a A) (*payload.Map, error) {
		call := callOf(c)
		p, err := plan(call, a)
		if err != nil {
			return nil, err
		}
		return p.carryOut(call)
	}, doc)
	for i, line := range examples {
		if i == 0 {
			f.Doc += "\n\nExample:\n"
		}
		f.Doc += "\n    " + line
	}
	return f
}
