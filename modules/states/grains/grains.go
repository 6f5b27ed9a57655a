// Package grains is the state module grains: states of the grains that the minion keeps in its own file. Answers to
// salt/states/grains.py.
package grains

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module grains.
func Module() loader.Module {
	return loader.Module{File: "grains", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("exists", exists, "Check that a grain is there."),
			states.Fn("present", present, "Give a grain a value.", "cheese:", "  grains.present:",
				"    - value: edam"),
			states.Fn("list_present", listPresent, "Put values into a grain that is a list.", "roles:",
				"  grains.list_present:", "    - value: [web, dev]"),
			states.Fn("list_absent", listAbsent, "Take values out of a grain that is a list."),
			states.Fn("absent", absent, "Empty a grain, or delete it with destructive: True."),
			states.Fn("append", appendTo, "Put a value into a grain that is a list, or becomes one."),
		}
	}}
}

// place is which grain is meant.
type place struct {
	Name      any `arg:"name"`
	Delimiter any `arg:"delimiter=:"`
}

// key is the name with colons between its steps. Unlike Salt: a delimiter is a text, not a regular expression.
func key(name, delimiter any) string {
	if d := python.Str(delimiter); d != "" {
		return strings.ReplaceAll(python.Str(name), d, ":")
	}
	return python.Str(name)
}

// lookup finds a grain.
func lookup(c *states.Call, name string) (v any, found bool) {
	head, _, _ := strings.Cut(name, ":")
	if v, ok := c.Grain(head); ok {
		if v, found = dicts.Traverse(payload.M(head, v), name, ":"); found {
			return v, true
		}
	}
	return dicts.Traverse(c.Grains(), name, ":")
}

func exists(c *states.Call, a place) (states.Plan, error) {
	p := states.Correct("Grain exists")
	p.Name = key(a.Name, a.Delimiter)
	if _, found := lookup(c, key(a.Name, a.Delimiter)); !found {
		p.Result, p.Comment = false, "Grain does not exist"
	}
	return p, nil
}

type value struct {
	Name      any `arg:"name"`
	Value     any `arg:"value"`
	Delimiter any `arg:"delimiter=:"`
	Force     any `arg:"force=False"`
}

func present(c *states.Call, a value) (states.Plan, error) {
	name := key(a.Name, a.Delimiter)
	old, found := lookup(c, name)
	if found && dicts.Contains([]any{old}, a.Value) {
		return named(name, states.Correct("Grain is already set")), nil
	}
	comment, changes := "Grain "+name+" is set to be added", payload.M("new", name)
	if found {
		comment, changes = "Grain "+name+" is set to be changed", payload.M("changed", payload.M(name, a.Value))
	}
	return named(name, states.Would(comment, changes, func() (states.Done, error) {
		done, err := set(c, name, a.Value, payload.M("force", a.Force))
		if done.Result == true && done.Changes.Len() > 0 {
			done.Comment = "Set grain " + name + " to " + python.StrOrdered(a.Value)
		}
		return done, err
	})), nil
}

// named is a plan under the name of the grain.
func named(name string, p states.Plan) states.Plan {
	p.Name = name
	return p
}

// set stores a value.
func set(c *states.Call, name string, v any, kw *payload.Map) (states.Done, error) {
	out, err := c.Salt("grains.set", kw, name, v)
	if err != nil {
		return states.Done{}, err
	}
	ret, _ := out.(*payload.Map)
	return states.Done{Result: ret.Value("result"), Comment: ret.Value("comment"), Changes: ret.Map("changes")}, nil
}

type emptied struct {
	Name        any `arg:"name"`
	Destructive any `arg:"destructive=False"`
	Delimiter   any `arg:"delimiter=:"`
	Force       any `arg:"force=False"`
}

func absent(c *states.Call, a emptied) (states.Plan, error) {
	name, deletes := key(a.Name, a.Delimiter), a.Destructive == true
	old, found := lookup(c, name)
	if !found {
		return named(name, states.Correct("Grain "+name+" does not exist")), nil
	}
	var would any = "Value for grain " + name + " is set to be deleted (None)"
	did := any("Value for grain " + name + " was set to None")
	changes := payload.M("grain", name, "value", nil)
	switch {
	case deletes:
		would, did = "Grain "+name+" is set to be deleted", "Grain "+name+" was deleted"
		changes = payload.M("deleted", name)
	case old == nil:
		would, did, changes = "", nil, nil
	}
	return named(name, states.Would(would, changes, func() (states.Done, error) {
		done, err := set(c, name, nil, payload.M("destructive", a.Destructive, "force", a.Force))
		if err == nil && python.Truth(done.Result) && did != nil {
			done.Comment, done.Changes = did, changes
		}
		return done, err
	})), nil
}
