// Package sysmod holds the execution functions of module sys: documentation, signatures and lists of everything
// that can be called. All of it comes from the declarations in the registries. It answers to
// salt/modules/sysmod.py.
package sysmod

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Sources are the other registries the module tells about; nil ones are empty.
type Sources struct {
	States, Runners, Returners, Renderers *loader.Registry
}

// Functions lists the module's functions.
func Functions(src Sources) []loader.Func {
	empty := loader.NewRegistry()
	for _, r := range []**loader.Registry{&src.States, &src.Runners, &src.Returners, &src.Renderers} {
		if *r == nil {
			*r = empty
		}
	}
	funcs := slices.Concat(own(), family("state", src.States), family("runner", src.Runners), family("returner", src.Returners),
		special(src))
	for i := range funcs {
		funcs[i].Source = "salt/modules/sysmod.py"
	}
	return funcs
}

// pick says which registry a function tells about.
type pick func(c *loader.Call) *loader.Registry

func fixed(reg *loader.Registry) pick { return func(*loader.Call) *loader.Registry { return reg } }

func ofMinion(c *loader.Call) *loader.Registry { return c.Registry() }

func own() []loader.Func {
	return []loader.Func{
		{Name: "sys.doc", VarArgs: true, Run: doc(ofMinion), Doc: `Show the documentation of functions: all, or those of names, modules and globs.

CLI Example:

    salt '*' sys.doc
    salt '*' sys.doc sys.doc
    salt '*' sys.doc 'sys.list_*'`},
		{Name: "sys.list_functions", VarArgs: true, KWArgs: true, Run: listFunctions(ofMinion), Doc: `List functions: all, or those of modules and globs.

CLI Example:

    salt '*' sys.list_functions
    salt '*' sys.list_functions 'module.specific_function'`},
		{Name: "sys.list_modules", VarArgs: true, Run: listModules(ofMinion), Doc: `List modules: all, or those that match.

CLI Example:

    salt '*' sys.list_modules
    salt '*' sys.list_modules 's*'`},
		{Name: "sys.argspec", Params: moduleParam(), Run: argspec(ofMinion), Doc: `Show the parameters of functions.

CLI Example:

    salt '*' sys.argspec pkg.install
    salt '*' sys.argspec 'sys.*'`},
		{Name: reloadModules, Params: []loader.Param{loader.Opt("initial_load", false), loader.Opt("context", nil)}, Run: reload, Doc: `Tell the minion to load its modules again.

CLI Example:

    salt '*' sys.reload_modules`},
	}
}

func moduleParam() []loader.Param { return []loader.Param{loader.Opt("module", "")} }

// family is the set of functions every other kind of module has.
func family(kind string, reg *loader.Registry) []loader.Func {
	from := fixed(reg)
	names := "sys.list_" + kind + "s"
	if kind == "state" {
		names = "sys.list_state_modules"
	}
	example := func(fun string) string { return "\n\nCLI Example:\n\n    salt '*' " + fun }
	return []loader.Func{
		{Name: "sys." + kind + "_doc", VarArgs: true, Run: doc(from),
			Doc: "Show the documentation of " + kind + " functions: all, or those of names, modules and globs." + example("sys."+kind+"_doc")},
		{Name: "sys." + kind + "_argspec", Params: moduleParam(), Run: argspec(from),
			Doc: "Show the parameters of " + kind + " functions." + example("sys."+kind+"_argspec")},
		{Name: "sys.list_" + kind + "_functions", VarArgs: true, KWArgs: true, Run: listFunctions(from),
			Doc: "List " + kind + " functions: all, or those of modules and globs." + example("sys.list_"+kind+"_functions")},
		{Name: names, VarArgs: true, Run: listModules(from), Doc: "List " + kind + " modules: all, or those that match." + example(names)},
	}
}

func special(src Sources) []loader.Func {
	return []loader.Func{
		{Name: "sys.renderer_doc", VarArgs: true, Run: doc(fixed(src.Renderers)), Doc: `Show the documentation of renderers.

CLI Example:

    salt '*' sys.renderer_doc`},
		{Name: "sys.list_renderers", VarArgs: true, Run: listModules(fixed(src.Renderers)), Doc: `List renderers: all, or those that match.

CLI Example:

    salt '*' sys.list_renderers`},
		{Name: "sys.state_schema", Params: moduleParam(), Run: schemas(fixed(src.States)), Doc: `Show the JSON schema of state functions.

CLI Example:

    salt '*' sys.state_schema pkg.installed`},
	}
}

func words(a loader.Args) []string {
	out := make([]string, len(a.Rest))
	for i, w := range a.Rest {
		out[i] = pytext.Str(w)
	}
	return out
}

func doc(from pick) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) { return from(c).Docs(words(a)...), nil }
}

func listFunctions(from pick) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		if len(a.Rest) == 0 {
			return payload.AnyList(from(c).Names()), nil
		}
		out := []any{}
		for _, name := range from(c).Names() {
			if slices.ContainsFunc(words(a), func(w string) bool { return listed(w, name) }) {
				out = append(out, name)
			}
		}
		return out, nil
	}
}

// listed tells whether a word of list_functions or argspec means a function: a glob over the whole name where it
// has a star or a dot, else the name of the module.
func listed(word, name string) bool {
	if strings.ContainsAny(word, "*.") {
		return matchers.GlobMatch(word, name)
	}
	return strings.HasPrefix(name, word+".")
}

func listModules(from pick) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		if len(a.Rest) == 0 {
			return payload.AnyList(from(c).Modules()), nil
		}
		var mods []string
		for _, name := range from(c).Names() {
			if slices.ContainsFunc(words(a), func(w string) bool { return meansModule(w, name) }) {
				mods = append(mods, loader.ModuleOf(name))
			}
		}
		return payload.AnyList(slices.Compact(mods)), nil
	}
}

// meansModule matches a glob against the whole function name, a plain word against the module's.
func meansModule(word, name string) bool {
	if strings.Contains(word, "*") {
		return matchers.GlobMatch(word, name)
	}
	return loader.ModuleOf(name) == word
}

func argspec(from pick) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) { return specs(from(c), a.Str("module")), nil }
}

// reloadModules is a method of the minion itself in the reference, with its parameters, and stands before all others.
const reloadModules = "sys.reload_modules"

func specs(reg *loader.Registry, word string) *payload.Map {
	out := payload.NewMap(0)
	names := slices.DeleteFunc(slices.Clone(reg.Names()), func(name string) bool { return name == reloadModules })
	for _, name := range append([]string{reloadModules}, names...) {
		if !listed(word, name) {
			continue
		}
		if f, ok := reg.Lookup(name); ok {
			out.Set(name, f.ArgSpec())
		}
	}
	return out
}

func reload(c *loader.Call, _ loader.Args) (any, error) {
	c.Registry().Reload()
	if m := c.Host().Minion; m != nil {
		if err := m.Reload(); err != nil {
			return nil, err
		}
	}
	return true, nil
}
