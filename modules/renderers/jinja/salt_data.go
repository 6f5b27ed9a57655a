package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
)

func saltDataFilters() map[string]*builtin {
	return map[string]*builtin{
		"unique": filter("unique", "values", saltUnique),
		"min": filter("lst_min", "obj", func(r *run, a []any) (any, error) {
			return extreme(r, "min", a[0], py.Less)
		}),
		"max": filter("lst_max", "obj", func(r *run, a []any) (any, error) {
			return extreme(r, "max", a[0], greater)
		}),
		"avg": filter("lst_avg", "lst", average),
		"union": filter("union", "lst1 lst2", func(r *run, a []any) (any, error) {
			return setFilter(r, "union", a)
		}),
		"intersect": filter("intersect", "lst1 lst2", func(r *run, a []any) (any, error) {
			return setFilter(r, "intersection", a)
		}),
		"difference": filter("difference", "lst1 lst2", func(r *run, a []any) (any, error) {
			return setFilter(r, "difference", a)
		}),
		"symmetric_difference": filter("symmetric_difference", "lst1 lst2", func(r *run, a []any) (any, error) {
			return setFilter(r, "symmetric_difference", a)
		}),
		"method_call": filter("method_call", "obj f_name *f_args **f_kwargs", methodCall),
		"sequence":    filter("ensure_sequence_filter", "data", ensureSequence),
		"to_bool":     filter("to_bool", "val", toBool),
		"is_list": filter("is_list", "value", func(_ *run, a []any) (any, error) {
			return isType[*py.List](a[0]), nil
		}),
		"is_iter":           filter("is_iter", "thing ignore=", isIter, nil),
		"sorted_ignorecase": filter("sorted_ignorecase", "to_sort", sortedIgnoreCase),
		"substring_in_list": filter("substr_in_list", "string_to_search_for list_to_search", substringInList),
		"exactly_n_true":    filter("exactly_n", "iterable amount=", exactly, int64(1)),
		"exactly_one_true": filter("exactly_one", "iterable", func(r *run, a []any) (any, error) {
			return exactly(r, append(a, int64(1)))
		}),
		"traverse":      filter("traverse_dict_and_list", "data key default= delimiter=", traverse, nil, ":"),
		"flatten":       filter("flatten", "data levels= preserve_nulls=", flatten, nil, false),
		"to_entries":    filter("to_entries", "data", toEntries),
		"from_entries":  filter("from_entries", "entries", fromEntries),
		"compare_lists": filter("compare_lists", "old= new=", compareLists, nil, nil),
		"compare_dicts": filter("compare_dicts", "old= new=", compareDicts, nil, nil),
		"mysql_to_dict": filter("mysql_to_dict", "data key", mysqlToDict),
		"json_encode_dict": filter("encode_dict", "data encoding= errors= keep= preserve_dict_class= preserve_tuples=",
			encodeAll, nil, "strict", false, false, false),
		"json_decode_dict": filter("encode_dict", "data encoding= errors= keep= preserve_dict_class= preserve_tuples=",
			encodeAll, nil, "strict", false, false, false),
		"json_encode_list": filter("encode_list", "data encoding= errors= keep= preserve_dict_class= preserve_tuples=",
			encodeAll, nil, "strict", false, false, false),
		"json_decode_list": filter("encode_list", "data encoding= errors= keep= preserve_dict_class= preserve_tuples=",
			encodeAll, nil, "strict", false, false, false),
		"dict_to_sls_yaml_params": guarded(filter("SerializerExtension.dict_to_sls_yaml_params", "value flow_style=",
			dictToParams,
			false)),
	}
}

func greater(w *py.Work, a, b any) (bool, error) { return py.Compare(w, ">", a, b) }

// hashable says whether Python could use v as a key.
func hashable(v any) bool {
	switch v.(type) {
	case *py.List, *py.Dict, *py.Set:
		return false
	}
	return true
}

// distinct keeps the first of equal values.
func distinct(r *run, items []any) ([]any, error) {
	var out []any
	for _, v := range items {
		in, err := py.Contains(r.work, &py.List{Items: out}, v)
		if err != nil {
			return nil, err
		}
		if !in {
			out = append(out, v)
		}
	}
	return out, r.work.Grow(16 * len(out))
}

func saltUnique(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	if hashable(a[0]) {
		return py.NewSet(items...)
	}
	out, err := distinct(r, items)
	return &py.List{Items: out}, err
}

func extreme(r *run, name string, v any, better func(w *py.Work, a, b any) (bool, error)) (any, error) {
	items, err := py.Collect(r.work, v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, py.Errorf("ValueError", "%s() arg is an empty sequence", name)
	}
	best := items[0]
	for _, item := range items[1:] {
		ok, err := better(r.work, item, best)
		if err != nil {
			return nil, err
		}
		if ok {
			best = item
		}
	}
	return best, nil
}

func average(r *run, a []any) (any, error) {
	if hashable(a[0]) {
		return py.ToFloat(a[0])
	}
	total, err := sum(r, []any{a[0], nil, int64(0)})
	if err != nil {
		return nil, err
	}
	n, err := py.Len(a[0])
	if err != nil {
		return nil, err
	}
	return py.Binary(r.work, "/", total, int64(n))
}

// setFilter is an operation on two lists; on two values that could be keys it is one on sets.
func setFilter(r *run, name string, a []any) (any, error) {
	x, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	y, err := py.Collect(r.work, a[1])
	if err != nil {
		return nil, err
	}
	if hashable(a[0]) && hashable(a[1]) {
		s, err := py.NewSet(x...)
		if err != nil {
			return nil, err
		}
		t, err := py.NewSet(y...)
		if err != nil {
			return nil, err
		}
		return py.Sets(name, s, t)
	}
	if name == "union" || name == "symmetric_difference" {
		if _, err := py.Binary(r.work, "+", a[0], a[1]); err != nil {
			return nil, err
		}
	}
	var keep []any
	pick := func(from, other []any, want bool) error {
		for _, v := range from {
			in, err := py.Contains(r.work, &py.List{Items: other}, v)
			if err != nil {
				return err
			}
			if in == want {
				keep = append(keep, v)
			}
		}
		return nil
	}
	switch name {
	case "union":
		keep = append(append(keep, x...), y...)
	case "intersection":
		err = pick(x, y, true)
	case "difference":
		err = pick(x, y, false)
	default:
		if err = pick(x, y, false); err == nil {
			err = pick(y, x, false)
		}
	}
	if err != nil {
		return nil, err
	}
	out, err := distinct(r, keep)
	return &py.List{Items: out}, err
}

func methodCall(r *run, a []any) (any, error) {
	name, err := py.Str(r.work, a[1])
	if err != nil {
		return nil, err
	}
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	m, ok := py.Attr(a[0], name)
	if !ok {
		return nil, nil
	}
	if strings.HasPrefix(name, "_") || m == nil { // Unlike Salt: the way around the sandbox is closed
		return nil, py.Errorf("SecurityError", "access to attribute %s of %s object is unsafe.", quote(name),
			quote(py.TypeName(a[0])))
	}
	return py.Call(r.work, m, py.Args{Pos: a[2].(*py.Tuple).Items, Kw: keywords(a[3].(*py.Dict))})
}

func ensureSequence(_ *run, a []any) (any, error) {
	switch a[0].(type) {
	case *py.List, *py.Tuple, *py.Set, *py.Dict:
		return a[0], nil
	}
	return py.NewList(a[0]), nil
}

func toBool(r *run, a []any) (any, error) {
	switch v := a[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string, py.Markup:
		s, _ := py.Text(v)
		s = strings.ToLower(s)
		return s == "yes" || s == "1" || s == "true", nil
	case *py.List, *py.Dict, *py.Set:
		n, err := py.Len(v)
		return n > 0, err
	}
	if isInt(a[0]) {
		return greater(r.work, a[0], int64(0))
	}
	return false, undefinedIn(a[0])
}

func isIter(_ *run, a []any) (any, error) {
	return !isText(a[0]) && py.IsIterable(a[0]), undefinedIn(a[0])
}

func sortedIgnoreCase(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(items))
	for i, v := range items {
		s, ok := py.Text(v)
		if !ok {
			return nil, py.Errorf("AttributeError", "'%s' object has no attribute 'lower'", py.TypeName(v))
		}
		keys[i] = strings.ToLower(s)
	}
	out, err := py.Sorted(r.work, items, keys, false)
	return &py.List{Items: out}, err
}

func substringInList(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[1])
	for _, s := range items {
		in, err := py.Contains(r.work, s, a[0])
		if in || err != nil {
			return in, err
		}
	}
	return false, err
}

func exactly(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	n := int64(0)
	for _, v := range items {
		ok, err := py.Truth(v)
		if err != nil {
			return nil, err
		}
		if ok {
			n++
		}
	}
	if err != nil {
		return nil, err
	}
	want, err := py.Whole(a[1])
	return n == max(0, want), err
}

func traverse(r *run, a []any) (any, error) {
	if err := undefinedIn(a[0], a[1]); err != nil {
		return nil, err
	}
	keys := []any{a[1]}
	if s, ok := py.Text(a[1]); ok {
		by, ok := py.Text(a[3])
		if !ok || by == "" {
			return nil, py.Errorf("ValueError", "empty separator")
		}
		keys = nil
		for p := range strings.SplitSeq(s, by) {
			keys = append(keys, p)
		}
	} else if !isInt(a[1]) {
		var err error
		if keys, err = py.Collect(r.work, a[1]); err != nil {
			return nil, err
		}
	}
	v := a[0]
	for _, k := range keys {
		next, ok, err := step(r, v, k)
		if err != nil {
			return nil, err
		}
		if !ok {
			return a[2], nil
		}
		v = next
	}
	return v, nil
}

// step goes one key down; in a list it looks into the dictionaries there first.
func step(r *run, v, key any) (any, bool, error) {
	l, ok := v.(*py.List)
	if !ok {
		item, ok, err := py.Item(r.work, v, key)
		if !ok && err == nil {
			if n, convErr := py.ToInt(key); convErr == nil {
				return py.Item(r.work, v, n)
			}
		}
		return item, ok, err
	}
	n, convErr := py.ToInt(key)
	k := key
	if convErr == nil {
		k = n
	}
	for _, item := range l.Items {
		if d, ok := item.(*py.Dict); ok {
			if got, ok, err := d.Get(k); ok || err != nil {
				return got, ok, err
			}
		}
	}
	if convErr != nil {
		return nil, false, nil
	}
	return py.Item(r.work, l, n)
}

func flatten(r *run, a []any) (any, error) {
	keep, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	out := py.NewList()
	return out, flattenInto(r, out, a[0], a[1], keep, map[any]bool{}, 0)
}

func flattenInto(r *run, out *py.List, v, levels any, keep bool, seen map[any]bool, depth int) error {
	if l, ok := v.(*py.List); ok {
		if seen[l] || depth > 150 {
			return py.Errorf("RecursionError", "Reference cycle detected. Check input list.")
		}
		seen[l] = true
	}
	items, err := py.Collect(r.work, v)
	if err != nil {
		return err
	}
	for _, item := range items {
		if !keep && (item == nil || item == "None" || item == "null") {
			continue
		}
		if isText(item) || !py.IsIterable(item) {
			out.Items = append(out.Items, item)
			continue
		}
		next := levels
		if levels != nil {
			n, err := py.Whole(levels)
			if err != nil {
				return err
			}
			if n < 1 {
				out.Items = append(out.Items, item)
				continue
			}
			next = n - 1
		}
		if err := flattenInto(r, out, item, next, keep, seen, depth+1); err != nil {
			return err
		}
	}
	return nil
}
