package py

import "slices"

func listMethod(name string) method {
	switch name {
	case "append":
		return listAppend
	case "extend":
		return listExtend
	case "insert":
		return listInsert
	case "pop":
		return listPop
	case "remove":
		return listRemove
	case "clear":
		return func(w *Work, v any, a Args) (any, error) {
			if err := arity("list.clear", a, 0, 0); err != nil {
				return nil, err
			}
			v.(*List).Items = nil
			return nil, nil
		}
	case "copy":
		return func(w *Work, v any, a Args) (any, error) {
			items, err := joined(w, v.(*List).Items, nil)
			return &List{Items: items}, err
		}
	case "reverse":
		return func(w *Work, v any, a Args) (any, error) {
			slices.Reverse(v.(*List).Items)
			return nil, nil
		}
	case "sort":
		return listSort
	}
	return tupleMethod(name)
}

func listAppend(w *Work, v any, a Args) (any, error) {
	if err := arity("list.append", a, 1, 1); err != nil {
		return nil, err
	}
	l := v.(*List)
	l.Items = append(l.Items, a.Pos[0])
	return nil, w.Grow(slot)
}

func listExtend(w *Work, v any, a Args) (any, error) {
	if err := arity("list.extend", a, 1, 1); err != nil {
		return nil, err
	}
	items, err := Collect(w, a.Pos[0])
	if a.Pos[0] == v { // itself: what it held before
		items = slices.Clone(v.(*List).Items)
	}
	if err != nil {
		return nil, err
	}
	l := v.(*List)
	l.Items = append(l.Items, items...)
	return nil, nil
}

func listInsert(w *Work, v any, a Args) (any, error) {
	if err := arity("insert", a, 2, 2); err != nil {
		return nil, err
	}
	l := v.(*List)
	i, err := Whole(a.Pos[0])
	if err != nil {
		return nil, err
	}
	at, _ := bound(i, 0, len(l.Items), 0, len(l.Items))
	l.Items = slices.Insert(l.Items, at, a.Pos[1])
	return nil, w.Grow(slot * (1 + (len(l.Items)-at)/64))
}

func listPop(w *Work, v any, a Args) (any, error) {
	if err := arity("pop", a, 0, 1); err != nil {
		return nil, err
	}
	l := v.(*List)
	i, err := Whole(arg(a, 0, int64(-1)))
	if err != nil {
		return nil, err
	}
	n := int64(len(l.Items))
	if n == 0 {
		return nil, Errorf("IndexError", "pop from empty list")
	}
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return nil, Errorf("IndexError", "pop index out of range")
	}
	out := l.Items[i]
	l.Items = slices.Delete(l.Items, int(i), int(i)+1)
	return out, nil
}

func listRemove(w *Work, v any, a Args) (any, error) {
	if err := arity("list.remove", a, 1, 1); err != nil {
		return nil, err
	}
	l := v.(*List)
	for i, item := range l.Items {
		eq, err := same(w, item, a.Pos[0], 0)
		if err != nil {
			return nil, err
		}
		if eq {
			l.Items = slices.Delete(l.Items, i, i+1)
			return nil, nil
		}
	}
	return nil, valueError("list.remove(x): x not in list")
}

func listSort(w *Work, v any, a Args) (any, error) {
	reverse := false
	if r, ok := a.Take("reverse"); ok {
		var err error
		if reverse, err = Truth(r); err != nil {
			return nil, err
		}
	}
	if len(a.Pos) > 0 {
		return nil, typeError("sort() takes no positional arguments")
	}
	l := v.(*List)
	items, err := Sorted(w, l.Items, l.Items, reverse)
	if err == nil {
		l.Items = items
	}
	return nil, err
}

// Sorted sorts items by keys, one for each, keeping the order of equals.
func Sorted(w *Work, items, keys []any, reverse bool) ([]any, error) {
	type pair struct{ item, key any }
	pairs := make([]pair, len(items))
	for i := range items {
		pairs[i] = pair{items[i], keys[i]}
	}
	var failed error
	slices.SortStableFunc(pairs, func(a, b pair) int {
		if failed != nil {
			return 0
		}
		x, y := a.key, b.key
		if reverse {
			x, y = y, x
		}
		less, err := Less(w, x, y)
		if failed = err; less {
			return -1
		}
		return 1 // the sort asks for no more than this
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(items))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out, nil
}

// tupleMethod are the methods of all sequences.
func tupleMethod(name string) method {
	switch name {
	case "index":
		return seqIndex
	case "count":
		return seqCount
	}
	return nil
}

func seqIndex(w *Work, v any, a Args) (any, error) {
	if err := arity("index", a, 1, 3); err != nil {
		return nil, err
	}
	items, err := Collect(w, v)
	if err != nil {
		return nil, err
	}
	from, err := bound(arg(a, 1, nil), 0, len(items), 0, len(items))
	if err != nil {
		return nil, err
	}
	to, err := bound(arg(a, 2, nil), len(items), len(items), 0, len(items))
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		if eq, err := same(w, items[i], a.Pos[0], 0); eq || err != nil {
			return int64(i), err
		}
	}
	if _, ok := v.(*List); ok {
		shown, err := Repr(w, a.Pos[0])
		if err != nil {
			return nil, err
		}
		return nil, valueError("%s is not in list", shown)
	}
	return nil, valueError("tuple.index(x): x not in tuple")
}

func seqCount(w *Work, v any, a Args) (any, error) {
	if err := arity("list.count", a, 1, 1); err != nil {
		return nil, err
	}
	items, err := Collect(w, v)
	n := int64(0)
	for _, item := range items {
		eq, err := same(w, item, a.Pos[0], 0)
		if err != nil {
			return nil, err
		}
		if eq {
			n++
		}
	}
	return n, err
}
