package cmd

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type watching struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// modWatch runs the command or the script of a state that something has set off.
func modWatch(c *states.Call, a watching) (states.Plan, error) {
	kw := a.KW.Clone()
	stateful := python.Truth(kw.Value("stateful"))
	sfun, ok := kw.Get("sfun")
	if !ok {
		return states.Plan{}, loader.Raise("KeyError", "'sfun'")
	}
	switch sfun {
	case "wait", "run", "watch":
		return again(c, "run", run, a.Name, kw, stateful)
	case "wait_script", "script":
		return again(c, "script", script, a.Name, kw, stateful)
	case "wait_call", "call":
		if fun := kw.Value("func"); python.Truth(fun) {
			return states.Plan{}, notCallable(fun)
		}
		return states.Wrong("cmd." + python.Str(sfun) + " needs a named parameter func"), nil
	}
	return states.Wrong("cmd." + python.Str(sfun) + " does not work with the watch requisite, please use cmd.wait or " +
		"cmd.wait_script"), nil
}

// again is the plan of another function of this module with keywords. In Salt the command for test mode of a stateful
// state does not count here.
func again[A any](c *states.Call, name string, plan func(*states.Call, A) (states.Plan, error), first any,
	kw *payload.Map, stateful bool) (states.Plan, error) {
	if stateful {
		kw.Delete("stateful")
	}
	arguments := loader.Fn(name, func(_ *loader.Call, a A) (A, error) { return a, nil }, "")
	bound, err := loader.Bind(&arguments, []any{first}, kw)
	if err != nil {
		return states.Plan{}, err
	}
	v, err := arguments.Run(c.Call, bound)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := plan(c, v.(A))
	if err != nil || !stateful {
		return p, err
	}
	return rereading(p)
}

// rereading is a plan whose command tells what it changed.
func rereading(p states.Plan) (states.Plan, error) {
	shown, err := reinterpreted(states.Done{Result: p.Result, Comment: p.Comment, Changes: p.Changes})
	if err != nil {
		return states.Plan{}, err
	}
	p.Result, p.Comment, p.Changes = shown.Result, shown.Comment, shown.Changes
	if apply := p.Apply; apply != nil {
		p.Apply = func() (states.Done, error) {
			done, err := apply()
			if err != nil {
				return done, err
			}
			return reinterpreted(done)
		}
	}
	return p, nil
}
