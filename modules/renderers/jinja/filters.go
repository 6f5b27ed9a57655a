package jinja

import (
	"maps"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// allFilters are the filters of Jinja and of Salt. Salt's take the place of Jinja's where both have the name.
func allFilters() map[string]*builtin {
	all := map[string]*builtin{}
	for _, table := range []map[string]*builtin{
		textFilters(), listFilters(), numberFilters(), htmlFilters(), selectFilters(), saltFilters(),
		regexFilters(), saltTextFilters(), saltDataFilters(), saltIterFilters(), saltDictFilters(), saltNetFilters(),
		timeFilters(), hostFilters(), randomFilters(), queryFilters(),
	} {
		maps.Copy(all, table)
	}
	for _, name := range contextual1 {
		all[name].sig.Internal = 1
	}
	return all
}

// contextual1 are the filters that Jinja gives the environment as a first argument: it counts in messages.
var contextual1 = strings.Fields("attr first groupby join last map random reject rejectattr replace select " +
	"selectattr sort sum truncate urlize wordwrap xmlattr")

// onText makes a filter of a function on text. Markup stays Markup.
func onText(name, params string, f func(r *run, s string, a []any) (string, error), defaults ...any) *builtin {
	return &builtin{py.Sig(name, params, defaults...), func(r *run, a []any) (any, error) {
		s, err := py.Str(r.work, a[0])
		if err != nil {
			return nil, err
		}
		out, err := f(r, s, a[1:])
		if err == nil {
			err = r.work.Grow(len(out))
		}
		if _, ok := a[0].(py.Markup); ok {
			return py.Markup(out), err
		}
		return out, err
	}}
}

// filter makes a filter.
func filter(name, params string, f func(r *run, a []any) (any, error), defaults ...any) *builtin {
	return &builtin{py.Sig(name, params, defaults...), f}
}

// method makes a filter of a method of str.
func (r *run) method(s any, name string, args ...any) (any, error) {
	m, ok := py.Attr(s, name)
	if !ok {
		return nil, py.Errorf("AttributeError", "%s object has no attribute %s", quote(py.TypeName(s)), quote(name))
	}
	return py.Call(r.work, m, py.Args{Pos: args})
}

// lazy makes a generator of items that are computed one after the other.
func lazy(name string, next py.Next) any { return &py.Iter{Name: name, Next: next} }

// undefinedIn is the error of the first strict undefined value.
func undefinedIn(values ...any) error {
	for _, v := range values {
		if u, ok := v.(*py.Undefined); ok && !u.Lenient {
			return u.Err()
		}
	}
	return nil
}

func argumentError(format string, a ...any) error {
	return py.Errorf("FilterArgumentError", format, a...)
}

// intOf is an argument that must be a whole number.
func intOf(v any) (int, error) {
	n, err := py.Whole(v)
	return int(n), err
}
