package py

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// sequenceOp is an operator between values of which one is no number.
func sequenceOp(w *Work, op string, a, b any) (any, error) {
	switch op {
	case "+":
		return add(w, a, b)
	case "*":
		return repeat(w, a, b)
	case "%":
		if s, ok := textOf(a); ok {
			return Percent(w, s, b)
		}
	case "-":
		if x, y, ok := setsOf(a, b); ok {
			return x.without(y)
		}
	}
	return nil, unsupported(op, a, b)
}

func add(w *Work, a, b any) (any, error) {
	switch x := a.(type) {
	case string, Markup:
		s, _ := textOf(x)
		t, ok := textOf(b)
		if !ok {
			return nil, typeError(`can only concatenate str (not "%s") to str`, TypeName(b))
		}
		if err := w.Grow(len(s) + len(t)); err != nil {
			return nil, err
		}
		return sum(x, b, s, t), nil
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return x + y, w.Grow(len(x) + len(y))
		}
		return nil, typeError("can't concat %s to bytes", TypeName(b))
	case *List:
		y, ok := b.(*List)
		if !ok {
			return nil, typeError(`can only concatenate list (not "%s") to list`, TypeName(b))
		}
		items, err := joined(w, x.Items, y.Items)
		return &List{Items: items}, err
	case *Tuple:
		y, ok := b.(*Tuple)
		if !ok {
			return nil, typeError(`can only concatenate tuple (not "%s") to tuple`, TypeName(b))
		}
		items, err := joined(w, x.Items, y.Items)
		return &Tuple{Items: items}, err
	}
	return nil, unsupported("+", a, b)
}

// sum is text and text: Markup escapes what is added to it.
func sum(a, b any, s, t string) any {
	_, am := a.(Markup)
	_, bm := b.(Markup)
	switch {
	case am && bm:
		return Markup(s + t)
	case am:
		return Markup(s + EscapeText(t))
	case bm:
		return Markup(EscapeText(s) + t)
	}
	return s + t
}

var escaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// EscapeText writes text for HTML.
func EscapeText(s string) string { return escaper.Replace(s) }

func joined(w *Work, a, b []any) ([]any, error) {
	if err := w.Grow((len(a) + len(b)) * slot); err != nil {
		return nil, err
	}
	return append(append(make([]any, 0, len(a)+len(b)), a...), b...), nil
}

// count is a whole number that repeats or indexes something.
func count(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case *big.Int:
		if v.Sign() < 0 {
			return -1 << 62, true
		}
		return 1 << 62, true
	}
	return 0, false
}

func isSequence(v any) bool {
	switch v.(type) {
	case string, Markup, Bytes, *List, *Tuple:
		return true
	}
	return false
}

func repeat(w *Work, a, b any) (any, error) {
	if !isSequence(a) {
		if !isSequence(b) {
			return nil, unsupported("*", a, b)
		}
		a, b = b, a
	}
	n, ok := count(b)
	if !ok {
		return nil, typeError("can't multiply sequence by non-int of type '%s'", TypeName(b))
	}
	n = max(n, 0)
	size, width := 0, 1
	switch x := a.(type) {
	case *List:
		size, width = len(x.Items), slot
	case *Tuple:
		size, width = len(x.Items), slot
	case Bytes:
		size = len(x)
	default:
		s, _ := textOf(a)
		size = len(s)
	}
	if size == 0 {
		n = 0
	} else if n > 1<<40/int64(size*width) {
		return nil, w.Grow(-1)
	}
	if err := w.Grow(int(n) * size * width); err != nil {
		return nil, err
	}
	return repeated(a, int(n)), nil
}

func repeated(a any, n int) any {
	items := func(in []any) []any {
		out := make([]any, 0, n*len(in))
		for range n {
			out = append(out, in...)
		}
		return out
	}
	switch x := a.(type) {
	case string:
		return strings.Repeat(x, n)
	case Markup:
		return Markup(strings.Repeat(string(x), n))
	case Bytes:
		return Bytes(strings.Repeat(string(x), n))
	case *List:
		return &List{Items: items(x.Items)}
	case *Tuple:
		return &Tuple{Items: items(x.Items)}
	}
	return nil
}

func setsOf(a, b any) (*Set, *Set, bool) {
	x, ok := a.(*Set)
	y, ok2 := b.(*Set)
	return x, y, ok && ok2
}

func (s *Set) filter(keep func(v any) (bool, error)) (*Set, error) {
	out := &Set{}
	for _, v := range s.Items() {
		ok, err := keep(v)
		if err != nil {
			return nil, err
		}
		if ok {
			if err := out.Add(v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *Set) without(o *Set) (*Set, error) {
	return s.filter(func(v any) (bool, error) { in, err := o.Has(v); return !in, err })
}

// Len is len(v).
func Len(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), nil
	case Markup:
		return utf8.RuneCountInString(string(v)), nil
	case Bytes:
		return len(v), nil
	case *List:
		return len(v.Items), nil
	case *Tuple:
		return len(v.Items), nil
	case *Dict:
		return v.Len(), nil
	case *Set:
		return v.Len(), nil
	case *View:
		return v.D.Len(), nil
	case *Range:
		return int(v.Len()), nil
	case *Undefined:
		if v.Lenient {
			return 0, nil
		}
		return 0, v.Err()
	case Sized:
		return v.Len()
	}
	return 0, typeError("object of type '%s' has no len()", TypeName(v))
}

// Len is the number of values of a range.
func (r *Range) Len() int64 {
	switch {
	case r.Step > 0 && r.Start < r.Stop:
		return (r.Stop-r.Start-1)/r.Step + 1
	case r.Step < 0 && r.Start > r.Stop:
		return (r.Start-r.Stop-1)/-r.Step + 1
	}
	return 0
}

// Truth is bool(v).
func Truth(v any) (bool, error) {
	switch v := v.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case *big.Int:
		return v.Sign() != 0, nil
	case float64:
		return v != 0, nil
	case string:
		return v != "", nil
	case Markup:
		return v != "", nil
	case *Undefined:
		if v.Lenient {
			return false, nil
		}
		return false, v.Err()
	case Bytes, *List, *Tuple, *Dict, *Set, *View, *Range, Sized:
		n, err := Len(v)
		return n > 0, err
	}
	return true, nil
}
