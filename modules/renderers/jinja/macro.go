package jinja

import (
	"slices"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// macro is a macro where it was defined, or the body of a call block.
type macro struct {
	def     *syntax.Macro
	in      *run // whose variables the body sees
	defined bool // escaping at the definition
}

// TypeName is that of Jinja's class.
func (m *macro) TypeName() string { return "Macro" }

// Qualified is the name with its module.
func (m *macro) Qualified() string { return "jinja2.runtime.Macro" }

// Print is how a macro shows itself.
func (m *macro) Print(*py.Work, bool) (string, error) {
	if m.def.Name == "" {
		if m.def.CallX {
			return "<Macro 'caller'>", nil
		}
		return "<Macro anonymous>", nil
	}
	return "<Macro " + quote(m.def.Name) + ">", nil
}

// Attr are the attributes of a macro.
func (m *macro) Attr(name string) (any, bool) {
	switch name {
	case "name":
		if m.def.CallX {
			return "caller", true
		}
		return m.def.Name, true
	case "arguments":
		t := py.NewTuple()
		for _, a := range m.def.Args {
			t.Items = append(t.Items, a)
		}
		return t, true
	case "caller":
		return m.def.Caller, true
	case "catch_kwargs":
		return m.def.Kwargs, true
	case "catch_varargs":
		return m.def.Varargs, true
	}
	return nil, false
}

// Call calls the macro from within a filter or a function.
func (m *macro) Call(_ *py.Work, a py.Args) (any, error) { return m.invoke(a, m.defined) }

func (m *macro) callIn(r *run, a py.Args) (any, error) { return m.invoke(a, r.s.room.autoescape) }

// shownName is the name as errors have it.
func (m *macro) shownName() string {
	if m.def.CallX {
		return "'caller'"
	}
	if m.def.Name == "" {
		return "None"
	}
	return quote(m.def.Name)
}

func (m *macro) invoke(a py.Args, escape bool) (any, error) {
	if err := m.in.work.Step(4); err != nil {
		return nil, err
	}
	f := &frame{tmpl: m.in.f.tmpl, line: m.def.At()}
	in := m.in.inner()
	in.f = f
	bound, err := m.bind(in, a)
	if err != nil {
		return nil, err
	}
	if err := in.enter(f); err != nil {
		return nil, err
	}
	room := in.s.room
	old := room.autoescape
	room.autoescape = escape
	var out strings.Builder
	in.out, in.root = &out, false
	if err = m.fillDefaults(in, bound); err == nil {
		err = in.body(m.def.Body)
	}
	room.autoescape = old
	if err == nil {
		err = in.work.Grow(out.Len())
	}
	if err = in.leave(err); err != nil {
		return nil, err
	}
	if escape {
		return py.Markup(out.String()), nil
	}
	return out.String(), nil
}

// bind sets the arguments that were given; it returns how many of them, by place.
func (m *macro) bind(in *run, a py.Args) (map[string]bool, error) {
	d := m.def
	given := map[string]bool{}
	foundCaller := slices.Contains(d.Args, "caller")
	for i, name := range d.Args {
		if i < len(a.Pos) {
			in.s.set(name, a.Pos[i])
			given[name] = true
		} else if v, ok := a.Take(name); ok {
			in.s.set(name, v)
			given[name] = true
		}
	}
	if d.Caller && !foundCaller {
		caller, ok := a.Take("caller")
		if !ok {
			caller = &py.Undefined{Hint: "No caller defined", Name: "caller", Lenient: in.lenient.Lenient}
		}
		in.s.set("caller", caller)
	}
	if err := m.rest(in, a); err != nil {
		return nil, err
	}
	return given, nil
}

// rest hands over what no argument took, or refuses it.
func (m *macro) rest(in *run, a py.Args) error {
	d := m.def
	if d.Kwargs {
		kw := py.NewDict()
		for _, k := range a.Kw {
			kw.SetStr(k.Name, k.Value)
		}
		in.s.set("kwargs", kw)
	} else if len(a.Kw) > 0 {
		for _, k := range a.Kw {
			if k.Name == "caller" {
				return py.Errorf("TypeError", "macro %s was invoked with two values for the special caller "+
					"argument. This is most likely a bug.", m.shownName())
			}
		}
		return py.Errorf("TypeError", "macro %s takes no keyword argument %s", m.shownName(), quote(a.Kw[0].Name))
	}
	extra := a.Pos[min(len(d.Args), len(a.Pos)):]
	if d.Varargs {
		in.s.set("varargs", py.NewTuple(extra...))
	} else if len(extra) > 0 {
		return py.Errorf("TypeError", "macro %s takes not more than %d argument(s)", m.shownName(), len(d.Args))
	}
	return nil
}

// fillDefaults evaluates the defaults of what was not given.
func (m *macro) fillDefaults(in *run, given map[string]bool) error {
	d := m.def
	for i, name := range d.Args {
		if given[name] {
			continue
		}
		at := i - (len(d.Args) - len(d.Defaults))
		if at < 0 {
			u := in.hinted("parameter " + quote(name) + " was not provided")
			u.Name = name
			in.s.set(name, u)
			continue
		}
		v, err := in.eval(d.Defaults[at])
		if err != nil {
			return err
		}
		in.s.set(name, v)
	}
	return nil
}
