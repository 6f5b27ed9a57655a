package testmod

import (
	"fmt"
	"runtime/debug"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// reports tell about the program and its functions.
func reports(opt Options) []loader.Func {
	versions := func(*loader.Call, loader.Args) (any, error) { return opt.sections(), nil }
	report := func(*loader.Call, loader.Args) (any, error) { return reportText(opt.sections()), nil }
	return []loader.Func{
		{Name: "test.version", Run: constant(opt.Version), Doc: `The Salt release this minion answers as.

CLI Example:

    salt '*' test.version`},
		{Name: "test.versions_information", Run: versions, Doc: `The versions report as a map.

CLI Example:

    salt '*' test.versions_information`},
		{Name: "test.versions_report", Run: report, Doc: `The versions report as text.

CLI Example:

    salt '*' test.versions_report`},
		{Name: "test.versions", PyName: "versions_report", Run: report, Doc: `The same as test.versions_report.

CLI Example:

    salt '*' test.versions`},
		{Name: "test.get_opts", Run: getOpts, Doc: `The options of this minion.

CLI Example:

    salt '*' test.get_opts`},
		{Name: "test.opts_pkg", Run: optsPkg, Doc: `The options of this minion with its grains among them.

CLI Example:

    salt '*' test.opts_pkg`},
		{Name: "test.conf_test", Run: confTest, Doc: `The value of the option test.foo.

CLI Example:

    salt '*' test.conf_test`},
		{Name: "test.attr_call", Run: attrCall, Doc: `The grains, by a call from one function to another.

CLI Example:

    salt '*' test.attr_call`},
		{Name: "test.module_report", Run: moduleReport, Doc: `All functions and modules that are loaded, in several lists.

CLI Example:

    salt '*' test.module_report`},
		{Name: "test.provider", Params: []loader.Param{loader.Req("module")}, Run: provider, Doc: `The name of the module that provides a virtual module.

CLI Example:

    salt '*' test.provider service`},
		{Name: "test.providers", Run: providers, Doc: `All loaded modules: name of the provider, name it is loaded as.

CLI Example:

    salt '*' test.providers`},
		{Name: "test.not_loaded", Run: constant([]any{}), Doc: `Modules that are there but did not load: none, the modules are part of the program.

CLI Example:

    salt '*' test.not_loaded`},
		{Name: "test.stack", Run: stack, Doc: `The call stack of this function.

CLI Example:

    salt '*' test.stack`},
	}
}

func (o Options) sections() *payload.Map {
	out := payload.M("Salt Version", payload.M("Salt", o.Version))
	if o.Versions != nil {
		for k, v := range o.Versions().All() {
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
				text = pytext.Str(version)
			}
			fn(pytext.Str(name), text)
		}
	}
}

func getOpts(c *loader.Call, _ loader.Args) (any, error) { return c.Opts(), nil }

func optsPkg(c *loader.Call, _ loader.Args) (any, error) {
	return c.Opts().Clone().Set("grains", c.Grains()), nil
}

func confTest(c *loader.Call, _ loader.Args) (any, error) {
	return c.Call("config.option", []any{"test.foo"}, nil)
}

func attrCall(c *loader.Call, _ loader.Args) (any, error) { return c.Call("grains.items", nil, nil) }

func moduleReport(c *loader.Call, _ loader.Args) (any, error) {
	functions, mods := payload.AnyList(c.Registry().Names()), payload.AnyList(c.Registry().Modules())
	return payload.M("functions", functions, "function_attrs", functions, "function_subs", functions,
		"modules", mods, "module_attrs", mods, "missing_attrs", []any{}, "missing_subs", []any{}), nil
}

func provider(c *loader.Call, a loader.Args) (any, error) {
	return providerOf(c.Registry(), a.Str("module")), nil
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

func providers(c *loader.Call, _ loader.Args) (any, error) {
	out := payload.NewMap(0)
	for _, mod := range c.Registry().Modules() {
		out.Set(providerOf(c.Registry(), mod), mod)
	}
	return out, nil
}

func stack(*loader.Call, loader.Args) (any, error) { return string(debug.Stack()), nil }
