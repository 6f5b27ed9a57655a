package loader

import (
	"strings"

	"brine/wire/payload"
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
	VarArgs   bool    // takes further positional arguments
	KWArgs    bool    // takes further keywords, the __pub_* fields included
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

// Args are the bound arguments of one call: every declared parameter has a value. Functions get them as a struct (Fn).
type Args struct {
	values []any        // by the places of the parameters
	rest   []any        // positional arguments beyond the declared ones
	kw     *payload.Map // keywords that are no parameter, __pub_* included; never nil
}

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
