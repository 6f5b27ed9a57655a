package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
)

func listFilters() map[string]*builtin {
	length := filter("len", "obj", func(_ *run, a []any) (any, error) { n, err := py.Len(a[0]); return int64(n), err })
	def := filter("do_default", "value default_value= boolean=", defaultTo, "", false)
	return map[string]*builtin{
		"length": length, "count": length, "default": def, "d": def,
		"list":     filter("sync_do_list", "value", toList),
		"first":    filter("sync_do_first", "seq", first),
		"last":     filter("do_last", "seq", last),
		"random":   filter("do_random", "seq", random),
		"reverse":  filter("do_reverse", "value", reverse),
		"sort":     filter("do_sort", "value reverse= case_sensitive= attribute=", sorted, false, false, nil),
		"dictsort": filter("do_dictsort", "value case_sensitive= by= reverse=", dictsort, false, "key", false),
		"items":    filter("do_items", "value", items),
		"batch":    filter("do_batch", "value linecount fill_with=", batch, nil),
		"slice":    filter("sync_do_slice", "value slices fill_with=", slice, nil),
		"groupby":  filter("sync_do_groupby", "value attribute default= case_sensitive=", groupby, nil, false),
		"sum":      filter("sync_do_sum", "iterable attribute= start=", sum, nil, int64(0)),
		"attr":     filter("do_attr", "obj name", attr),
	}
}

// attributeOf returns what looks an attribute up: parts between dots, whole numbers as such. def replaces what is
// undefined.
func attributeOf(r *run, attribute, def any) (func(v any) (any, error), error) {
	var parts []any
	if err := undefinedIn(attribute); err != nil {
		return nil, err
	}
	if s, ok := py.Text(attribute); ok {
		for p := range strings.SplitSeq(s, ".") {
			if n, err := strconv.ParseInt(p, 10, 64); err == nil && n >= 0 && p[0] != '+' {
				parts = append(parts, n)
			} else {
				parts = append(parts, p)
			}
		}
	} else if attribute != nil {
		parts = []any{attribute}
	}
	return func(v any) (any, error) {
		for _, p := range parts {
			var err error
			if v, err = py.GetItem(r.work, v, p, r.lenient); err != nil {
				return nil, err
			}
			if def != nil && isType[*py.Undefined](v) {
				v = def
			}
		}
		return v, nil
	}, nil
}

// folded is a key in small letters, unless case counts.
func folded(v any, caseSensitive bool) any {
	if s, ok := py.Text(v); ok && !caseSensitive {
		return strings.ToLower(s)
	}
	return v
}

func defaultTo(_ *run, a []any) (any, error) {
	if isType[*py.Undefined](a[0]) {
		return a[1], nil
	}
	boolean, err := py.Truth(a[2])
	if err != nil || !boolean {
		return a[0], err
	}
	ok, err := py.Truth(a[0])
	if ok || err != nil {
		return a[0], err
	}
	return a[1], nil
}

func toList(r *run, a []any) (any, error) {
	out, err := py.Collect(r.work, a[0])
	return &py.List{Items: out}, err
}

func first(r *run, a []any) (any, error) {
	next, err := py.Iterate(a[0])
	if err != nil {
		return nil, err
	}
	v, ok, err := next()
	if !ok && err == nil {
		return r.hinted("No first item, sequence was empty."), nil
	}
	return v, err
}

// reversible collects what reversed() takes.
func reversible(r *run, v any) ([]any, error) {
	switch v.(type) {
	case *py.Iter, *py.Set:
		return nil, py.Errorf("TypeError", "'%s' object is not reversible", py.TypeName(v))
	}
	items, err := py.Collect(r.work, v)
	if e, ok := err.(*py.Error); ok && e.Kind == "TypeError" {
		err = py.Errorf("TypeError", "'%s' object is not reversible", py.TypeName(v))
	}
	return items, err
}

func last(r *run, a []any) (any, error) {
	items, err := reversible(r, a[0])
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return r.hinted("No last item, sequence was empty."), nil
	}
	return items[len(items)-1], nil
}

func reverse(r *run, a []any) (any, error) {
	if s, ok := py.Text(a[0]); ok {
		out := make([]byte, 0, len(s))
		for s != "" {
			_, n := utf8.DecodeLastRuneInString(s)
			out = append(out, s[len(s)-n:]...)
			s = s[:len(s)-n]
		}
		return string(out), r.work.Grow(len(out))
	}
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		if e, ok := err.(*py.Error); ok && e.Kind == "TypeError" {
			return nil, argumentError("argument must be iterable")
		}
		return nil, err
	}
	if isType[*py.Iter](a[0]) || isType[*py.Set](a[0]) {
		out := py.NewList()
		for i := len(items) - 1; i >= 0; i-- {
			out.Items = append(out.Items, items[i])
		}
		return out, nil
	}
	i := len(items)
	return lazy(reverseNames[py.TypeName(a[0])], func() (any, bool, error) {
		if i--; i < 0 {
			i = 0
			return nil, false, nil
		}
		return items[i], true, nil
	}), nil
}

// reverseNames are how Python names the iterators of reversed().
var reverseNames = map[string]string{"list": "list_reverseiterator", "tuple": "reversed", "range": "range_iterator"}

func sorted(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	reversed, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	cased, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	attributes := []any{a[3]}
	if s, ok := py.Text(a[3]); ok {
		attributes = nil
		for p := range strings.SplitSeq(s, ",") {
			attributes = append(attributes, p)
		}
	}
	keys := make([]any, len(items))
	for i, item := range items {
		key := py.NewList()
		for _, attribute := range attributes {
			get, err := attributeOf(r, attribute, nil)
			if err != nil {
				return nil, err
			}
			v, err := get(item)
			if err != nil {
				return nil, err
			}
			key.Items = append(key.Items, folded(v, cased))
		}
		keys[i] = key
	}
	out, err := py.Sorted(r.work, items, keys, reversed)
	return &py.List{Items: out}, err
}

func dictOf(v any, what string) (*py.Dict, error) {
	if err := undefinedIn(v); err != nil {
		return nil, err
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return nil, py.Errorf("AttributeError", "'%s' object has no attribute '%s'", py.TypeName(v), what)
	}
	return d, nil
}

func dictsort(r *run, a []any) (any, error) {
	cased, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	reversed, err := py.Truth(a[3])
	if err != nil {
		return nil, err
	}
	if a[2] != "key" && a[2] != "value" {
		return nil, argumentError(`You can only sort by either "key" or "value"`)
	}
	d, err := dictOf(a[0], "items")
	if err != nil {
		return nil, err
	}
	var pairs, keys []any
	for k, v := range d.All() {
		pairs = append(pairs, py.NewTuple(k, v))
		if a[2] == "value" {
			k = v
		}
		keys = append(keys, folded(k, cased))
	}
	out, err := py.Sorted(r.work, pairs, keys, reversed)
	return &py.List{Items: out}, err
}

func items(_ *run, a []any) (any, error) {
	if isType[*py.Undefined](a[0]) {
		return lazy("do_items", func() (any, bool, error) { return nil, false, nil }), nil
	}
	d, ok := a[0].(*py.Dict)
	if !ok {
		return lazy("do_items", func() (any, bool, error) {
			return nil, false, py.Errorf("TypeError", "Can only get item pairs from a mapping.")
		}), nil
	}
	next, err := py.Iterate(&py.View{Kind: "items", D: d})
	return lazy("do_items", next), err
}

// lists makes a generator of lists that are computed when the first is asked for.
func lists(name string, all func() ([]any, error)) any {
	var out []any
	started := false
	i := -1
	return lazy(name, func() (any, bool, error) {
		if !started {
			started = true
			var err error
			if out, err = all(); err != nil {
				return nil, false, err
			}
		}
		if i++; i >= len(out) {
			i = len(out)
			return nil, false, nil
		}
		return out[i], true, nil
	})
}

func batch(r *run, a []any) (any, error) {
	return lists("do_batch", func() ([]any, error) {
		in, err := py.Collect(r.work, a[0])
		if err != nil {
			return nil, err
		}
		var out []any
		row := py.NewList()
		for _, item := range in {
			if eq, err := py.Equal(r.work, int64(len(row.Items)), a[1]); err != nil {
				return nil, err
			} else if eq {
				out = append(out, row)
				row = py.NewList()
			}
			row.Items = append(row.Items, item)
		}
		if len(row.Items) == 0 {
			return out, nil
		}
		if a[2] != nil {
			n, err := intOf(a[1])
			if err != nil {
				return nil, err
			}
			if err := r.work.Grow(16 * max(0, n)); err != nil {
				return nil, err
			}
			for len(row.Items) < n {
				row.Items = append(row.Items, a[2])
			}
		}
		return append(out, row), nil
	}), nil
}

func slice(r *run, a []any) (any, error) {
	return lists("sync_do_slice", func() ([]any, error) {
		in, err := py.Collect(r.work, a[0])
		if err != nil {
			return nil, err
		}
		n, err := intOf(a[1])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, py.Errorf("ZeroDivisionError", "integer division or modulo by zero")
		}
		if err := r.work.Grow(32 * max(0, n)); err != nil {
			return nil, err
		}
		var out []any
		each, extra, offset := len(in)/n, len(in)%n, 0
		for i := range max(0, n) {
			start := offset + i*each
			if i < extra {
				offset++
			}
			part := py.NewList(append([]any{}, in[start:offset+(i+1)*each]...)...)
			if a[2] != nil && i >= extra {
				part.Items = append(part.Items, a[2])
			}
			out = append(out, part)
		}
		return out, nil
	}), nil
}

func groupby(r *run, a []any) (any, error) {
	in, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	get, err := attributeOf(r, a[1], a[2])
	if err != nil {
		return nil, err
	}
	cased, err := py.Truth(a[3])
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(in))
	pairs := make([]any, len(in))
	for i, item := range in {
		k, err := get(item)
		if err != nil {
			return nil, err
		}
		keys[i] = folded(k, cased)
		pairs[i] = py.NewTuple(keys[i], item, k)
	}
	if pairs, err = py.Sorted(r.work, pairs, keys, false); err != nil {
		return nil, err
	}
	out := py.NewList()
	var key any
	for i, p := range pairs {
		t := p.(*py.Tuple).Items
		eq := false
		if i > 0 {
			if eq, err = py.Equal(r.work, key, t[0]); err != nil {
				return nil, err
			}
		}
		if !eq {
			key = t[0]
			out.Items = append(out.Items, &py.Tuple{Items: []any{t[2], py.NewList()}, Named: []string{"grouper",
				"list"}})
		}
		group := out.Items[len(out.Items)-1].(*py.Tuple).Items[1].(*py.List)
		group.Items = append(group.Items, t[1])
	}
	return out, nil
}

func sum(r *run, a []any) (any, error) {
	in, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	total := a[2]
	if isText(total) {
		return nil, py.Errorf("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
	}
	get, err := attributeOf(r, a[1], nil)
	if err != nil {
		return nil, err
	}
	for _, item := range in {
		v, err := get(item)
		if err != nil {
			return nil, err
		}
		if total, err = py.Binary(r.work, "+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func attr(r *run, a []any) (any, error) {
	name, err := py.Str(r.work, a[1])
	if err != nil {
		return nil, err
	}
	if u, ok := a[0].(*py.Undefined); ok {
		return nil, u.Err()
	}
	v, ok := py.Attr(a[0], name)
	if !ok {
		return &py.Undefined{HasObj: true, Obj: a[0], Name: name, Lenient: r.lenient.Lenient}, nil
	}
	if strings.HasPrefix(name, "_") {
		return py.GetAttr(r.work, a[0], name, r.lenient)
	}
	return v, nil
}
