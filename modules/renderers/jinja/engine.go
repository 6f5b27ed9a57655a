package jinja

import (
	"context"
	"errors"
	"strings"
	"sync"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
	"brine/wire/payload"
)

// Loader finds the templates that others include, import and extend.
type Loader interface {
	// Load returns a template. from is the variable tpldir of the template that asks, for names that begin with ./ or
	// ../; the error is ErrNotFound where there is none.
	Load(ctx context.Context, name, from string) (Source, error)
}

// Source is a template that was found.
type Source struct {
	Text string
	Path string // the file, as errors name it
	Name string // the name from the top of the tree: what ./ was resolved to
}

// ErrNotFound says that there is no template of that name.
var ErrNotFound = errors.New("template not found")

// YAML reads and writes YAML for Salt's tags and filters.
type YAML interface {
	// Load returns the value of one document.
	Load(text string) (any, error)
	// Dump writes a value; flow in the style {a: 1}, else one item a line. Keys are sorted but those of ordered maps.
	Dump(v any, flow bool) (string, error)
}

// Func is a function that a template may call. Arguments and result are values of wire/payload. A map among the
// arguments is the function's own; when it is what the function returns, changed or not, the template has changed its
// dictionary, too.
type Func func(ctx context.Context, args []any, kwargs *payload.Map) (any, error)

// Limits bound what one rendering may cost. 0 is the default, below 0 means no limit.
type Limits struct {
	Steps  int // turns of evaluation: 50,000,000
	Memory int // bytes of all values made: 512 MiB
	Output int // bytes of the result: 64 MiB
	Depth  int // macros, blocks, includes and recursive loops in each other: 150
}

// Options are Salt's options of the renderer.
type Options struct {
	AllowUndefined bool         // allow_undefined: what is not defined prints as nothing
	Env            *payload.Map // jinja_env or jinja_sls_env: trim_blocks and the like, in small letters
	Loader         Loader       // nil: there are no other templates
	YAML           YAML         // nil: YAML is refused
	Host           Host         // nil: filters that look at the machine are refused
	Limits         Limits
}

// Engine compiles templates. It is safe for concurrent use.
type Engine struct {
	opt     Options
	filters map[string]*builtin
	tests   map[string]*builtin
	globals map[string]any
}

// New makes an engine.
func New(opt Options) *Engine {
	e := &Engine{opt: opt}
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&e.opt.Limits.Steps, 50_000_000)
	def(&e.opt.Limits.Memory, 512<<20)
	def(&e.opt.Limits.Output, 64<<20)
	def(&e.opt.Limits.Depth, 150)
	all := builtins()
	e.filters, e.tests, e.globals = all.filters, all.tests, all.globals
	return e
}

// tables are what every template finds by name.
type tables struct {
	filters, tests map[string]*builtin
	globals        map[string]any
}

// builtins makes the tables once; nobody changes them.
var builtins = sync.OnceValue(func() tables { return tables{allFilters(), allTests(), allGlobals()} })

// Template is a compiled template. It can be rendered many times and by many at once.
type Template struct {
	engine  *Engine
	tree    *syntax.Tree
	text    string // as Salt's errors show it
	path    string // "<template>" for one without a file
	name    string // "" for one without
	newline bool   // the text ended with a newline, which Jinja drops and Salt puts back
}

// Compile reads a template.
func (e *Engine) Compile(text string) (*Template, error) {
	t := &Template{engine: e, path: "<template>", newline: strings.HasSuffix(text, "\n")}
	opts, text := e.headerOptions(text)
	t.text = text
	tree, err := syntax.Parse(text, e.syntaxOptions(opts))
	if err != nil {
		return nil, e.syntaxError(t, err)
	}
	t.tree = tree
	return t, nil
}

// Render evaluates the template with these variables. Values are those of wire/payload, Func or Functions.
func (t *Template) Render(ctx context.Context, vars map[string]any) (string, error) {
	v := newVM(ctx, t.engine, vars)
	out, err := v.renderMain(t)
	if err != nil {
		return "", v.saltError(t, err)
	}
	if t.newline {
		out += "\n"
	}
	return out, nil
}

// Functions are the variable salt: salt['test.ping'] and salt.test.ping.
type Functions struct {
	Find      func(name string) (Func, bool) // test.ping
	HasModule func(name string) bool         // test
}

// value makes a variable a value of templates.
func value(v any) any {
	switch v := v.(type) {
	case Func:
		return goFunc("function", v)
	case Functions:
		return &functions{Functions: v}
	}
	return py.From(v)
}

// goFunc makes a Func a value.
func goFunc(name string, f Func) *py.Func {
	return &py.Func{Name: name, Do: func(w *py.Work, a py.Args) (any, error) {
		args, copies := make([]any, len(a.Pos)), py.NewCopies()
		var err error
		for i, v := range a.Pos {
			if args[i], err = copies.To(w, v); err != nil {
				return nil, err
			}
		}
		kwargs := payload.NewMap(len(a.Kw))
		for _, k := range a.Kw {
			v, err := copies.To(w, k.Value)
			if err != nil {
				return nil, err
			}
			kwargs.Set(k.Name, v)
		}
		out, err := f(w.Context(), args, kwargs)
		if err != nil {
			return nil, err
		}
		if m, ok := out.(*payload.Map); ok {
			return copies.Back(w, m)
		}
		return value(out), nil
	}}
}

// functions is the value of Functions; prefix is a module that was named by itself.
type functions struct {
	Functions
	prefix string
}

// TypeName is that of Salt's class.
func (f *functions) TypeName() string {
	if f.prefix != "" {
		return "LoadedMod"
	}
	return "AliasedLoader"
}

// Qualified is the name with its module.
func (f *functions) Qualified() string {
	if f.prefix != "" {
		return "salt.loader.lazy.LoadedMod"
	}
	return "salt.utils.templates.AliasedLoader"
}

// Item finds a function by its whole name.
func (f *functions) Item(_ *py.Work, key any) (any, bool, error) {
	name, ok := py.Text(key)
	if !ok || f.prefix != "" {
		return nil, false, nil
	}
	fn, ok := f.Find(name)
	if !ok {
		return nil, false, nil
	}
	return goFunc(name, fn), true, nil
}

// Attr finds a module, or a function of one.
func (f *functions) Attr(name string) (any, bool) {
	if f.prefix == "" {
		return &functions{Functions: f.Functions, prefix: name}, f.HasModule(name)
	}
	fn, ok := f.Find(f.prefix + "." + name)
	if !ok {
		return nil, false
	}
	return goFunc(name, fn), true
}

// Has says whether there is a function of that name.
func (f *functions) Has(key any) bool {
	name, ok := py.Text(key)
	if ok {
		_, ok = f.Find(name)
	}
	return ok
}
