package py

import (
	"math"
	"math/big"
	"strings"
)

// Equal is a == b.
func Equal(w *Work, a, b any) (bool, error) { return equal(w, a, b, 0) }

func equal(w *Work, a, b any, depth int) (bool, error) {
	if depth > maxNesting {
		return false, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if err := w.Step(1); err != nil {
		return false, err
	}
	if eq, ok, err := undefinedEqual(a, b); ok {
		return eq, err
	}
	if x, ok := numberOf(a); ok {
		y, ok := numberOf(b)
		return ok && compareNumbers(x, y) == 0, nil
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case string, Markup:
		s, _ := textOf(x)
		t, ok := textOf(b)
		return ok && s == t, nil
	case Bytes:
		y, ok := b.(Bytes)
		return ok && x == y, nil
	case *List:
		if y, ok := b.(*List); ok {
			return equalItems(w, x.Items, y.Items, depth)
		}
		return false, nil
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return equalItems(w, x.Items, y.Items, depth)
		}
		return false, nil
	case *Dict:
		if y, ok := b.(*Dict); ok {
			return equalDicts(w, x, y, depth)
		}
		return false, nil
	case *Set:
		if y, ok := b.(*Set); ok && x.Len() == y.Len() {
			diff, err := x.without(y)
			return err == nil && diff.Len() == 0, err
		}
		return false, nil
	case *Range:
		if y, ok := b.(*Range); ok {
			return *x == *y || x.Len() == 0 && y.Len() == 0, nil
		}
		return false, nil
	}
	return a == b, nil
}

// undefinedEqual compares where one of the two is undefined; ok tells that.
func undefinedEqual(a, b any) (eq, ok bool, err error) {
	x, xu := a.(*Undefined)
	y, yu := b.(*Undefined)
	switch {
	case xu && !x.Lenient:
		return false, true, x.Err()
	case yu && !y.Lenient:
		return false, true, y.Err()
	}
	return xu && yu, xu || yu, nil
}

func equalItems(w *Work, a, b []any, depth int) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if eq, err := same(w, a[i], b[i], depth+1); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

// same is identity or equality, as containers compare their items.
func same(w *Work, a, b any, depth int) (bool, error) {
	if _, ok := a.(*Undefined); ok && a == b {
		return true, nil
	}
	return equal(w, a, b, depth)
}

func equalDicts(w *Work, a, b *Dict, depth int) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	if a.Class != "" && b.Class != "" {
		if eq, err := equalItems(w, a.Keys(), b.Keys(), depth); !eq || err != nil {
			return false, err
		}
	}
	for k, v := range a.All() {
		o, ok, err := b.Get(k)
		if !ok || err != nil {
			return false, err
		}
		if eq, err := same(w, v, o, depth+1); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

// compareNumbers is -1, 0, 1, or 2 where one is not a number.
func compareNumbers(x, y number) int {
	if x.isFloat || y.isFloat {
		if x.isFloat && y.isFloat {
			return compareFloats(x.f, y.f)
		}
		if x.isFloat {
			return compareMixed(x.f, y.big())
		}
		if c := compareMixed(y.f, x.big()); c != 2 {
			return -c
		}
		return 2
	}
	if x.b == nil && y.b == nil {
		switch {
		case x.i < y.i:
			return -1
		case x.i > y.i:
			return 1
		}
		return 0
	}
	return x.big().Cmp(y.big())
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return 2
}

func compareMixed(f float64, n *big.Int) int {
	if math.IsNaN(f) {
		return 2
	}
	if math.IsInf(f, 0) {
		return compareFloats(f, 0)
	}
	return big.NewFloat(f).Cmp(new(big.Float).SetPrec(uint(max(n.BitLen(), 53) + 1)).SetInt(n))
}

// Compare is a op b for == != < <= > >= in and "not in".
func Compare(w *Work, op string, a, b any) (bool, error) {
	switch op {
	case "==":
		return Equal(w, a, b)
	case "!=":
		eq, err := Equal(w, a, b)
		return !eq, err
	case "in":
		return Contains(w, b, a)
	case "not in":
		in, err := Contains(w, b, a)
		return !in, err
	}
	return order(w, op, a, b, 0)
}

func order(w *Work, op string, a, b any, depth int) (bool, error) {
	if depth > maxNesting {
		return false, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if err := undefinedIn(a, b); err != nil {
		return false, err
	}
	if err := w.Step(1); err != nil {
		return false, err
	}
	x, ok := numberOf(a)
	y, ok2 := numberOf(b)
	if ok && ok2 {
		c := compareNumbers(x, y)
		return c != 2 && holds(op, c), nil
	}
	s, ok := textOf(a)
	t, ok2 := textOf(b)
	if ok && ok2 {
		return holds(op, strings.Compare(s, t)), nil
	}
	if p, ok := a.(Bytes); ok {
		if q, ok := b.(Bytes); ok {
			return holds(op, strings.Compare(string(p), string(q))), nil
		}
	}
	p, ok := itemsOf(a)
	q, ok2 := itemsOf(b)
	if ok && ok2 && TypeName(a) == TypeName(b) {
		return orderItems(w, op, p, q, depth)
	}
	if p, q, ok := setsOf(a, b); ok {
		return orderSets(op, p, q)
	}
	return false, typeError("'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
}

func orderSets(op string, a, b *Set) (bool, error) {
	if op[0] == '>' {
		a, b = b, a
	}
	diff, err := a.without(b)
	if err != nil {
		return false, err
	}
	return diff.Len() == 0 && (len(op) == 2 || a.Len() < b.Len()), nil
}

func itemsOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case *List:
		return v.Items, true
	case *Tuple:
		return v.Items, true
	}
	return nil, false
}

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func orderItems(w *Work, op string, a, b []any, depth int) (bool, error) {
	for i := range min(len(a), len(b)) {
		eq, err := same(w, a[i], b[i], depth+1)
		if err != nil {
			return false, err
		}
		if !eq {
			return order(w, op, a[i], b[i], depth+1)
		}
	}
	return holds(op, len(a)-len(b)), nil
}

// Less is a < b.
func Less(w *Work, a, b any) (bool, error) { return order(w, "<", a, b, 0) }

// Contains is item in v.
func Contains(w *Work, v, item any) (bool, error) {
	switch c := v.(type) {
	case string, Markup:
		s, _ := textOf(c)
		t, ok := textOf(item)
		if u, isU := item.(*Undefined); isU {
			return false, u.Err()
		}
		if !ok {
			return false, typeError("'in <string>' requires string as left operand, not %s", TypeName(item))
		}
		return strings.Contains(s, t), w.Step(1 + len(s)/64)
	case *Dict:
		_, ok, err := c.Get(item)
		return ok, err
	case *Set:
		return c.Has(item)
	case *View:
		if c.Kind == "keys" {
			_, ok, err := c.D.Get(item)
			return ok, err
		}
	case *Undefined:
		if !c.Lenient {
			return false, c.Err()
		}
		return false, nil
	case Container:
		return c.Has(item), nil
	}
	next, err := Iterate(v)
	if err != nil {
		return false, typeError("argument of type '%s' is not iterable", TypeName(v))
	}
	for {
		x, ok, err := next()
		if !ok || err != nil {
			return false, err
		}
		if eq, err := same(w, x, item, 0); eq || err != nil {
			return eq, err
		}
	}
}
