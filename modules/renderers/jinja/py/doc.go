// Package py holds the values of Jinja templates and what can be done with them, with the rules of Python: numbers
// without an upper end, lists and dictionaries that are changed in place, tuples, sets, generators, undefined values,
// operators, comparisons, ways of printing, the methods of str, list, dict and the numbers, and the texts of the
// errors. It knows no template.
//
// A value is one of
//
//	nil, bool, int64, *big.Int, float64, string, Markup, Bytes,
//	*List, *Tuple, *Dict, *Set, *Range, *Iter, *View, *Undefined
//
// or an Object. From and To exchange them for the values of wire/payload. What costs time or memory in proportion to
// its operands is paid for from a Work, which ends a template that never would.
package py

import "brine/wire/python"

// Error is an exception of Python. Kind is its class.
type Error = python.Error

// Errorf makes an exception.
func Errorf(kind, format string, a ...any) error { return python.Errorf(kind, format, a...) }

func typeError(format string, a ...any) error { return python.Errorf("TypeError", format, a...) }

func valueError(format string, a ...any) error { return python.Errorf("ValueError", format, a...) }

// maxNesting is how deep values may lie in each other, where they are printed, compared or copied.
const maxNesting = 200

func tooDeep() error {
	return Errorf("RecursionError", "maximum recursion depth exceeded")
}
