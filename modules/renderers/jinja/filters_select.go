package jinja

import (
	"brine/modules/renderers/jinja/py"
)

func selectFilters() map[string]*builtin {
	pick := func(name string, keep, attribute bool) *builtin {
		return filter("sync_do_"+name, "value *args **kwargs", func(r *run, a []any) (any, error) {
			return selected(r, "select_or_reject", a, keep, attribute)
		})
	}
	return map[string]*builtin{
		"map":        filter("sync_do_map", "value *args **kwargs", mapped),
		"select":     pick("select", true, false),
		"reject":     pick("reject", false, false),
		"selectattr": pick("selectattr", true, true),
		"rejectattr": pick("rejectattr", false, true),
	}
}

// each makes a generator that prepares at its first value, as a function with yield does, and reads v if it is true.
// step returns a value and whether it is one.
func each(r *run, name string, v any, prepare func() (func(item any) (any, bool, error), error)) any {
	var next py.Next
	var step func(item any) (any, bool, error)
	return lazy(name, func() (any, bool, error) {
		if step == nil {
			ok, err := py.Truth(v)
			if err != nil || !ok {
				return nil, false, err
			}
			if step, err = prepare(); err != nil {
				return nil, false, err
			}
			if next, err = py.Iterate(v); err != nil {
				return nil, false, err
			}
		}
		if next == nil {
			return nil, false, nil
		}
		for {
			if err := r.work.Step(1); err != nil {
				return nil, false, err
			}
			item, ok, err := next()
			if !ok || err != nil {
				return nil, false, err
			}
			out, ok, err := step(item)
			if ok || err != nil {
				return out, err == nil, err
			}
		}
	})
}

// keywords are the arguments of **kwargs.
func keywords(d *py.Dict) []py.Kwarg {
	var out []py.Kwarg
	for k, v := range d.All() {
		name, _ := py.Text(k)
		out = append(out, py.Kwarg{Name: name, Value: v})
	}
	return out
}

// named calls a filter or test by a name that is a value.
func (r *run) named(what string, name, item any, args []any, kw []py.Kwarg) (any, error) {
	s, ok := py.Text(name)
	if !ok {
		if err := undefinedIn(name); err != nil {
			return nil, err
		}
		shown, err := py.Repr(r.work, name)
		if err != nil {
			return nil, err
		}
		return nil, py.Errorf("TemplateRuntimeError", "No %s named %s.", what, shown)
	}
	table := r.engine.filters
	if what == "test" {
		table = r.engine.tests
	}
	if table[s] == nil {
		return nil, py.Errorf("TemplateRuntimeError", "No %s named %s.", what, quote(s))
	}
	return r.apply(what, s, py.Args{Pos: append([]any{item}, args...), Kw: kw})
}

func mapped(r *run, a []any) (any, error) {
	args, kw := a[1].(*py.Tuple).Items, a[2].(*py.Dict)
	return each(r, "sync_do_map", a[0], func() (func(any) (any, bool, error), error) {
		if attribute, ok := kw.GetStr("attribute"); ok && len(args) == 0 {
			rest := kw.Copy()
			_, _, _ = rest.Delete("attribute")
			def, _, _ := rest.Delete("default")
			for k := range rest.All() {
				shown, _ := py.Repr(r.work, k)
				return nil, argumentError("Unexpected keyword argument %s", shown)
			}
			get, err := attributeOf(r, attribute, def)
			return func(item any) (any, bool, error) { v, err := get(item); return v, true, err }, err
		}
		if len(args) == 0 {
			return nil, argumentError("map requires a filter argument")
		}
		return func(item any) (any, bool, error) {
			v, err := r.named("filter", args[0], item, args[1:], keywords(kw))
			return v, true, err
		}, nil
	}), nil
}

func selected(r *run, name string, a []any, keep, attribute bool) (any, error) {
	args, kw := a[1].(*py.Tuple).Items, a[2].(*py.Dict)
	return each(r, name, a[0], func() (func(any) (any, bool, error), error) {
		get := func(v any) (any, error) { return v, nil }
		if attribute {
			if len(args) == 0 {
				return nil, argumentError("Missing parameter for attribute name")
			}
			var err error
			if get, err = attributeOf(r, args[0], nil); err != nil {
				return nil, err
			}
			args = args[1:]
		}
		return func(item any) (any, bool, error) {
			v, err := get(item)
			if err == nil && len(args) > 0 {
				v, err = r.named("test", args[0], v, args[1:], keywords(kw))
			}
			if err != nil {
				return nil, false, err
			}
			ok, err := py.Truth(v)
			return item, ok == keep, err
		}, nil
	}), nil
}
