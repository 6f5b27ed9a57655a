package py

import (
	"math/big"
)

type (
	// Markup is text that needs no escaping any more.
	Markup string
	// Bytes are Python's bytes.
	Bytes string
	// List is a list.
	List struct{ Items []any }
	// Tuple is a tuple; a Named one (of groupby) has names for its items.
	Tuple struct {
		Items []any
		Named []string
	}
	// Range is the result of range().
	Range struct{ Start, Stop, Step int64 }
	// Iter is a generator: it can be read once. Name is how it prints.
	Iter struct {
		Name string
		Next func() (any, bool, error)
	}
	// View is what the methods keys, values and items of a dictionary return: Kind is "keys" and so on.
	View struct {
		Kind string
		D    *Dict
	}
)

// Object is a value of another kind. It may have the methods of Attrer, Itemer, Caller, Sized, Iterable and Printer.
type Object interface{ TypeName() string }

type (
	// Attrer has attributes.
	Attrer interface {
		Attr(name string) (any, bool)
	}
	// Itemer has items.
	Itemer interface {
		Item(w *Work, key any) (any, bool, error)
	}
	// Container knows what is in it.
	Container interface{ Has(key any) bool }
	// Caller can be called.
	Caller interface {
		Call(w *Work, a Args) (any, error)
	}
	// Sized has a length.
	Sized interface{ Len() (int, error) }
	// Iterable can be looped over.
	Iterable interface {
		Iter() (func() (any, bool, error), error)
	}
	// Printer has its own str() and repr().
	Printer interface {
		Print(w *Work, repr bool) (string, error)
	}
)

// Args are the arguments of a call.
type Args struct {
	Pos []any
	Kw  []Kwarg
}

// Kwarg is one keyword argument.
type Kwarg struct {
	Name  string
	Value any
}

// Take removes a keyword argument.
func (a *Args) Take(name string) (any, bool) {
	for i, k := range a.Kw {
		if k.Name == name {
			a.Kw = append(append([]Kwarg{}, a.Kw[:i]...), a.Kw[i+1:]...)
			return k.Value, true
		}
	}
	return nil, false
}

// Func is a function with a name.
type Func struct {
	Name string
	Type string // "builtin_function_or_method" and the like
	Do   func(w *Work, a Args) (any, error)
}

// TypeName is that of Python.
func (f *Func) TypeName() string {
	if f.Type != "" {
		return f.Type
	}
	return "function"
}

// Call calls it.
func (f *Func) Call(w *Work, a Args) (any, error) { return f.Do(w, a) }

// Undefined stands for what is not there. Hint is the whole message where there is one. Without Obj the name of a
// variable was not found, with it an attribute or element of that.
type Undefined struct {
	Hint     string
	HasObj   bool
	Obj      any
	Name     any
	Lenient  bool // it prints as nothing and is false; else all that is done with it is an error
	Security bool // the error is one of the sandbox
}

// Err is the error of using it.
func (u *Undefined) Err() error {
	kind := "UndefinedError"
	if u.Security {
		kind = "SecurityError"
	}
	return Errorf(kind, "%s", u.Message())
}

// Message says what is not there.
func (u *Undefined) Message() string {
	name, isStr := textOf(u.Name)
	switch {
	case u.Hint != "":
		return u.Hint
	case !u.HasObj:
		return quote(name) + " is undefined"
	case !isStr:
		shown, err := Repr(nil, u.Name)
		if err != nil {
			shown = "..."
		}
		return objectType(u.Obj) + " has no element " + shown
	}
	return quote(objectType(u.Obj)) + " has no attribute " + quote(name)
}

// objectType is how Jinja names the type of a value in such messages.
func objectType(v any) string {
	if v == nil {
		return "None"
	}
	return qualified(v) + " object"
}

// textOf is the text of a str or Markup.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Markup:
		return string(v), true
	}
	return "", false
}

// Text is the text of a str or Markup.
func Text(v any) (string, bool) { return textOf(v) }

// qualified is the type's name with its module, as objects of other modules show it.
func qualified(v any) string {
	switch v := v.(type) {
	case *Dict:
		if v.Class != "" {
			return "collections." + v.Class
		}
	case Markup:
		return "markupsafe.Markup"
	case interface{ Qualified() string }:
		return v.Qualified()
	}
	return TypeName(v)
}

// TypeName is type(v).__name__.
func TypeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case Markup:
		return "Markup"
	case Bytes:
		return "bytes"
	case *List:
		return "list"
	case *Tuple:
		if v.Named != nil {
			return "_GroupTuple"
		}
		return "tuple"
	case *Dict:
		if v.Class != "" {
			return v.Class
		}
		return "dict"
	case *Set:
		return "set"
	case *Range:
		return "range"
	case *Iter:
		return "generator"
	case *View:
		return "dict_" + v.Kind
	case *Undefined:
		if v.Lenient {
			return "Undefined"
		}
		return "StrictUndefined"
	case Object:
		return v.TypeName()
	}
	return "object"
}

// NewList makes a list.
func NewList(items ...any) *List { return &List{Items: items} }

// NewTuple makes a tuple.
func NewTuple(items ...any) *Tuple { return &Tuple{Items: items} }
