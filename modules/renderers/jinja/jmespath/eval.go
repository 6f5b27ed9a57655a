package jmespath

import (
	"math/big"

	"brine/modules/renderers/jinja/py"
)

// Language is what a search takes from its caller: JSON in Python's way.
type Language struct {
	Load func(text string) (any, error)
	Dump func(v any) (string, error) // without blanks; what JSON does not know as str() shows it
}

// Search evaluates an expression on data. Errors are those of Python's jmespath.
func Search(w *py.Work, lang Language, expr string, data any) (any, error) {
	if expr == "" {
		return nil, py.Errorf("EmptyExpressionError", "Invalid JMESPath expression: cannot be empty.")
	}
	if err := w.Grow(64 * len(expr)); err != nil {
		return nil, err
	}
	x := &lexer{text: expr, chars: []rune(expr), json: lang.Load}
	tokens, err := x.lex()
	if err != nil {
		return nil, err
	}
	tree, err := parse(expr, tokens)
	if err != nil {
		return nil, err
	}
	return (&search{work: w, lang: lang}).eval(tree, data)
}

type search struct {
	work  *py.Work
	lang  Language
	table map[string]function // made when the first function is called
}

// reference is &expression: an argument of functions.
type reference struct{ n *node }

// TypeName is that of Python's class.
func (*reference) TypeName() string { return "_Expression" }

// Qualified is the name with its module.
func (*reference) Qualified() string { return "jmespath.visitor._Expression" }

// Print shows it without its address.
func (*reference) Print(*py.Work, bool) (string, error) {
	return "<jmespath.visitor._Expression object at 0x0>", nil
}

// eval is the value of n where the current value is v.
func (s *search) eval(n *node, v any) (any, error) {
	if err := s.work.Step(1); err != nil {
		return nil, err
	}
	switch n.kind {
	case "current":
		return v, nil
	case "literal":
		return n.value, nil
	case "field":
		return s.field(n.value, v)
	case "expref":
		return &reference{n.kids[0]}, s.work.Grow(16)
	case "chain", "indexed": // the first, then the second on what it gives
		left, err := s.eval(n.kids[0], v)
		if err != nil {
			return nil, err
		}
		return s.eval(n.kids[1], left)
	case "index", "slice":
		return s.pick(n, v)
	case "call":
		return s.call(n, v)
	case "list", "hash":
		return s.choose(n, v)
	case "or", "and", "not":
		return s.logic(n, v)
	case "compare":
		return s.compare(n, v)
	}
	return s.project(n, v)
}

// field is a value of a dictionary.
func (s *search) field(name, v any) (any, error) {
	switch v := v.(type) {
	case *py.Undefined:
		return nil, v.Err()
	case *py.Dict:
		got, _, err := v.Get(name)
		return got, err
	}
	return nil, nil
}

// pick is an item or a slice of a list.
func (s *search) pick(n *node, v any) (any, error) {
	list, ok := v.(*py.List)
	if !ok {
		return nil, nil
	}
	if n.kind == "slice" {
		parts := n.value.([3]any)
		return py.Slice(s.work, list, parts[0], parts[1], parts[2])
	}
	i, size := n.value.(int64), int64(len(list.Items))
	if i < 0 {
		i += size
	}
	if i < 0 || i >= size {
		return nil, nil
	}
	return list.Items[i], nil
}

// choose makes a list or a dictionary of several answers.
func (s *search) choose(n *node, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if err := s.work.Grow(64 * len(n.kids)); err != nil {
		return nil, err
	}
	list, dict := py.NewList(), py.NewDict()
	for i, kid := range n.kids {
		got, err := s.eval(kid, v)
		if err != nil {
			return nil, err
		}
		if n.kind == "hash" {
			dict.SetStr(n.value.([]string)[i], got)
			continue
		}
		list.Items = append(list.Items, got)
	}
	if n.kind == "hash" {
		return dict, nil
	}
	return list, nil
}

// project does the same with each item: kids are where the items come from and what is done, for filter also the
// condition.
func (s *search) project(n *node, v any) (any, error) {
	base, err := s.eval(n.kids[0], v)
	if err != nil {
		return nil, err
	}
	items, ok, err := s.items(n.kind, base)
	if !ok || err != nil {
		return nil, err
	}
	out := py.NewList()
	for _, item := range items {
		if err := s.work.Grow(16); err != nil {
			return nil, err
		}
		if n.kind == "flatten" {
			if inner, ok := item.(*py.List); ok {
				out.Items = append(out.Items, inner.Items...)
				item, err = nil, s.work.Grow(16*len(inner.Items))
			} else {
				out.Items = append(out.Items, item)
			}
		} else {
			item, err = s.projectOne(n, item)
			if err == nil && item != nil {
				out.Items = append(out.Items, item)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// projectOne is nil for an item that is left out.
func (s *search) projectOne(n *node, item any) (any, error) {
	if n.kind == "filter" {
		meant, err := s.eval(n.kids[2], item)
		if err != nil {
			return nil, err
		}
		if no, err := isFalse(meant); no || err != nil {
			return nil, err
		}
	}
	return s.eval(n.kids[1], item)
}

// items are those of a list, or for "values" the values of a dictionary.
func (s *search) items(kind string, base any) ([]any, bool, error) {
	if kind != "values" {
		list, ok := base.(*py.List)
		if !ok {
			return nil, false, nil
		}
		return list.Items, true, nil
	}
	switch base := base.(type) {
	case *py.Undefined:
		return nil, false, base.Err()
	case *py.Dict:
		var out []any
		for _, v := range base.All() {
			out = append(out, v)
		}
		return out, true, s.work.Grow(16 * len(out))
	}
	return nil, false, nil
}

// isFalse is true of nothing, false, and what is empty; 0 is not false.
func isFalse(v any) (bool, error) {
	switch v := v.(type) {
	case nil:
		return true, nil
	case bool:
		return !v, nil
	case string:
		return v == "", nil
	case py.Markup:
		return v == "", nil
	case *py.List:
		return len(v.Items) == 0, nil
	case *py.Dict:
		return v.Len() == 0, nil
	case *py.Undefined:
		if !v.Lenient {
			return false, v.Err()
		}
	}
	return false, nil
}

func (s *search) logic(n *node, v any) (any, error) {
	left, err := s.eval(n.kids[0], v)
	if err != nil {
		return nil, err
	}
	if n.kind == "not" {
		if isNumber(left) {
			return false, nil
		}
		yes, err := py.Truth(left)
		return !yes, err
	}
	no, err := isFalse(left)
	if err != nil || no != (n.kind == "or") {
		return left, err
	}
	return s.eval(n.kids[1], v)
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64, *big.Int:
		return true
	}
	return false
}

// compare compares: anything for being equal, numbers and texts for their order.
func (s *search) compare(n *node, v any) (any, error) {
	left, err := s.eval(n.kids[0], v)
	if err != nil {
		return nil, err
	}
	right, err := s.eval(n.kids[1], v)
	if err != nil {
		return nil, err
	}
	op := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}[n.value.(string)]
	if op == "==" || op == "!=" {
		if _, isBool := left.(bool); isBool && isNumber(right) || isNumber(left) && isType[bool](right) {
			return op == "!=", nil // Python's True is 1
		}
		same, err := py.Equal(s.work, left, right)
		return same == (op == "=="), err
	}
	if !ordered(left) || !ordered(right) {
		return nil, nil
	}
	return py.Compare(s.work, op, left, right)
}

func ordered(v any) bool {
	_, ok := py.Text(v)
	return ok || isNumber(v)
}

func isType[T any](v any) bool {
	_, ok := v.(T)
	return ok
}
