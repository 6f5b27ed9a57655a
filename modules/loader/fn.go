package loader

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Fn makes a function of a module: its name without that of the module, its body, one sentence of help, and examples of
// arguments ("hosts.add_host <ip> <alias>", without the program).
//
// A is a struct whose fields are the parameters, in their order. The tag of a field reads like a signature of Python:
//
//	IP      string       `arg:"ip"`            // must be given
//	Timeout int64        `arg:"timeout=5"`     // the default: None, True, False, a number, [], {}, 'text' or plain text
//	Rest    []any        `arg:"*args"`         // more positional arguments; fields after it are given by name only
//	KW      *payload.Map `arg:"**kwargs"`      // keywords that are no parameter, the __pub_* fields included; never nil
//
// The type of a field says how the value is read: any as it is, string as Python's str() with "" for None, bool as
// Python's truth, int64 as Python's int(), whose error ends the call, []string as a list of texts or one text with
// commas, *payload.Map and []any the value is of that type and nil otherwise. An embedded struct gives its fields.
func Fn[A, R any](name string, run func(*Call, A) (R, error), doc string, examples ...string) Func {
	f := Func{Name: name, Doc: doc, typed: true}
	sig, err := signatureOf(reflect.TypeFor[A](), &f)
	if err != nil {
		f.wrong = fmt.Errorf("function %s: %w", name, err)
	}
	for i, e := range examples {
		if i == 0 {
			f.Doc += "\n\nCLI Example:\n"
		}
		f.Doc += "\n    " + exampleOf(e)
	}
	f.Run = func(c *Call, a Args) (any, error) {
		var in A
		if err := sig.fill(reflect.ValueOf(&in).Elem(), a); err != nil {
			return nil, err
		}
		return result(run(c, in))
	}
	return f
}

// result keeps a nil that is typed from being a value.
func result[R any](v R, err error) (any, error) {
	if r := reflect.ValueOf(&v).Elem(); r.Kind() == reflect.Pointer && r.IsNil() {
		return nil, err
	}
	return v, err
}

// exampleOf is a command line: a word of a shell comes first where the example does not begin with a program of Salt.
func exampleOf(e string) string {
	if strings.HasPrefix(e, "salt") && strings.ContainsRune(" -", rune((e + " ")[len("salt")])) {
		return e
	}
	return "salt '*' " + e
}

// Shows sets the outputter that the result asks for.
func (f Func) Shows(outputter string) Func {
	f.Outputter = outputter
	return f
}

// AsTuple tells that the list of the result is a tuple in Salt.
func (f Func) AsTuple() Func {
	f.Tuple = true
	return f
}

// Named sets the name of the function in argument errors where it is not the word after the dot ("true_" of test.true).
func (f Func) Named(python string) Func {
	f.PyName = python
	return f
}

// Filled is a struct of parameters as Fn makes it for a call with keywords.
func Filled[A any](kw *payload.Map) (in A, err error) {
	f := Func{Name: reflect.TypeFor[A]().Name()}
	sig, err := signatureOf(reflect.TypeFor[A](), &f)
	if err != nil {
		return in, err
	}
	a, err := Bind(&f, nil, kw)
	if err == nil {
		err = sig.fill(reflect.ValueOf(&in).Elem(), a)
	}
	return in, err
}

// signature says which argument goes into which field.
type signature struct{ fields []field }

type field struct {
	index []int
	param int // place among the parameters; rest and keywords are below zero
}

const (
	restField = -1
	kwField   = -2
)

// signatureOf reads the struct and declares its fields in f.
func signatureOf(t reflect.Type, f *Func) (*signature, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("its arguments are a %s, not a struct", t)
	}
	s := &signature{}
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous {
			continue
		}
		tag, ok := sf.Tag.Lookup("arg")
		if !ok || !sf.IsExported() {
			return nil, fmt.Errorf("the field %s has no tag arg or is not exported", sf.Name)
		}
		to := field{index: sf.Index, param: len(f.Params)}
		switch {
		case strings.HasPrefix(tag, "**"):
			f.KWArgs, to.param = true, kwField
		case strings.HasPrefix(tag, "*"):
			if len(f.Params) > 0 {
				f.VarArgs = true
			} else {
				f.VarArgs, f.ByName = true, true
			}
			to.param = restField
		default:
			if f.VarArgs && !f.ByName {
				return nil, fmt.Errorf("the parameter %s comes after *args and others before", tag)
			}
			f.Params = append(f.Params, paramOf(tag))
		}
		if !readable(sf.Type, to.param) {
			return nil, fmt.Errorf("the field %s cannot be a %s", sf.Name, sf.Type)
		}
		s.fields = append(s.fields, to)
	}
	f.ByName = f.ByName && len(f.Params) > 0
	return s, nil
}

func readable(t reflect.Type, param int) bool {
	switch param {
	case restField:
		return t == reflect.TypeFor[[]any]()
	case kwField:
		return t == reflect.TypeFor[*payload.Map]()
	}
	switch t {
	case reflect.TypeFor[any](), reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int64](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[]any](), reflect.TypeFor[*payload.Map]():
		return true
	}
	return false
}

// paramOf reads a tag.
func paramOf(tag string) Param {
	name, def, optional := strings.Cut(tag, "=")
	if !optional {
		return Req(name)
	}
	return Opt(name, literal(def))
}

// literal is a default as Python writes it; what it would not know is text.
func literal(s string) any {
	switch s {
	case "None":
		return nil
	case "True":
		return true
	case "False":
		return false
	case "[]":
		return []any{}
	case "{}":
		return payload.NewMap(0)
	}
	if n := len(s); n >= 2 && s[0] == '\'' && s[n-1] == '\'' {
		return s[1 : n-1]
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil && strings.Contains(s, ".") {
		return x
	}
	return s
}

// fill puts bound arguments into a struct.
func (s *signature) fill(in reflect.Value, a Args) error {
	for _, f := range s.fields {
		to := in.FieldByIndex(f.index)
		switch f.param {
		case restField:
			to.Set(reflect.ValueOf(a.rest))
		case kwField:
			to.Set(reflect.ValueOf(a.kw))
		default:
			if err := set(to, a.values[f.param]); err != nil {
				return err
			}
		}
	}
	return nil
}

func set(to reflect.Value, v any) (err error) {
	switch to := to.Addr().Interface().(type) {
	case *any:
		*to = v
	case *string:
		*to = Text(v)
	case *bool:
		*to = python.Truth(v)
	case *int64:
		*to, err = ToInt(v)
	case *[]string:
		*to = StringList(v)
	case *[]any:
		*to, _ = v.([]any)
	case **payload.Map:
		*to, _ = v.(*payload.Map)
	default:
		err = errors.New("loader: an argument of no known type")
	}
	return err
}
