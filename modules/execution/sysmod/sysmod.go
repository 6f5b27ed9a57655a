// Package sysmod is the execution module sys: documentation, signatures and lists of everything that can be called. All
// of it comes from the declarations in the registries. It answers to salt/modules/sysmod.py.
package sysmod

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// Module is the module sys.
func Module() loader.Module {
	return loader.Module{File: "sysmod", Name: "sys", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(own(), family("state", states), family("runner", runners), family("returner", returners),
			special())
	}}
}

// pick says which registry a function tells about.
type pick func(c *loader.Call) *loader.Registry

func ofMinion(c *loader.Call) *loader.Registry { return c.Registry() }

func states(c *loader.Call) *loader.Registry { return orEmpty(c.Registry().Program().States) }

func runners(c *loader.Call) *loader.Registry { return orEmpty(c.Registry().Program().Runners) }

func returners(c *loader.Call) *loader.Registry { return orEmpty(c.Registry().Program().Returners) }

func renderers(c *loader.Call) *loader.Registry { return orEmpty(c.Registry().Program().Renderers) }

func orEmpty(reg *loader.Registry) *loader.Registry {
	if reg == nil {
		return loader.NewRegistry()
	}
	return reg
}

func own() []loader.Func {
	return []loader.Func{
		loader.Fn("doc", doc(ofMinion),
			"Show the documentation of functions: all, or those of names, modules and globs.",
			"sys.doc", "sys.doc sys.doc", "sys.doc 'sys.list_*'"),
		loader.Fn("list_functions", listFunctions(ofMinion), "List functions: all, or those of modules and globs.",
			"sys.list_functions", "sys.list_functions 'module.specific_function'"),
		loader.Fn("list_modules", listModules(ofMinion), "List modules: all, or those that match.",
			"sys.list_modules", "sys.list_modules 's*'"),
		loader.Fn("argspec", argspec(ofMinion), "Show the parameters of functions.",
			"sys.argspec pkg.install", "sys.argspec 'sys.*'"),
		loader.Fn("reload_modules", reload, "Tell the minion to load its modules again.", "sys.reload_modules"),
	}
}

// family is the set of functions every other kind of module has.
func family(kind string, from pick) []loader.Func {
	spec, functions, modules := kind+"_argspec", "list_"+kind+"_functions", "list_"+kind+"s"
	if kind == "state" {
		modules = "list_state_modules"
	}
	return []loader.Func{
		loader.Fn(kind+"_doc", doc(from),
			"Show the documentation of "+kind+" functions: all, or those of names, modules and globs.",
			"sys."+kind+"_doc"),
		loader.Fn(spec, argspec(from), "Show the parameters of "+kind+" functions.", "sys."+spec),
		loader.Fn(functions, listFunctions(from), "List "+kind+" functions: all, or those of modules and globs.",
			"sys."+functions),
		loader.Fn(modules, listModules(from), "List "+kind+" modules: all, or those that match.", "sys."+modules),
	}
}

func special() []loader.Func {
	return []loader.Func{
		loader.Fn("renderer_doc", doc(renderers), "Show the documentation of renderers.", "sys.renderer_doc"),
		loader.Fn("list_renderers", listModules(renderers), "List renderers: all, or those that match.",
			"sys.list_renderers"),
		loader.Fn("state_schema", schemas(states), "Show the JSON schema of state functions.",
			"sys.state_schema pkg.installed"),
	}
}

// named are the functions or modules that a caller wants to hear of.
type named struct {
	Words []any `arg:"*args"`
}

func (a named) texts() []string {
	out := make([]string, len(a.Words))
	for i, w := range a.Words {
		out[i] = python.Str(w)
	}
	return out
}

func doc(from pick) func(*loader.Call, named) (*payload.Map, error) {
	return func(c *loader.Call, a named) (*payload.Map, error) { return from(c).Docs(a.texts()...), nil }
}

type listedFunctions struct {
	named
	KW *payload.Map `arg:"**kwargs"`
}

func listFunctions(from pick) func(*loader.Call, listedFunctions) ([]any, error) {
	return func(c *loader.Call, a listedFunctions) ([]any, error) {
		if len(a.Words) == 0 {
			return payload.AnyList(from(c).Names()), nil
		}
		out := []any{}
		for _, name := range from(c).Names() {
			if slices.ContainsFunc(a.texts(), func(w string) bool { return listed(w, name) }) {
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
		return fnmatch.Match(word, name)
	}
	return strings.HasPrefix(name, word+".")
}

func listModules(from pick) func(*loader.Call, named) ([]any, error) {
	return func(c *loader.Call, a named) ([]any, error) {
		if len(a.Words) == 0 {
			return payload.AnyList(from(c).Modules()), nil
		}
		var mods []string
		for _, name := range from(c).Names() {
			if slices.ContainsFunc(a.texts(), func(w string) bool { return meansModule(w, name) }) {
				mods = append(mods, loader.ModuleOf(name))
			}
		}
		return payload.AnyList(slices.Compact(mods)), nil
	}
}

// meansModule matches a glob against the whole function name, a plain word against the module's.
func meansModule(word, name string) bool {
	if strings.Contains(word, "*") {
		return fnmatch.Match(word, name)
	}
	return loader.ModuleOf(name) == word
}

// ofModule is a module, a function or a glob.
type ofModule struct {
	Module string `arg:"module=''"`
}

func argspec(from pick) func(*loader.Call, ofModule) (*payload.Map, error) {
	return func(c *loader.Call, a ofModule) (*payload.Map, error) { return specs(from(c), a.Module), nil }
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

type reloaded struct {
	First   any `arg:"initial_load=False"`
	Context any `arg:"context=None"`
}

func reload(c *loader.Call, _ reloaded) (any, error) {
	c.Registry().Reload()
	if m := c.Host().Minion; m != nil {
		if err := m.Reload(); err != nil {
			return nil, err
		}
	}
	return true, nil
}
