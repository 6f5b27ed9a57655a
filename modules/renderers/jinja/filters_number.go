package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/wire/python"
)

func numberFilters() map[string]*builtin {
	return map[string]*builtin{
		"abs":            filter("abs", "x", absolute),
		"int":            filter("do_int", "value default= base=", toInt, int64(0), int64(10)),
		"float":          filter("do_float", "value default=", toFloat, 0.0),
		"round":          filter("do_round", "value precision= method=", round, int64(0), "common"),
		"filesizeformat": filter("do_filesizeformat", "value binary=", filesizeformat, false),
	}
}

func absolute(_ *run, a []any) (any, error) {
	switch x := a[0].(type) {
	case float64:
		return math.Abs(x), nil
	case int64, *big.Int, bool:
		neg, err := py.Unary("-", x)
		if err != nil {
			return nil, err
		}
		if less, err := py.Less(py.Free(), x, int64(0)); less || err != nil {
			return neg, err
		}
		return py.Unary("+", x)
	}
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	return nil, py.Errorf("TypeError", "bad operand type for abs(): '%s'", py.TypeName(a[0]))
}

// forgiven says whether an error is one of those a conversion answers with its default.
func forgiven(err error, kinds ...string) bool {
	e, ok := err.(*py.Error)
	if !ok {
		return false
	}
	for _, k := range kinds {
		if e.Kind == k {
			return true
		}
	}
	return false
}

func toInt(_ *run, a []any) (any, error) {
	var out any
	var err error
	if s, ok := py.Text(a[0]); ok {
		var base int64
		if base, err = py.Whole(a[2]); err == nil {
			out, err = python.ParseInt(s, base)
		}
	} else {
		out, err = py.ToInt(a[0])
	}
	if err == nil || !forgiven(err, "TypeError", "ValueError") {
		return out, err
	}
	f, err := py.ToFloat(a[0])
	if err == nil {
		out, err = py.ToInt(f)
	}
	if forgiven(err, "TypeError", "ValueError", "OverflowError") {
		return a[1], nil
	}
	return out, err
}

func toFloat(_ *run, a []any) (any, error) {
	f, err := py.ToFloat(a[0])
	if forgiven(err, "TypeError", "ValueError") {
		return a[1], nil
	}
	return f, err
}

func round(r *run, a []any) (any, error) {
	method, _ := a[2].(string)
	if method != "common" && method != "ceil" && method != "floor" {
		return nil, argumentError("method must be common, ceil or floor")
	}
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	if method == "common" {
		return pyRound(a[0], a[1])
	}
	factor, err := py.Binary(r.work, "**", int64(10), a[1])
	if err != nil {
		return nil, err
	}
	scaled, err := py.Binary(r.work, "*", a[0], factor)
	if err != nil {
		return nil, err
	}
	f, err := py.ToFloat(scaled)
	if err != nil || isText(scaled) {
		return nil, py.Errorf("TypeError", "must be real number, not %s", py.TypeName(scaled))
	}
	if method == "ceil" {
		f = math.Ceil(f)
	} else {
		f = math.Floor(f)
	}
	whole, err := py.ToInt(f)
	if err != nil {
		return nil, err
	}
	return py.Binary(r.work, "/", whole, factor)
}

// pyRound is round(v, precision): to the nearest, half to even, as the decimal digits of v are.
func pyRound(v, precision any) (any, error) {
	n, err := intOf(precision)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case float64:
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0) || n > 308:
			return x, nil
		case n < -308:
			return math.Copysign(0, x), nil
		case n >= 0:
			f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', n, 64), 64)
			return f, nil
		}
		p := math.Pow(10, float64(-n))
		return math.RoundToEven(x/p) * p, nil
	case int64, *big.Int, bool:
		whole, _ := py.Unary("+", x)
		if n >= 0 {
			return whole, nil
		}
		return roundWhole(whole, min(-n, 400))
	}
	return nil, py.Errorf("TypeError", "type %s doesn't define __round__ method", py.TypeName(v))
}

// roundWhole rounds to tens, hundreds and so on.
func roundWhole(v any, digits int) (any, error) {
	n, ok := v.(*big.Int)
	if !ok {
		n = big.NewInt(v.(int64))
	}
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	q, m := new(big.Int).DivMod(n, p, new(big.Int))
	twice := m.Lsh(m, 1)
	if c := twice.Cmp(p); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return py.Unary("+", q.Mul(q, p))
}

func filesizeformat(_ *run, a []any) (any, error) {
	f, err := py.ToFloat(a[0])
	if err != nil {
		return nil, err
	}
	binary, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	base, suffix := 1000.0, "B"
	if binary {
		base, suffix = 1024, "iB"
	}
	switch {
	case f == 1:
		return "1 Byte", nil
	case f < base:
		return strconv.FormatFloat(math.Trunc(f), 'f', 0, 64) + " Bytes", nil
	}
	unit := base
	prefixes := "kMGTPEZY"
	if binary {
		prefixes = "KMGTPEZY"
	}
	for i, p := range strings.Split(prefixes, "") {
		unit *= base
		if f < unit || i == len(prefixes)-1 {
			return fmt.Sprintf("%.1f %s%s", base*f/unit, p, suffix), nil
		}
	}
	return nil, nil
}
