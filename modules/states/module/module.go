// Package module is the state module "module": a state that calls execution functions. It takes two forms of arguments,
// and tells by them which one is meant: the older one has one function as its name and its arguments by their names, the
// newer one has functions as keys and lists of arguments as their values. Answers to salt/states/module.py.
package module

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module "module".
func Module() loader.Module {
	return loader.Module{File: "module", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("run", run, "Call execution functions.", "module.run:", "  - test.ping:", "  - network.ping:",
				"    - host: web1"),
			states.Fn("wait", wait, "Call execution functions when something that is watched has changed."),
			states.Fn("watch", wait, "Another name of wait."),
			states.Fn("mod_watch", run, "Call execution functions."),
		}
	}}
}

type waiting struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// wait does nothing: mod_watch does it.
func wait(*states.Call, waiting) (states.Plan, error) { return states.Correct(""), nil }

type running struct {
	KW *payload.Map `arg:"**kwargs"`
}

// run tells the forms apart by keys: with one that has no dot it is the older one.
func run(c *states.Call, a running) (states.Plan, error) {
	keys, older := 0, false
	for key := range a.KW.All() {
		switch name := python.Str(key); name {
		case "name", "__reqs__", "sfun":
		default:
			keys++
			older = older || !strings.Contains(name, ".")
		}
	}
	if older || keys == 0 && a.KW.Len() > 0 {
		return runNamed(c, a.KW)
	}
	return runListed(c, a.KW)
}

// succeeded tells whether a value that a function returned is a success.
func succeeded(v any) bool {
	switch x := v.(type) {
	case bool:
		return x
	case *payload.Map:
		return succeededInside(x)
	}
	return true
}

func succeededInside(m *payload.Map) bool {
	for key, v := range m.All() {
		if key == "result" && v == false || key == "retcode" && !zero(v) {
			return false
		}
		if inner, ok := v.(*payload.Map); ok && !succeededInside(inner) {
			return false
		}
	}
	return true
}

// zero is what Python compares as equal to 0.
func zero(v any) bool {
	n, isNumber := python.Number(v)
	_, isText := v.(string)
	return v == false || isNumber && !isText && n == 0
}
