// Package jinja holds the execution functions of the module jinja, which read data out of templates and files of the
// tree as formulas do. It answers to salt/modules/jinja.py.
package jinja

import (
	"brine/modules/execution/slsutil"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/python"
)

// Module is the module jinja.
func Module() loader.Module {
	return loader.Module{File: "jinja", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("load_map", loadMap, "Give a value of a template, as a formula imports it.",
				"jinja.load_map myformula/map.jinja myformula"),
			loader.Fn("import_yaml", imports("yaml"), "Give what a template loads from a YAML file.",
				"jinja.import_yaml myformula/foo.yaml"),
			loader.Fn("import_json", imports("json"), "Give what a template loads from a JSON file.",
				"jinja.import_json myformula/foo.json"),
		}
	}}
}

type (
	// template is a file of the tree.
	template struct {
		Path any `arg:"path"`
	}
	valueOf struct {
		template
		Value any `arg:"value"`
	}
)

func loadMap(c *loader.Call, a valueOf) (any, error) {
	value := python.Str(a.Value)
	return throughJSON(c, `{% from "`+python.Str(a.Path)+`" import `+value+" with context %}\n{{ "+value+
		" | tojson }}\n")
}

// imports loads a file as a template's tag import_FORMAT does.
func imports(format string) func(*loader.Call, template) (any, error) {
	return func(c *loader.Call, a template) (any, error) {
		return throughJSON(c, "{% import_"+format+` "`+python.Str(a.Path)+
			"\" as imported %}\n{{ imported | tojson }}\n")
	}
}

// throughJSON renders a template by the minion's option renderer.
func throughJSON(c *loader.Call, text string) (any, error) {
	pipe := c.Opts().Str("renderer")
	if pipe == "" {
		pipe = "jinja|yaml"
	}
	return slsutil.Compile(c, pipe, renderers.Input{Template: renderers.InString, Data: text})
}
