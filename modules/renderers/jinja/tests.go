package jinja

import (
	"math/big"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// testOf makes a test of a function of one value.
func testOf(name string, f func(v any) (bool, error)) *builtin {
	return &builtin{py.Sig(name, "value"), func(_ *run, a []any) (any, error) { return f(a[0]) }}
}

// isTest makes a test that looks at no more than the type.
func isTest(name string, f func(v any) bool) *builtin {
	return testOf(name, func(v any) (bool, error) { return f(v), nil })
}

func comparison(op string) *builtin {
	return &builtin{py.Sig(op, "a b"), func(r *run, a []any) (any, error) { return py.Compare(r.work, op, a[0], a[1]) }}
}

// parity is odd and even.
func parity(name string, rest int64) *builtin {
	return &builtin{py.Sig(name, "value"), func(r *run, a []any) (any, error) {
		m, err := py.Binary(r.work, "%", a[0], int64(2))
		if err != nil {
			return nil, err
		}
		return py.Equal(r.work, m, rest)
	}}
}

func isInt(v any) bool {
	switch v.(type) {
	case int64, *big.Int:
		return true
	}
	return false
}

func isType[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func isText(v any) bool {
	_, ok := py.Text(v)
	return ok
}

// allTests are the tests of Jinja and of Salt.
func allTests() map[string]*builtin {
	t := map[string]*builtin{
		"odd": parity("test_odd", 1), "even": parity("test_even", 0),
		"divisibleby": {py.Sig("test_divisibleby", "value num"), func(r *run, a []any) (any, error) {
			m, err := py.Binary(r.work, "%", a[0], a[1])
			if err != nil {
				return nil, err
			}
			return py.Equal(r.work, m, int64(0))
		}},
		"defined":   isTest("test_defined", func(v any) bool { return !isType[*py.Undefined](v) }),
		"undefined": isTest("test_undefined", isType[*py.Undefined]),
		"none":      isTest("test_none", func(v any) bool { return v == nil }),
		"boolean":   isTest("test_boolean", isType[bool]),
		"false":     isTest("test_false", func(v any) bool { return v == false }),
		"true":      isTest("test_true", func(v any) bool { return v == true }),
		"integer":   isTest("test_integer", isInt),
		"float":     isTest("test_float", isType[float64]),
		"number": isTest("test_number", func(v any) bool {
			return isInt(v) || isType[float64](v) || isType[bool](v)
		}),
		"string":   isTest("test_string", isText),
		"mapping":  isTest("test_mapping", isType[*py.Dict]),
		"sequence": testOf("test_sequence", isSequence),
		"iterable": testOf("test_iterable", isIterable),
		"callable": isTest("callable", isCallable),
		"escaped":  isTest("test_escaped", isType[py.Markup]),
		"list":     isTest("is_list", isType[*py.List]),
		"sameas": {py.Sig("test_sameas", "value other"), func(_ *run, a []any) (any, error) {
			return a[0] == a[1], nil
		}},
		"in": {py.Sig("test_in", "value seq"), func(r *run, a []any) (any, error) {
			return py.Contains(r.work, a[1], a[0])
		}},
		"lower": {py.Sig("test_lower", "value"), func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return py.IsLower(s), err
		}},
		"upper": {py.Sig("test_upper", "value"), func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return py.IsUpper(s), err
		}},
		"filter": {py.Sig("test_filter", "value"), func(r *run, a []any) (any, error) {
			return known(r.engine.filters, a[0])
		}},
		"test": {py.Sig("test_test", "value"), func(r *run, a []any) (any, error) {
			return known(r.engine.tests, a[0])
		}},
		"match": {py.Sig("test_match", "txt rgx ignorecase= multiline=", false, false), testMatch},
	}
	for op, names := range map[string]string{
		"==": "== eq equalto", "!=": "!= ne", ">": "> gt greaterthan", ">=": ">= ge", "<": "< lt lessthan",
		"<=": "<= le",
	} {
		for _, name := range strings.Fields(names) {
			t[name] = comparison(op)
		}
	}
	return t
}

func known(table map[string]*builtin, name any) (any, error) {
	if u, ok := name.(*py.Undefined); ok {
		return nil, u.Err()
	}
	s, ok := py.Text(name)
	return ok && table[s] != nil, nil
}

func isSequence(v any) (bool, error) {
	switch v.(type) {
	case string, py.Markup, py.Bytes, *py.List, *py.Tuple, *py.Dict, *py.Range:
		return true, nil
	}
	return false, nil
}

func isIterable(v any) (bool, error) {
	if u, ok := v.(*py.Undefined); ok && !u.Lenient {
		return false, u.Err()
	}
	return py.IsIterable(v), nil
}

func isCallable(v any) bool {
	if isType[contextual](v) || isType[*py.Undefined](v) {
		return true
	}
	return isType[py.Caller](v)
}
