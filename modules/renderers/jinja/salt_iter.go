package jinja

import (
	"brine/modules/renderers/jinja/py"
)

// saltIterFilters are those of Python's itertools. Each is computed tuple by tuple.
func saltIterFilters() map[string]*builtin {
	return map[string]*builtin{
		"combinations": guarded(filter("combinations", "iterable r", func(r *run, a []any) (any, error) {
			return choose(r, "combinations", a, false, false)
		})),
		"combinations_with_replacement": guarded(filter("combinations_with_replacement", "iterable r",
			func(r *run, a []any) (any, error) {
				return choose(r, "combinations_with_replacement", a, true, false)
			})),
		"permutations": guarded(filter("permutations", "iterable r=", func(r *run, a []any) (any, error) {
			return choose(r, "permutations", a, false, true)
		}, nil)),
		"product":     guarded(filter("product", "iterable *iterables **kw", product)),
		"compress":    guarded(filter("compress", "data selectors", compress)),
		"zip":         guarded(filter("zip", "iterable *iterables **kw", zip)),
		"zip_longest": guarded(filter("zip_longest", "iterable *iterables **kw", zipLongest)),
	}
}

// tuples makes a generator of picks: places in pools; next moves them on and says false at the end.
func tuples(r *run, name string, pools [][]any, places []int, next func() bool) any {
	started, ended := false, false
	return lazy(name, func() (any, bool, error) {
		if ended {
			return nil, false, nil
		}
		if started && !next() {
			ended = true
			return nil, false, nil
		}
		started = true
		t := py.NewTuple()
		for i, p := range places {
			t.Items = append(t.Items, pools[i][p])
		}
		return t, true, r.work.Grow(16 * (1 + len(places)))
	})
}

func empty(name string) any {
	return lazy(name, func() (any, bool, error) { return nil, false, nil })
}

// choose picks n of the values: again says that one may come again, ordered that the order counts.
func choose(r *run, name string, a []any, again, ordered bool) (any, error) {
	pool, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	n := len(pool)
	if a[1] != nil {
		if n, err = intOf(a[1]); err != nil {
			return nil, err
		}
	}
	if n < 0 {
		return nil, py.Errorf("ValueError", "r must be non-negative")
	}
	if n > len(pool) && !again || n > 0 && len(pool) == 0 {
		return empty(name), nil
	}
	if err := r.work.Grow(64 * n); err != nil {
		return nil, err
	}
	places := make([]int, n)
	pools := make([][]any, n)
	for i := range places {
		pools[i] = pool
		if !again {
			places[i] = i
		}
	}
	return tuples(r, name, pools, places, func() bool { return advance(places, len(pool), again, ordered) }), nil
}

// advance moves places on in the order of itertools.
func advance(places []int, size int, again, ordered bool) bool {
	for i := len(places) - 1; i >= 0; i-- {
		if ordered {
			used := map[int]bool{}
			for _, p := range places[:i] {
				used[p] = true
			}
			for p := places[i] + 1; p < size; p++ {
				if !used[p] {
					places[i] = p
					used[p] = true
					fillUnused(places[i+1:], used)
					return true
				}
			}
			continue
		}
		last := size - 1
		if !again {
			last = size - len(places) + i
		}
		if places[i] < last {
			places[i]++
			for j := i + 1; j < len(places); j++ {
				places[j] = places[j-1]
				if !again {
					places[j]++
				}
			}
			return true
		}
	}
	return false
}

func fillUnused(places []int, used map[int]bool) {
	p := 0
	for i := range places {
		for used[p] {
			p++
		}
		places[i], used[p] = p, true
	}
}

func collectPools(r *run, a []any) ([][]any, error) {
	var pools [][]any
	for _, v := range append([]any{a[0]}, a[1].(*py.Tuple).Items...) {
		items, err := py.Collect(r.work, v)
		if err != nil {
			return nil, err
		}
		pools = append(pools, items)
	}
	return pools, nil
}

func product(r *run, a []any) (any, error) {
	pools, err := collectPools(r, a)
	if err != nil {
		return nil, err
	}
	if n, ok := a[2].(*py.Dict).GetStr("repeat"); ok {
		times, err := intOf(n)
		if err != nil {
			return nil, err
		}
		if times < 0 || times > 1000 {
			return nil, py.Errorf("ValueError", "repeat argument cannot be negative")
		}
		once := pools
		pools = nil
		for range times {
			pools = append(pools, once...)
		}
	}
	for _, p := range pools {
		if len(p) == 0 {
			return empty("product"), nil
		}
	}
	places := make([]int, len(pools))
	return tuples(r, "product", pools, places, func() bool {
		for i := len(places) - 1; i >= 0; i-- {
			if places[i]++; places[i] < len(pools[i]) {
				return true
			}
			places[i] = 0
		}
		return false
	}), nil
}

func compress(r *run, a []any) (any, error) {
	data, err := py.Iterate(a[0])
	if err != nil {
		return nil, err
	}
	selectors, err := py.Iterate(a[1])
	if err != nil {
		return nil, err
	}
	return lazy("compress", func() (any, bool, error) {
		for {
			if err := r.work.Step(1); err != nil {
				return nil, false, err
			}
			v, ok, err := data()
			if !ok || err != nil {
				return nil, false, err
			}
			s, ok, err := selectors()
			if !ok || err != nil {
				return nil, false, err
			}
			keep, err := py.Truth(s)
			if keep || err != nil {
				return v, err == nil, err
			}
		}
	}), nil
}

func zip(r *run, a []any) (any, error) { return zipped(r, "zip", a, false, nil) }

func zipLongest(r *run, a []any) (any, error) {
	fill, _ := a[2].(*py.Dict).GetStr("fillvalue")
	return zipped(r, "zip_longest", a, true, fill)
}

func zipped(r *run, name string, a []any, longest bool, fill any) (any, error) {
	var all []py.Next
	for _, v := range append([]any{a[0]}, a[1].(*py.Tuple).Items...) {
		next, err := py.Iterate(v)
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return lazy(name, func() (any, bool, error) {
		t := py.NewTuple()
		some := false
		for _, next := range all {
			v, ok, err := next()
			if err != nil || !ok && !longest {
				return nil, false, err
			}
			if !ok {
				v = fill
			}
			some = some || ok
			t.Items = append(t.Items, v)
		}
		return t, some, r.work.Grow(16 * len(all))
	}), nil
}
