package module

import (
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// runNamed calls the function that is the name, with arguments by their names. Names that mean something else in a state
// have m_ before them: m_name, m_fun.
func runNamed(c *states.Call, given *payload.Map) (states.Plan, error) {
	name := python.Str(given.Value("name"))
	if !given.Has("name") {
		return states.Plan{}, &loader.ArgumentError{
			Message: "_legacy_run() missing 1 required positional argument: 'name'"}
	}
	p := states.Plan{Name: name}
	f, ok := c.Registry().Lookup(name)
	if !ok {
		p.Result, p.Comment = false, "Module function "+name+" is not available"
		return p, nil
	}
	p.Comment = "Module function " + name + " is set to execute"
	p.Apply = func() (states.Done, error) { return callNamed(c, f, given.Clone()) }
	return p, nil
}

func callNamed(c *states.Call, f *loader.Func, kw *payload.Map) (states.Done, error) {
	kw.Delete("name")
	args, missing := takeNamed(f, kw)
	if len(missing) > 0 {
		return states.Failed("The following arguments are missing: "+strings.Join(missing, " "), nil)
	}
	rest, text := restOf(f, kw)
	if text != "" {
		return states.Failed(text, nil)
	}
	args = append(args, rest...)
	words := payload.NewMap(0)
	if f.KWArgs && kw.Has("kwargs") {
		var ok bool
		if words, ok = kw.Value("kwargs").(*payload.Map); !ok {
			return states.Failed("'kwargs' must be a dict.", nil)
		}
		kw.Delete("kwargs")
	}
	v, err := c.Salt(f.Name, words, args...)
	if err != nil {
		if c.Ctx.Err() != nil {
			return states.Done{}, err
		}
		return states.Failed("Module function "+f.Name+" threw an exception. Exception: "+loader.Message(err), nil)
	}
	done := states.Done{Result: succeeded(v), Comment: "Module function " + f.Name + " executed",
		Changes: payload.M("ret", v)}
	warnings, err := handOver(c, f.Name, kw, v)
	if warnings = append(warnings, unused(f.Name, kw)...); len(warnings) > 0 {
		done = done.With("warnings", warnings)
	}
	return done, err
}

// restOf takes the list of further arguments of a function out of the keywords; text is why that cannot be.
func restOf(f *loader.Func, kw *payload.Map) (rest []any, text string) {
	for _, name := range []string{"args", "m_names"} { // functions call it *args, or *names
		v, given := kw.Get(name)
		if !f.VarArgs || !given {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			return nil, "'" + strings.TrimPrefix(name, "m_") + "' must be a list."
		}
		kw.Delete(name)
		rest = append(rest, list...)
	}
	return rest, ""
}

// takeNamed takes the arguments of a function out of the keywords.
func takeNamed(f *loader.Func, kw *payload.Map) (args []any, missing []string) {
	for _, p := range positional(f) {
		name := otherName(p)
		v, ok := kw.Get(p.Name)
		if p.Required && name != p.Name {
			v, ok = kw.Get(name)
		} else if !ok {
			v, ok = kw.Get(name)
		}
		switch {
		case ok:
		case p.Required:
			missing = append(missing, name)
		default:
			v = p.Default
		}
		kw.Delete(p.Name)
		kw.Delete(name)
		args = append(args, v)
	}
	return args, missing
}

// otherName is what an argument is called in a state.
func otherName(p loader.Param) string {
	switch p.Name {
	case "name", "fun", "state", "saltenv":
		return "m_" + p.Name
	case "names":
		if p.Required {
			return "m_names"
		}
	}
	return p.Name
}

// handOver gives what the function returned to the returner of the arguments.
func handOver(c *states.Call, fun string, kw *payload.Map, v any) (warnings []any, err error) {
	if !kw.Has("returner") {
		return nil, nil
	}
	name, reg := python.Str(kw.Value("returner")), c.Registry().Program().Returners
	kw.Delete("returner")
	if reg == nil || !returners.Has(reg, name) {
		return []any{"The returner " + name + " is not available: nothing was given to it."}, nil
	}
	ret := payload.M("id", c.ID, "ret", v, "fun", fun, "jid", payload.NewJID(time.Now()))
	return nil, returners.Return(c.Call, reg, name, ret)
}

// unused tells of arguments that the function does not take. Unlike Salt, which says nothing.
func unused(fun string, kw *payload.Map) []any {
	var names []string
	for key := range kw.All() {
		if name := python.Str(key); name != "sfun" && !strings.HasPrefix(name, "__") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []any{"Not used, as " + fun + " does not take it: " + strings.Join(names, ", ") + "."}
}
