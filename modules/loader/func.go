package loader

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"brine/wire/payload"
	"brine/wire/python"
)

// Param is one declared parameter, in the order of the signature.
type Param struct {
	Name     string
	Default  any  // a payload value; read only when Required is false
	Required bool // no default
}

// Req declares a parameter without default.
func Req(name string) Param { return Param{Name: name, Required: true} }

// Opt declares a parameter with a default.
func Opt(name string, def any) Param { return Param{Name: name, Default: def} }

// Func is one execution function. Its declaration is the only source of sys.doc, sys.argspec, completion and
// of the texts of argument errors.
type Func struct {
	Name      string  // "test.echo"
	Params    []Param // positional parameters in order
	ByName    bool    // the parameters stand behind *args: they are given by name only (with VarArgs)
	VarArgs   bool    // takes further positional arguments (Args.Rest)
	KWArgs    bool    // takes further keywords (Args.KW), the __pub_* fields included
	Doc       string  // one line of help, then an empty line and an example; no indentation
	Outputter string  // the outputter its result asks for, or ""
	Tuple     bool    // its list is a tuple in Salt: one shows where no wire has made a list of it
	Source    string  // the Salt file it answers to: "salt/modules/test.py"; of a module's function: Module.File
	PyName    string  // name in argument errors where it is not the word after the dot ("true_" of test.true)
	Run       func(c *Call, a Args) (any, error)

	wrong error // why it cannot be declared
	typed bool  // Fn made it
}

// Module is the part of the name before the first dot.
func (f *Func) Module() string { return ModuleOf(f.Name) }

// ModuleOf is the module part of a function name.
func ModuleOf(name string) string {
	mod, _, _ := strings.Cut(name, ".")
	return mod
}

// pyName is the name Python prints in an argument error.
func (f *Func) pyName() string {
	if f.PyName != "" {
		return f.PyName
	}
	if _, name, ok := strings.Cut(f.Name, "."); ok {
		return name
	}
	return f.Name
}

// Takes tells whether a parameter of that name is declared.
func (f *Func) Takes(name string) bool { return f.param(name) >= 0 }

// param finds a declared parameter by name; -1 when there is none.
func (f *Func) param(name string) int {
	for i := range f.Params {
		if f.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// Args are the bound arguments of one call: every declared parameter has a value.
type Args struct {
	fn     *Func
	values []any
	Rest   []any        // positional arguments beyond the declared ones (VarArgs)
	KW     *payload.Map // keywords that are no parameter (KWArgs), __pub_* included; never nil

	misread *atomic.Pointer[string] // the first name that was read and is not declared; nil: nobody asks
}

// Get is the value of a declared parameter. A function that reads a name it does not declare gets nil, and its call
// ends with an error: see attentive.
func (a Args) Get(name string) any {
	if i := a.fn.param(name); i >= 0 {
		return a.values[i]
	}
	if a.misread != nil {
		a.misread.CompareAndSwap(nil, &name)
	}
	return nil
}

// attentive is a function whose misspelt argument names do not go unseen: that a declared parameter has no effect would
// show in no test that leaves it at its default.
func attentive(run func(*Call, Args) (any, error)) func(*Call, Args) (any, error) {
	return func(c *Call, a Args) (any, error) {
		a.misread = new(atomic.Pointer[string])
		v, err := run(c, a)
		if name := a.misread.Load(); name != nil {
			return nil, errors.Join(fmt.Errorf("modules: %s reads an argument %q that it does not declare", a.fn.Name,
				*name), err)
		}
		return v, err
	}
}

// Str is the value as text: a string as it is, nil as "", anything else in Python's str form.
func (a Args) Str(name string) string { return Text(a.Get(name)) }

// Bool is the truth of the value by Python's rules.
func (a Args) Bool(name string) bool { return python.Truth(a.Get(name)) }

// Int is the value as a whole number in the manner of Python's int(): numbers, booleans and decimal text.
func (a Args) Int(name string) (int64, error) { return ToInt(a.Get(name)) }

// CleanKWArgs copies kw without the names that begin with "__" (salt.utils.args.clean_kwargs).
func CleanKWArgs(kw *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for k, v := range kw.All() {
		if s, ok := k.(string); ok && strings.HasPrefix(s, "__") {
			continue
		}
		out.Set(k, v)
	}
	return out
}
