package py

import (
	"math/big"
	"unicode/utf8"
)

// Next reads one value after the other: false at the end.
type Next = func() (any, bool, error)

// Iterate is iter(v).
func Iterate(v any) (Next, error) {
	switch v := v.(type) {
	case string:
		return runes(v, false), nil
	case Markup:
		return runes(string(v), true), nil
	case Bytes:
		return indexed(func() int { return len(v) }, func(i int) any { return int64(v[i]) }), nil
	case *List:
		return indexed(func() int { return len(v.Items) }, func(i int) any { return v.Items[i] }), nil
	case *Tuple:
		return indexed(func() int { return len(v.Items) }, func(i int) any { return v.Items[i] }), nil
	case *Range:
		return indexed(func() int { return int(v.Len()) }, func(i int) any { return v.Start + int64(i)*v.Step }), nil
	case *Dict:
		return v.iterate(&View{"keys", v}), nil
	case *View:
		return v.D.iterate(v), nil
	case *Set:
		items := inSetOrder(v.Items())
		return indexed(func() int { return len(items) }, func(i int) any { return items[i] }), nil
	case *Iter:
		return v.Next, nil
	case *Undefined:
		if v.Lenient {
			return func() (any, bool, error) { return nil, false, nil }, nil
		}
		return nil, v.Err()
	case Iterable:
		return v.Iter()
	}
	return nil, typeError("'%s' object is not iterable", TypeName(v))
}

func indexed(length func() int, at func(i int) any) Next {
	i := -1
	return func() (any, bool, error) {
		if i++; i >= length() {
			i = length()
			return nil, false, nil
		}
		return at(i), true, nil
	}
}

func runes(s string, markup bool) Next {
	return func() (any, bool, error) {
		if s == "" {
			return nil, false, nil
		}
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		if markup {
			return Markup(c), true, nil
		}
		return c, true, nil
	}
}

// iterate reads a view of the dictionary, and fails where that is changed meanwhile.
func (d *Dict) iterate(v *View) Next {
	items, size, i := v.items(), d.Len(), -1
	return func() (any, bool, error) {
		if i++; d.Len() != size && i <= len(items) {
			i = len(items) + 1
			return nil, false, Errorf("RuntimeError", "dictionary changed size during iteration")
		}
		if i >= len(items) {
			i = len(items)
			return nil, false, nil
		}
		return items[i], true, nil
	}
}

// Collect reads all values of v into a new slice.
func Collect(w *Work, v any) ([]any, error) {
	next, err := Iterate(v)
	if err != nil {
		return nil, err
	}
	return Drain(w, next)
}

// Drain reads what is left.
func Drain(w *Work, next Next) ([]any, error) {
	var out []any
	for {
		v, ok, err := next()
		if !ok || err != nil {
			return out, err
		}
		if err := w.Grow(slot); err != nil {
			return nil, err
		}
		if err := w.Step(1); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// IsIterable says whether v can be looped over.
func IsIterable(v any) bool {
	if u, ok := v.(*Undefined); ok {
		return u.Lenient
	}
	switch v.(type) {
	case *Iter, Iterable:
		return true
	}
	_, err := Iterate(v)
	return err == nil
}

// index finds the place of a subscript in something of length n.
func index(what string, key any, n int) (int, error) {
	i, ok := count(key)
	if !ok {
		return 0, typeError("%s indices must be integers or slices, not %s", what, TypeName(key))
	}
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		if what == "range" {
			return 0, Errorf("IndexError", "range object index out of range")
		}
		return 0, Errorf("IndexError", "%s index out of range", what)
	}
	return int(i), nil
}

// Item is v[key] without slices. found is false where there is no such item (LookupError, TypeError); other errors are
// errors.
func Item(w *Work, v, key any) (item any, found bool, err error) {
	at := func(what string, n int, get func(i int) any) (any, bool, error) {
		i, err := index(what, key, n)
		if err != nil {
			return nil, false, nil
		}
		return get(i), true, nil
	}
	switch v := v.(type) {
	case *Dict:
		item, found, err = v.Get(key)
		if e, ok := err.(*Error); ok && e.Kind == "TypeError" {
			err = nil
		}
		return item, found, err
	case *List:
		return at("list", len(v.Items), func(i int) any { return v.Items[i] })
	case *Tuple:
		return at("tuple", len(v.Items), func(i int) any { return v.Items[i] })
	case *Range:
		return at("range", int(v.Len()), func(i int) any { return v.Start + int64(i)*v.Step })
	case Bytes:
		return at("bytes", len(v), func(i int) any { return int64(v[i]) })
	case string:
		return at("string", utf8.RuneCountInString(v), func(i int) any { return cut(v, i, i+1) })
	case Markup:
		return at("string", utf8.RuneCountInString(string(v)), func(i int) any {
			return Markup(cut(string(v), i, i+1))
		})
	case *Undefined:
		return nil, false, v.Err()
	case Itemer:
		return v.Item(w, key)
	}
	return nil, false, nil
}

// cut is s[from:to] in characters, both within it.
func cut(s string, from, to int) string {
	if len(s) == utf8.RuneCountInString(s) {
		return s[from:to]
	}
	return string([]rune(s)[from:to])
}

// bound is one end of a slice, put into 0..n (or -1..n-1 for a negative step).
func bound(v any, def, n, low, high int) (int, error) {
	if v == nil {
		return def, nil
	}
	i, ok := count(v)
	if !ok {
		if u, ok := v.(*Undefined); ok {
			return 0, u.Err()
		}
		return 0, typeError("slice indices must be integers or None or have an __index__ method")
	}
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, int64(low)), int64(high))), nil
}

// Slice is v[start:stop:step]; nil for what is left out.
func Slice(w *Work, v, start, stop, step any) (any, error) {
	switch v := v.(type) {
	case string, Markup, Bytes, *List, *Tuple, *Range:
	case *Undefined:
		return nil, v.Err()
	case *Dict:
		return nil, typeError("unhashable type: 'slice'")
	default:
		return nil, typeError("'%s' object is not subscriptable", TypeName(v))
	}
	n, err := Len(v)
	if err != nil {
		return nil, err
	}
	by := int64(1)
	if step != nil {
		var ok bool
		if by, ok = count(step); !ok {
			return nil, typeError("slice indices must be integers or None or have an __index__ method")
		}
	}
	if by == 0 {
		return nil, valueError("slice step cannot be zero")
	}
	low, high, defStart, defStop := 0, n, 0, n
	if by < 0 {
		low, high, defStart, defStop = -1, n-1, n-1, -1
	}
	from, err := bound(start, defStart, n, low, high)
	if err != nil {
		return nil, err
	}
	to, err := bound(stop, defStop, n, low, high)
	if err != nil {
		return nil, err
	}
	return sliced(w, v, &Range{int64(from), int64(to), by})
}

func sliced(w *Work, v any, r *Range) (any, error) {
	n := int(r.Len())
	if err := w.Grow(n * slot); err != nil {
		return nil, err
	}
	pick := func(in []any) []any {
		out := make([]any, n)
		for i := range n {
			out[i] = in[r.Start+int64(i)*r.Step]
		}
		return out
	}
	text := func(s string) string {
		if r.Step == 1 {
			return cut(s, int(r.Start), int(r.Start)+n)
		}
		in, out := []rune(s), make([]rune, n)
		for i := range n {
			out[i] = in[r.Start+int64(i)*r.Step]
		}
		return string(out)
	}
	switch v := v.(type) {
	case string:
		return text(v), nil
	case Markup:
		return Markup(text(string(v))), nil
	case Bytes:
		out := make([]byte, n)
		for i := range n {
			out[i] = v[r.Start+int64(i)*r.Step]
		}
		return Bytes(out), nil
	case *List:
		return &List{Items: pick(v.Items)}, nil
	case *Tuple:
		return &Tuple{Items: pick(v.Items)}, nil
	case *Range:
		return &Range{v.Start + r.Start*v.Step, v.Start + r.Stop*v.Step, v.Step * r.Step}, nil
	}
	return nil, nil
}

// Whole is v as a whole number, for what needs one.
func Whole(v any) (int64, error) {
	if u, ok := v.(*Undefined); ok {
		return 0, u.Err()
	}
	if b, ok := v.(*big.Int); ok {
		return 0, Errorf("OverflowError", "Python int too large to convert to C ssize_t: %s", b)
	}
	n, ok := count(v)
	if !ok {
		return 0, typeError("'%s' object cannot be interpreted as an integer", TypeName(v))
	}
	return n, nil
}
