package file

import (
	"slices"
	"strings"

	"brine/modules/execution/slsutil"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/payload"
	"brine/wire/python"
)

// templates are the functions that render.
func templates() []loader.Func {
	return []loader.Func{
		loader.Fn("apply_template_on_contents", applyTemplate, "Show a text rendered as a template.",
			"file.apply_template_on_contents 'Hello {{ name }}' jinja '{name: fred}' None base"),
	}
}

// engines are the kinds of templates that Salt knows.
var engines = []string{"jinja", "mako", "py", "wempy", "genshi", "cheetah"}

// badEngine is the text of a kind of template that cannot be rendered; "" for one that can be.
func badEngine(engine any) string {
	name := python.Str(engine)
	switch {
	case name == "jinja":
		return ""
	case slices.Contains(engines, name):
		return "brine does not have the template format " + name + " yet"
	}
	return "Specified template format " + name + " is not supported"
}

type templateOf struct {
	Contents any `arg:"contents"`
	Template any `arg:"template"`
	Context  any `arg:"context"`
	Defaults any `arg:"defaults"`
	Saltenv  any `arg:"saltenv"`
}

func applyTemplate(c *loader.Call, a templateOf) (any, error) {
	if bad := badEngine(a.Template); bad != "" {
		return payload.M("result", false, "comment", bad), nil
	}
	context, _ := a.Context.(*payload.Map)
	defaults, _ := a.Defaults.(*payload.Map)
	return Render(c, loader.Text(a.Contents), loader.Text(a.Saltenv), nil, defaults, context)
}

// Render renders a text as a Jinja template of a managed file: kw are names that the call gives, over which stand those
// of defaults, and of context.
func Render(c *loader.Call, text, env string, kw, defaults, context *payload.Map) (string, error) {
	names := defaults.Clone()
	names.Update(context)
	return slsutil.Templates(c).Render(c.Ctx,
		renderers.Input{Data: text, Saltenv: env, KW: kw, Context: names, NoTree: true})
}

// templateText reads a template; its line ends become those of Unix, as in Python. ok is false for what is no text.
func templateText(name string) (text string, ok bool, err error) {
	data, err := plainfile.Read(name, program.MaxOutput())
	if err != nil {
		return "", false, err
	}
	if wrong := python.UTF8Error(data); wrong != "" {
		if binary(data) {
			return "", false, nil
		}
		return "", false, loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), true, nil
}
