package jmespath

import (
	"math"
	"slices"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// function is one of the language's functions: the types of its arguments ("" takes any, "a|b" either), and what it
// does. With many the last one may come more than once.
type function struct {
	types []string
	many  bool
	do    func(s *search, a []any) (any, error)
}

// functions makes the table.
func functions() map[string]function {
	one := func(types string, do func(s *search, v any) (any, error)) function {
		return function{[]string{types}, false, func(s *search, a []any) (any, error) { return do(s, a[0]) }}
	}
	affix := func(test func(s, affix string) bool) function {
		return function{[]string{"string", "string"}, false, func(_ *search, a []any) (any, error) {
			return test(a[0].(string), a[1].(string)), nil
		}}
	}
	return map[string]function{
		"abs": one("number", absolute), "avg": one("array-number", average), "sum": one("array-number", sum),
		"ceil": one("number", rounded(math.Ceil)), "floor": one("number", rounded(math.Floor)),
		"length": one("string|array|object", func(_ *search, v any) (any, error) {
			n, err := py.Len(v)
			return int64(n), err
		}),
		"keys":   one("object", func(s *search, v any) (any, error) { return s.copied(v.(*py.Dict).Keys()) }),
		"values": one("object", values), "reverse": one("array|string", reverse), "type": one("", typeOf),
		"sort": one("array-string|array-number", func(s *search, v any) (any, error) {
			items := v.(*py.List).Items
			return s.sorted(items, items)
		}),
		"max": one("array-number|array-string", func(s *search, v any) (any, error) { return s.best(">", v, v) }),
		"min": one("array-number|array-string", func(s *search, v any) (any, error) { return s.best("<", v, v) }),
		"to_array": one("", func(_ *search, v any) (any, error) {
			if isType[*py.List](v) {
				return v, nil
			}
			return py.NewList(v), nil
		}),
		"to_number": one("", toNumber), "to_string": one("", toString),
		"starts_with": affix(strings.HasPrefix), "ends_with": affix(strings.HasSuffix),
		"contains": {[]string{"array|string", ""}, false, func(s *search, a []any) (any, error) {
			return py.Contains(s.work, a[0], a[1])
		}},
		"join": {[]string{"string", "array-string"}, false, join},
		"map": {[]string{"expref", "array"}, false, func(s *search, a []any) (any, error) {
			return s.each(a[0], a[1])
		}},
		"merge":    {[]string{"object"}, true, merge},
		"not_null": {[]string{""}, true, notNull},
		"sort_by":  {[]string{"array", "expref"}, false, sortBy},
		"min_by": {[]string{"array", "expref"}, false, func(s *search, a []any) (any, error) {
			return s.bestBy("min_by", "<", a)
		}},
		"max_by": {[]string{"array", "expref"}, false, func(s *search, a []any) (any, error) {
			return s.bestBy("max_by", ">", a)
		}},
	}
}

// call evaluates the arguments and then looks for the function, as Python does.
func (s *search) call(n *node, v any) (any, error) {
	args := make([]any, len(n.kids))
	for i, kid := range n.kids {
		got, err := s.eval(kid, v)
		if err != nil {
			return nil, err
		}
		args[i] = got
	}
	name := n.value.(string)
	if s.table == nil {
		s.table = functions()
	}
	f, ok := s.table[name]
	if !ok {
		return nil, py.Errorf("UnknownFunctionError", "Unknown function: %s()", name)
	}
	if err := s.arguments(name, f, args); err != nil {
		return nil, err
	}
	return f.do(s, args)
}

// arguments checks the number and types of arguments. Of those that may come many times the first is looked at.
func (s *search) arguments(name string, f function, args []any) error {
	want, least := len(f.types), ""
	if f.many {
		least = "at least "
	}
	if len(args) < want || len(args) > want && !f.many {
		plural := "s"
		if want == 1 {
			plural = ""
		}
		return py.Errorf("ArityError", "Expected %s%d argument%s for function %s(), received %d", least, want, plural,
			name, len(args))
	}
	for i, types := range f.types {
		if types == "" {
			continue
		}
		if err := s.check(name, args[i], strings.Split(types, "|")); err != nil {
			return err
		}
	}
	return nil
}

// kindOf is the type of a value in the language's words.
func kindOf(v any) string {
	return kindNamed(py.TypeName(v))
}

func kindNamed(python string) string {
	kind, ok := map[string]string{
		"bool": "boolean", "list": "array", "dict": "object", "OrderedDict": "object", "NoneType": "null",
		"str": "string", "float": "number", "int": "number", "_Expression": "expref",
	}[python]
	if !ok {
		return "unknown"
	}
	return kind
}

// wrong is Python's JMESPathTypeError.
func (s *search) wrong(name string, v any, types []string, got string) error {
	shown, err := py.Str(s.work, v)
	if err != nil {
		return err
	}
	return py.Errorf("JMESPathTypeError", "In function %s(), invalid type for value: %s, expected one of: ['%s'], "+
		"received: \"%s\"", name, shown, strings.Join(types, "', '"), got)
}

// check holds a value to types; array-number is a list of numbers only.
func (s *search) check(name string, v any, types []string) error {
	var whole, inner []string
	for _, t := range types {
		kind, of, _ := strings.Cut(t, "-")
		whole = append(whole, kind)
		if of != "" {
			inner = append(inner, of)
		}
	}
	if !slices.Contains(whole, kindOf(v)) {
		return s.wrong(name, v, types, kindOf(v))
	}
	list, ok := v.(*py.List)
	if !ok || len(inner) == 0 || len(list.Items) == 0 {
		return nil
	}
	if len(inner) > 1 { // the first item says which of them
		if !slices.Contains(inner, kindOf(list.Items[0])) {
			return s.wrong(name, list.Items[0], types, py.TypeName(list.Items[0]))
		}
		inner = []string{kindOf(list.Items[0])}
	}
	for _, item := range list.Items {
		if err := s.work.Step(1); err != nil {
			return err
		}
		if kindOf(item) != inner[0] {
			return s.wrong(name, item, types, py.TypeName(item))
		}
	}
	return nil
}
