package jmespath

import (
	"errors"
	"testing"

	"brine/modules/renderers/jinja/py"
)

// FuzzSearch: any expression is answered or refused by an error of Python's or of the limits, and always ends.
func FuzzSearch(f *testing.F) {
	for _, expr := range []string{
		"a.b[0]", "l[?@ > `1`] | [0]", "*.x[]", "{a: b, \"c\": d}", "sort_by(l, &x)[::-1]", "join(',', keys(@))",
		"!a || b && c", "a[", "'x", "`1", "\"\\u00\"", "l[:-1:2].[a, b]", "merge(a, {x: y})", "max_by(l, &@)",
		"l[9999999999999999999999]", "a.b(c d,)", "-", "==", "&a",
	} {
		f.Add(expr)
	}
	b := py.NewDict()
	b.SetStr("b", py.NewList(int64(1), "x"))
	data := py.NewDict()
	data.SetStr("a", b)
	data.SetStr("l", py.NewList(int64(3), 1.5, int64(2), py.NewList(true, nil)))
	lang := Language{
		Load: func(string) (any, error) { return py.NewList(int64(1)), nil },
		Dump: func(v any) (string, error) { return py.Str(py.Free(), v) },
	}
	f.Fuzz(func(t *testing.T, expr string) {
		_, err := Search(py.NewWork(t.Context(), 20_000, 1<<20), lang, expr, data)
		var known *py.Error
		var limit *py.LimitError
		if err != nil && !errors.As(err, &known) && !errors.As(err, &limit) {
			t.Errorf("%q: %T %v", expr, err, err)
		}
	})
}
