package py

import (
	"math/big"

	"brine/wire/payload"
	"brine/wire/python"
)

// From makes a value of one of wire/payload: lists and maps are copied. class is the class its maps print as ("" is
// dict).
func From(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v
	case *payload.Map:
		if v == nil {
			return nil
		}
		out := &Dict{}
		if v.Ordered() {
			out.Class = Ordered
		}
		for k, val := range v.All() {
			_ = out.Set(From(k), From(val)) // keys of a Map are scalars
		}
		return out
	case []any:
		out := &List{Items: make([]any, len(v))}
		for i, item := range v {
			out.Items[i] = From(item)
		}
		return out
	case payload.Set:
		out := &Set{}
		for _, item := range v {
			_ = out.Add(From(item)) // items of a set are scalars
		}
		return out
	case uint64:
		return python.Whole(new(big.Int).SetUint64(v))
	case []byte:
		return Bytes(v)
	case payload.Bytes:
		return Bytes(v)
	case *big.Int, Markup, Bytes, *List, *Tuple, *Dict, *Set, *Range, *Iter, *View, *Undefined, Object:
		return v
	}
	c := payload.Canon(v)
	switch c.(type) {
	case bool, int64, uint64, float64, string, []byte, []any, *payload.Map:
		return From(c)
	}
	return nil
}

// To makes a value of wire/payload, a copy. Tuples become lists, generators are read.
func To(w *Work, v any) (any, error) { return (*Copies)(nil).to(w, v, 0) }

func (c *Copies) to(w *Work, v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, tooDeep()
	}
	if err := w.Step(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	case Markup:
		return string(v), nil
	case Bytes:
		return []byte(v), nil
	case *big.Int:
		if v.IsUint64() {
			return v.Uint64(), nil
		}
		return bigText(v)
	case *Undefined:
		return nil, v.Err()
	case *Dict:
		return c.dictTo(w, v, depth)
	case *Set:
		items, err := c.listTo(w, v, depth)
		return payload.Set(items), err
	case *List, *Tuple, *View, *Range, *Iter:
		return c.listTo(w, v, depth)
	}
	return Str(w, v)
}

func (c *Copies) listTo(w *Work, v any, depth int) ([]any, error) {
	items, err := Collect(w, v)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(items))
	for i, item := range items {
		if out[i], err = c.to(w, item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Copies) dictTo(w *Work, d *Dict, depth int) (any, error) {
	out := payload.NewMap(d.Len())
	if d.Class == Ordered {
		out.AsOrdered()
	}
	if c != nil {
		c.of[out] = d
	}
	for k, v := range d.All() {
		key, err := keyTo(w, k, depth+1)
		if err != nil {
			return nil, err
		}
		val, err := c.to(w, v, depth+1)
		if err != nil {
			return nil, err
		}
		out.Set(key, val)
	}
	return out, nil
}

// keyTo makes the key of a map; a tuple is written out.
func keyTo(w *Work, k any, depth int) (any, error) {
	key, err := (*Copies)(nil).to(w, k, depth)
	if err != nil {
		return nil, err
	}
	switch key.(type) {
	case []any, *payload.Map: // a tuple
		return Repr(w, k)
	}
	return key, nil
}
