package test

import (
	"fmt"
	"runtime/debug"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// reports tell about the program and its functions.
func reports() []loader.Func {
	return []loader.Func{
		loader.Fn("version", version, "The Salt release this minion answers as.", "test.version"),
		loader.Fn("versions_information", versions, "The versions report as a map.", "test.versions_information"),
		loader.Fn("versions_report", report, "The versions report as text.", "test.versions_report"),
		loader.Fn("versions", report, "The same as test.versions_report.", "test.versions").Named("versions_report"),
		loader.Fn("get_opts", getOpts, "The options of this minion.", "test.get_opts"),
		loader.Fn("opts_pkg", optsPkg, "The options of this minion with its grains among them.",
			"test.opts_pkg"),
		loader.Fn("conf_test", confTest, "The value of the option test.foo.", "test.conf_test"),
		loader.Fn("attr_call", attrCall, "The grains, by a call from one function to another.", "test.attr_call"),
		loader.Fn("module_report", moduleReport, "All functions and modules that are loaded, in several lists.",
			"test.module_report"),
		loader.Fn("provider", provider, "The name of the module that provides a virtual module.",
			"test.provider service"),
		loader.Fn("providers", providers, "All loaded modules: name of the provider, name it is loaded as.",
			"test.providers"),
		loader.Fn("not_loaded", constant[struct{}]([]any{}),
			"Modules that are there but did not load: none, the modules are part of the program.", "test.not_loaded"),
		loader.Fn("stack", stack, "The call stack of this function.", "test.stack"),
	}
}

func version(c *loader.Call, _ struct{}) (string, error) { return c.Registry().Program().Version, nil }

func versions(c *loader.Call, _ struct{}) (*payload.Map, error) {
	return sections(c.Registry().Program()), nil
}

func report(c *loader.Call, _ struct{}) (string, error) {
	return reportText(sections(c.Registry().Program())), nil
}

func sections(p loader.Program) *payload.Map {
	out := payload.M("Salt Version", payload.M("Salt", p.Version))
	if p.Versions != nil {
		for k, v := range p.Versions().All() {
			out.Set(k, v)
		}
	}
	return out
}

// reportText lays the sections out as --versions-report does: names right-aligned in one column, a line with
// one blank after each section.
func reportText(sections *payload.Map) string {
	width := 0
	each(sections, func(name, _ string) { width = max(width, len(name)) })
	var b strings.Builder
	for title, v := range sections.All() {
		section, _ := v.(*payload.Map)
		fmt.Fprintf(&b, "%s:\n", title)
		each(payload.M(title, section), func(name, version string) {
			fmt.Fprintf(&b, "%*s: %s\n", width+2, name, version)
		})
		b.WriteString(" \n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func each(sections *payload.Map, fn func(name, version string)) {
	for _, v := range sections.All() {
		section, _ := v.(*payload.Map)
		for name, version := range section.All() {
			text := "Not Installed"
			if version != nil {
				text = python.Str(version)
			}
			fn(python.Str(name), text)
		}
	}
}

func getOpts(c *loader.Call, _ struct{}) (any, error) { return c.Opts(), nil }

func optsPkg(c *loader.Call, _ struct{}) (any, error) {
	return c.Opts().Clone().Set("grains", c.Grains()), nil
}

func confTest(c *loader.Call, _ struct{}) (any, error) {
	return c.Call("config.option", []any{"test.foo"}, nil)
}

func attrCall(c *loader.Call, _ struct{}) (any, error) { return c.Call("grains.items", nil, nil) }

func moduleReport(c *loader.Call, _ struct{}) (any, error) {
	functions, mods := payload.AnyList(c.Registry().Names()), payload.AnyList(c.Registry().Modules())
	return payload.M("functions", functions, "function_attrs", functions, "function_subs", functions,
		"modules", mods, "module_attrs", mods, "missing_attrs", []any{}, "missing_subs", []any{}), nil
}

type provided struct {
	Module string `arg:"module"`
}

func provider(c *loader.Call, a provided) (any, error) {
	return providerOf(c.Registry(), a.Module), nil
}

// providerOf is the base name of the file a module's functions answer to, "" when it is not loaded.
func providerOf(reg *loader.Registry, module string) string {
	for _, name := range reg.Select(module + ".") {
		f, _ := reg.Lookup(name)
		base := f.Source[strings.LastIndexByte(f.Source, '/')+1:]
		return strings.TrimSuffix(base, ".py")
	}
	return ""
}

func providers(c *loader.Call, _ struct{}) (any, error) {
	out := payload.NewMap(0)
	for _, mod := range c.Registry().Modules() {
		out.Set(providerOf(c.Registry(), mod), mod)
	}
	return out, nil
}

func stack(*loader.Call, struct{}) (any, error) { return string(debug.Stack()), nil }
