package jmespath

import (
	"math"
	"slices"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// copied is a new list.
func (s *search) copied(items []any) (any, error) {
	return &py.List{Items: slices.Clone(items)}, s.work.Grow(16 * len(items))
}

func values(s *search, v any) (any, error) {
	items, _, err := s.items("values", v)
	if err != nil {
		return nil, err
	}
	return s.copied(items)
}

func absolute(s *search, v any) (any, error) {
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	if below, err := py.Less(s.work, v, int64(0)); !below || err != nil {
		return v, err
	}
	return py.Unary("-", v)
}

func sum(s *search, v any) (any, error) {
	var total any = int64(0)
	for _, item := range v.(*py.List).Items {
		var err error
		if total, err = py.Binary(s.work, "+", total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func average(s *search, v any) (any, error) {
	n := len(v.(*py.List).Items)
	if n == 0 {
		return nil, nil
	}
	total, err := sum(s, v)
	if err != nil {
		return nil, err
	}
	return py.Binary(s.work, "/", total, int64(n))
}

// rounded makes whole numbers of those with a point.
func rounded(round func(float64) float64) func(*search, any) (any, error) {
	return func(_ *search, v any) (any, error) {
		if f, ok := v.(float64); ok {
			return py.ToInt(round(f))
		}
		return v, nil
	}
}

func reverse(s *search, v any) (any, error) {
	if text, ok := v.(string); ok {
		chars := []rune(text)
		slices.Reverse(chars)
		return string(chars), s.work.Grow(4 * len(chars))
	}
	items := slices.Clone(v.(*py.List).Items)
	slices.Reverse(items)
	return &py.List{Items: items}, s.work.Grow(16 * len(items))
}

func join(s *search, a []any) (any, error) {
	sep, items := a[0].(string), a[1].(*py.List).Items
	texts, size := make([]string, len(items)), 0
	for i, item := range items {
		texts[i] = item.(string)
		size += len(texts[i]) + len(sep)
	}
	if err := s.work.Grow(size); err != nil {
		return nil, err
	}
	return strings.Join(texts, sep), nil
}

// merge puts dictionaries together; only the first has been held to its type.
func merge(s *search, a []any) (any, error) {
	out := py.NewDict()
	for _, v := range a {
		if err := py.DictOf(s.work, out, py.Args{Pos: []any{v}}); err != nil {
			return nil, err
		}
		if err := s.work.Grow(64 * out.Len()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func notNull(_ *search, a []any) (any, error) {
	for _, v := range a {
		if v != nil {
			return v, nil
		}
	}
	return nil, nil
}

func typeOf(_ *search, v any) (any, error) {
	switch kind := kindOf(v); {
	case isType[py.Markup](v):
		return "string", nil
	case kind == "unknown" || kind == "expref":
		return nil, nil
	default:
		return kind, nil
	}
}

func toString(s *search, v any) (any, error) {
	if _, ok := py.Text(v); ok {
		return v, nil
	}
	return s.lang.Dump(v)
}

func toNumber(_ *search, v any) (any, error) {
	switch v.(type) {
	case nil, bool, *py.List, *py.Dict:
		return nil, nil
	}
	if isNumber(v) {
		return v, nil
	}
	n, err := py.ToInt(v)
	if _, ok := py.Text(v); !ok || err == nil {
		return n, err
	}
	f, err := py.ToFloat(v)
	if err != nil {
		return nil, nil
	}
	return f, nil
}

// each is the value of an expression on each item.
func (s *search) each(ref, list any) (any, error) {
	out := py.NewList()
	for _, item := range list.(*py.List).Items {
		got, err := s.eval(ref.(*reference).n, item)
		if err == nil {
			err = s.work.Grow(16)
		}
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, got)
	}
	return out, nil
}

func (s *search) sorted(items, keys []any) (any, error) {
	out, err := py.Sorted(s.work, items, keys, false)
	if err != nil {
		return nil, err
	}
	return &py.List{Items: out}, nil
}

// keys are the values of an expression on each item, which must be of one of these types.
func (s *search) keys(name string, list, ref any, types ...string) (*py.List, error) {
	out := py.NewList()
	for _, item := range list.(*py.List).Items {
		got, err := s.eval(ref.(*reference).n, item)
		if err == nil && !slices.Contains(types, kindOf(got)) {
			err = s.wrong(name, got, types, kindOf(got))
		}
		if err == nil {
			err = s.work.Grow(16)
		}
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, got)
	}
	return out, nil
}

// sortBy sorts by keys that are all of the type of the first.
func sortBy(s *search, a []any) (any, error) {
	items := a[0].(*py.List).Items
	if len(items) == 0 {
		return a[0], nil
	}
	first, err := s.eval(a[1].(*reference).n, items[0])
	if err != nil {
		return nil, err
	}
	kind := kindOf(first)
	if kind != "number" && kind != "string" {
		return nil, s.wrong("sort_by", items[0], []string{"string", "number"}, kind)
	}
	keys, err := s.keys("sort_by", a[0], a[1], kind)
	if err != nil {
		return nil, err
	}
	return s.sorted(items, keys.Items)
}

func (s *search) bestBy(name, op string, a []any) (any, error) {
	keys, err := s.keys(name, a[0], a[1], "number", "string")
	if err != nil {
		return nil, err
	}
	return s.best(op, a[0], keys)
}

// best is the first of the items whose key is the largest or the smallest.
func (s *search) best(op string, list, keys any) (any, error) {
	items, by := list.(*py.List).Items, keys.(*py.List).Items
	if len(items) == 0 {
		return nil, nil
	}
	at := 0
	for i := range items {
		better, err := py.Compare(s.work, op, by[i], by[at])
		if err != nil {
			return nil, err
		}
		if better {
			at = i
		}
	}
	return items[at], nil
}
