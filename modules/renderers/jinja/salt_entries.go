package jinja

import (
	"errors"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// entry is one entry of a dictionary as a dictionary.
func entry(k, v any) *py.Dict {
	d := py.NewDict()
	d.SetStr("key", k)
	d.SetStr("value", v)
	return d
}

func toEntries(r *run, a []any) (any, error) {
	out := py.NewList()
	switch x := a[0].(type) {
	case *py.Dict:
		for k, v := range x.All() {
			out.Items = append(out.Items, entry(k, v))
		}
	case *py.List:
		for i, v := range x.Items {
			out.Items = append(out.Items, entry(int64(i), v))
		}
	default:
		if err := undefinedIn(a[0]); err != nil {
			return nil, err
		}
		return nil, py.Errorf("SaltException", "Input data must be a dict or list")
	}
	return out, r.work.Grow(128 * len(out.Items))
}

func fromEntries(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	out := py.NewDict()
	for _, item := range items {
		low := py.NewDict()
		d, err := dictOf(item, "items")
		if err != nil {
			return nil, err
		}
		for k, v := range d.All() {
			if s, ok := py.Text(k); ok {
				k = strings.ToLower(s)
			}
			if err := low.Set(k, v); err != nil {
				return nil, err
			}
		}
		for _, name := range []string{"key", "name"} {
			k, _ := low.GetStr(name)
			ok, err := py.Truth(k)
			if err != nil {
				return nil, err
			}
			if ok {
				v, _ := low.GetStr("value")
				if err := out.Set(k, v); err != nil {
					return nil, err
				}
				break
			}
		}
	}
	return out, nil
}

func compareLists(r *run, a []any) (any, error) {
	out := py.NewDict()
	for i, name := range []string{"new", "old"} {
		from, other := a[1-i], a[i]
		items, err := py.Collect(r.work, from)
		if err != nil {
			return nil, err
		}
		l := py.NewList()
		for _, v := range items {
			in, err := py.Contains(r.work, other, v)
			if err != nil {
				return nil, err
			}
			if !in {
				l.Items = append(l.Items, v)
			}
		}
		if len(l.Items) > 0 {
			out.SetStr(name, l)
		}
	}
	return out, nil
}

func compareDicts(r *run, a []any) (any, error) {
	old, err := dictOf(a[0], "keys")
	if err != nil {
		return nil, err
	}
	now, err := dictOf(a[1], "keys")
	if err != nil {
		return nil, err
	}
	out := py.NewDict()
	change := func(k, before, after any) error {
		d := py.NewDict()
		d.SetStr("old", before)
		d.SetStr("new", after)
		return out.Set(k, d)
	}
	for k, v := range now.All() {
		was, ok, err := old.Get(k)
		if err != nil {
			return nil, err
		}
		if !ok {
			was = ""
		} else if eq, err := py.Equal(r.work, was, v); eq || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := change(k, was, v); err != nil {
			return nil, err
		}
	}
	for k, v := range old.All() {
		if _, ok, err := now.Get(k); !ok || err != nil {
			if err == nil {
				d := py.NewDict()
				d.SetStr("new", "")
				d.SetStr("old", v)
				err = out.Set(k, d)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func mysqlToDict(r *run, a []any) (any, error) {
	lines, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	out := py.NewDict()
	var headers []string
	for _, l := range lines {
		line, _ := py.Text(l)
		if line == "" || strings.HasPrefix(line, "+") {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(headers) <= 1 {
			headers = cells
			continue
		}
		row := py.NewDict()
		for i := 1; i < len(headers)-1; i++ {
			if i >= len(cells) {
				return nil, py.Errorf("IndexError", "list index out of range")
			}
			v, err := toNum(r, []any{cells[i]})
			if err != nil {
				return nil, err
			}
			row.SetStr(headers[i], v)
		}
		k, ok, err := row.Get(a[1])
		if err != nil {
			return nil, err
		}
		if !ok {
			shown, err := py.Repr(r.work, a[1])
			if err != nil {
				return nil, err
			}
			return nil, py.Errorf("KeyError", "%s", shown)
		}
		if err := out.Set(k, row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// encodeAll makes bytes of all texts.
func encodeAll(r *run, a []any) (any, error) {
	e := encoding{r: r, encoding: a[1], handler: a[2]}
	var err error
	if e.keep, err = py.Truth(a[3]); err != nil {
		return nil, err
	}
	if e.tuples, err = py.Truth(a[5]); err != nil {
		return nil, err
	}
	return e.value(a[0], 0)
}

// encoding is one call of encode_dict or encode_list.
type encoding struct {
	r                 *run
	encoding, handler any
	keep              bool // a text that cannot be encoded stays as it is
	tuples            bool // a tuple stays one
}

func (e *encoding) value(v any, depth int) (any, error) {
	if depth > 150 {
		return nil, py.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	if err := e.r.work.Grow(16); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case string, py.Markup:
		return e.text(x)
	case *py.Dict:
		return e.dict(x, depth)
	case *py.List:
		items, err := e.items(x, depth)
		return &py.List{Items: items}, err
	case *py.Tuple:
		items, err := e.items(x, depth)
		if e.tuples {
			return py.NewTuple(items...), err
		}
		return &py.List{Items: items}, err
	}
	return v, nil
}

func (e *encoding) text(v any) (any, error) {
	b, err := toBytesBy(e.r, []any{v, e.encoding, e.handler})
	var lacks *py.Error
	if e.keep && errors.As(err, &lacks) && lacks.Kind == "UnicodeEncodeError" {
		return v, nil
	}
	return b, err
}

func (e *encoding) dict(d *py.Dict, depth int) (any, error) {
	out := py.NewDict()
	for k, val := range d.All() {
		key, err := e.value(k, depth+1)
		if err != nil {
			return nil, err
		}
		if val, err = e.value(val, depth+1); err != nil {
			return nil, err
		}
		if err := out.Set(key, val); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *encoding) items(v any, depth int) ([]any, error) {
	items, err := py.Collect(e.r.work, v)
	for i := range items {
		if err == nil {
			items[i], err = e.value(items[i], depth+1)
		}
	}
	return items, err
}

func dictToParams(r *run, a []any) (any, error) {
	d, err := dictOf(a[0], "items")
	if err != nil {
		return nil, err
	}
	out := py.NewList()
	for k, v := range d.All() {
		one := py.NewDict()
		if err := one.Set(k, v); err != nil {
			return nil, err
		}
		out.Items = append(out.Items, one)
	}
	return formatYAML(r, []any{out, a[1]})
}
