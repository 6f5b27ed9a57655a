package dicts

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Update merges upd into dest: maps under the same key are merged, lists are replaced, or with mergeLists get
// the elements they lack. What dest takes over it shares with upd.
func Update(dest, upd *payload.Map, mergeLists bool) {
	for k, v := range upd.All() {
		old, _ := dest.Get(k)
		switch o := old.(type) {
		case *payload.Map:
			if m, ok := v.(*payload.Map); ok {
				Update(o, m, mergeLists)
				continue
			}
		case []any:
			if l, ok := v.([]any); ok && mergeLists {
				v = lacking(o, l)
			}
		}
		dest.Set(k, v)
	}
}

// lacking is a list with the elements of another that it lacks. One that stands twice in the other comes twice, as in
// Salt.
func lacking(old, more []any) []any {
	out := append([]any(nil), old...)
	for _, v := range more {
		if !Contains(old, v) {
			out = append(out, v)
		}
	}
	return out
}

// Contains tells whether a list holds a value equal to v, as Python's "in" does: 1, 1.0 and True are equal.
func Contains(list []any, v any) bool {
	for _, x := range list {
		if equal(x, v) {
			return true
		}
	}
	return false
}

func equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case *payload.Map:
		b, ok := b.(*payload.Map)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for k, v := range a.All() {
			if other, ok := b.Get(k); !ok || !equal(v, other) {
				return false
			}
		}
		return true
	}
	return payload.Equal(a, b)
}

// number is the value of a number or a truth value. Integers beyond 2**53 are left to payload.Equal.
func number(v any) (float64, bool) {
	const exact = 1 << 53
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return number(int64(v))
	case int64:
		return float64(v), v < exact && v > -exact
	case uint64:
		return float64(v), v < exact
	case float64:
		return v, v < exact && v > -exact
	}
	return 0, false
}

// Merging is how two values become one (salt/utils/dictupdate.py, merge).
type Merging struct {
	Strategy string // smart, recurse, aggregate, list, overwrite or none; another one counts as recurse
	Renderer string // what "smart" looks at: aggregate for yamlex, else recurse
	Lists    bool   // recurse and overwrite: lists get what they lack, and are not replaced
	Warn     func(text string)
}

// Merge merges b into a copy of a. The copy shares with b what it takes over. With the strategy overwrite a itself
// takes the values of b under the keys that both have, as in Salt.
func (m Merging) Merge(a, b any) (any, error) {
	switch m.Of() {
	case "list":
		return mergeList(a, b)
	case "aggregate":
		return aggregate(a, b, true), nil
	case "overwrite":
		dest, ok := a.(*payload.Map)
		upd, okUpd := b.(*payload.Map)
		if ok && okUpd {
			for k, v := range upd.All() {
				if dest.Has(k) {
					dest.Set(k, v)
				}
			}
		}
		return recurse(a, b, m.Lists)
	case "recurse":
		return recurse(a, b, m.Lists)
	case "none":
		return recurse(a, b, false)
	}
	if m.Warn != nil {
		m.Warn("Unknown merging strategy '" + m.Strategy + "', fallback to recurse")
	}
	return recurse(a, b, false)
}

// Of is the strategy, with what "smart" stands for.
func (m Merging) Of() string {
	if m.Strategy != "smart" {
		return m.Strategy
	}
	if strings.HasPrefix(m.Renderer, "yamlex_") || m.Renderer[strings.LastIndexByte(m.Renderer, '|')+1:] == "yamlex" {
		return "aggregate"
	}
	return "recurse"
}

func recurse(a, b any, lists bool) (any, error) {
	dest, ok := a.(*payload.Map)
	upd, okUpd := b.(*payload.Map)
	if !ok || !okUpd {
		return nil, &loader.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
	}
	out := Clone(dest).(*payload.Map)
	Update(out, upd, lists)
	return out, nil
}

// mergeList puts the values that both have into lists; what only the second has is left out.
func mergeList(a, b any) (any, error) {
	left, ok := a.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(a))
	}
	right, ok := b.(*payload.Map)
	if !ok && left.Len() > 0 {
		return nil, &loader.ArgumentError{Message: "argument of type '" + python.Type(b) + "' is not iterable"}
	}
	out := payload.NewMap(left.Len())
	for k, v := range left.All() {
		if other, both := right.Get(k); both {
			v = []any{v, other}
		}
		out.Set(k, v)
	}
	return out, nil
}

// aggregate is the merge of yamlex for data without its marks: the outermost maps and lists are joined (outermost
// true), of maps below only what the second has is kept.
func aggregate(a, b any, outermost bool) any {
	left, okLeft := a.(*payload.Map)
	right, okRight := b.(*payload.Map)
	if okLeft && okRight {
		out := payload.NewMap(0)
		if outermost {
			out.Update(left)
		} else {
			out.Update(right)
		}
		for k, v := range right.All() {
			if old, ok := left.Get(k); ok {
				v = aggregate(old, v, false)
			}
			out.Set(k, v)
		}
		return out
	}
	list, okLeft := a.([]any)
	more, okRight := b.([]any)
	if !outermost || !okLeft || !okRight {
		return b
	}
	return lacking(list, more)
}
