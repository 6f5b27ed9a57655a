package py

import "math/big"

// method is a method of a built-in type: v is what it belongs to.
type method func(w *Work, v any, a Args) (any, error)

// Attr is getattr(v, name): false where there is none.
func Attr(v any, name string) (any, bool) {
	var m method
	switch x := v.(type) {
	case string, Markup:
		m = strMethod(name)
	case *List:
		m = listMethod(name)
	case *Tuple:
		for i, n := range x.Named {
			if n == name {
				return x.Items[i], true
			}
		}
		m = tupleMethod(name)
	case *Dict:
		m = dictMethod(name)
		if name == "move_to_end" && x.Class == "" {
			m = nil
		}
	case *Set:
		m = setMethod(name)
	case int64, bool, *big.Int:
		m, v = intMethod(name), numberValue(v)
		if m == nil && (name == "real" || name == "numerator") {
			return v, true
		}
		if m == nil && name == "imag" {
			return int64(0), true
		}
		if m == nil && name == "denominator" {
			return int64(1), true
		}
	case float64:
		m = floatMethod(name)
		if m == nil && name == "real" {
			return v, true
		}
	case *Range:
		switch name {
		case "start":
			return x.Start, true
		case "stop":
			return x.Stop, true
		case "step":
			return x.Step, true
		}
		m = tupleMethod(name)
	case Bytes:
		m = bytesMethod(name)
	case *Undefined:
		return nil, false
	case Attrer:
		if got, ok := x.Attr(name); ok {
			return got, true
		}
	}
	if m != nil {
		return &Func{Name: name, Type: "builtin_function_or_method", Do: func(w *Work, a Args) (any, error) {
			return m(w, v, a)
		}}, true
	}
	return nil, hidden[name] || hiddenIn(v, name)
}

// numberValue is a bool as a number.
func numberValue(v any) any {
	if n, ok := v.(bool); ok {
		if n {
			return int64(1)
		}
		return int64(0)
	}
	return v
}

// hidden are attributes every object of Python has. The sandbox keeps templates from them.
var hidden = map[string]bool{
	"__class__": true, "__doc__": true, "__init__": true, "__new__": true, "__repr__": true, "__str__": true,
	"__hash__": true, "__eq__": true, "__ne__": true, "__lt__": true, "__le__": true, "__gt__": true, "__ge__": true,
	"__getattribute__": true, "__setattr__": true, "__delattr__": true, "__dir__": true, "__format__": true,
	"__init_subclass__": true, "__subclasshook__": true, "__reduce__": true, "__reduce_ex__": true,
	"__sizeof__": true, "__getstate__": true,
}

// hiddenIn says whether a type has a method with underscores that the sandbox keeps from templates.
func hiddenIn(v any, name string) bool {
	switch v.(type) {
	case *Dict, *List:
		if name == "__setitem__" || name == "__delitem__" || name == "__reversed__" {
			return true
		}
	}
	switch v.(type) {
	case string, Markup, *List, *Tuple, *Dict, *Range, Bytes:
		switch name {
		case "__getitem__", "__len__", "__contains__", "__iter__":
			return true
		}
	case int64, bool, float64, *big.Int:
		switch name {
		case "__add__", "__int__", "__bool__", "__abs__":
			return true
		}
	case *Func:
		switch name {
		case "__call__", "__name__", "__self__", "__globals__", "__code__", "__module__":
			return true
		}
	}
	return false
}

// arity refuses keyword arguments and checks how many arguments came.
func arity(name string, a Args, least, most int) error {
	if len(a.Kw) > 0 {
		return typeError("%s() takes no keyword arguments", name)
	}
	n := len(a.Pos)
	switch {
	case n >= least && n <= most:
		return nil
	case least == most && most == 0:
		return typeError("%s() takes no arguments (%d given)", name, n)
	case least == most && most == 1:
		return typeError("%s() takes exactly one argument (%d given)", name, n)
	case n < least:
		return typeError("%s expected at least %d argument%s, got %d", bare(name), least, plural(least), n)
	}
	return typeError("%s expected at most %d argument%s, got %d", bare(name), most, plural(most), n)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// bare is a method's name without its type.
func bare(name string) string {
	for i := range len(name) {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// arg is the i-th argument, or a default.
func arg(a Args, i int, def any) any {
	if i < len(a.Pos) {
		return a.Pos[i]
	}
	return def
}
