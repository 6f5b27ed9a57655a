package renderers

import (
	"context"
	"errors"
	"path"
	"strings"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/renderers/jinja"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
	"brine/wire/python"
)

// Jinja is the Templater over the engine in the folder below: it says which names a template finds.
type Jinja struct {
	Opts    *payload.Map
	Grains  func() *payload.Map
	Pillar  func() *payload.Map
	Call    func(ctx context.Context, fun string, args []any, kw *payload.Map) (any, error)
	Has     func(fun string) bool // whether there is a function, or with a name without a dot, a module
	Sources jinja.Loader          // the templates that others import; nil: none
	Host    jinja.Host            // what filters see of the machine; nil: nothing
	Limits  jinja.Limits

	// Whole says that the options hold the grains and the pillar, as those of a minion do.
	Whole bool
}

// Render renders one template.
func (j Jinja) Render(ctx context.Context, in Input) (string, error) {
	text, err := textOf(in)
	if err != nil {
		return "", err
	}
	tmpl, err := jinja.New(j.options(in)).Compile(text)
	if err != nil {
		return "", templateError(err)
	}
	out, err := tmpl.Render(ctx, j.names(in))
	if err != nil {
		return "", templateError(err)
	}
	return out, nil
}

// options are those of Jinja's environment.
func (j Jinja) options(in Input) jinja.Options {
	name := "jinja_env"
	if in.SLS != "" {
		name = "jinja_sls_env"
	}
	env := payload.NewMap(0)
	for key, value := range j.Opts.Map(name).All() {
		if text, ok := key.(string); ok {
			env.Set(strings.ToLower(text), value)
		}
	}
	for _, flag := range []string{"trim_blocks", "lstrip_blocks"} {
		if python.Truth(j.Opts.Value("jinja_" + flag)) {
			env.Set(flag, true)
		}
	}
	return jinja.Options{AllowUndefined: python.Truth(j.Opts.Value("allow_undefined")), Env: env,
		Loader: j.sources(in.Saltenv), YAML: yamlOfTemplates{}, Limits: j.Limits, Host: j.Host}
}

// sources are those of an environment, where there are several.
func (j Jinja) sources(env string) jinja.Loader {
	if many, ok := j.Sources.(interface{ In(env string) jinja.Loader }); ok && env != "" {
		return many.In(env)
	}
	return j.Sources
}

// names are the variables of a template: those of Salt, the keywords of the call over them, the context over all.
func (j Jinja) names(in Input) map[string]any {
	vars := map[string]any{
		"salt":   jinja.Functions{Find: j.find, HasModule: j.Has},
		"grains": provided(j.Grains), "pillar": provided(j.Pillar), "opts": j.Opts,
		"saltenv": in.Saltenv,
	}
	if j.Whole {
		vars["opts"] = j.Opts.Clone().Set("grains", vars["grains"]).Set("pillar", provided(j.Pillar))
	}
	if !in.NoTree {
		vars["sls"] = in.SLS
		for name, value := range slsNames(in.Template, in.SLS) {
			vars[name] = value
		}
	}
	for _, more := range []*payload.Map{in.KW, in.Context} {
		for key, value := range more.All() {
			if name, ok := key.(string); ok {
				vars[name] = value
			}
		}
	}
	return vars
}

func provided(f func() *payload.Map) *payload.Map {
	if f != nil {
		if m := f(); m != nil {
			return m
		}
	}
	return payload.NewMap(0)
}

// find is salt['NAME'].
func (j Jinja) find(name string) (jinja.Func, bool) {
	if j.Call == nil || !j.Has(name) || !strings.Contains(name, ".") {
		return nil, false
	}
	return func(ctx context.Context, args []any, kw *payload.Map) (any, error) {
		v, err := j.Call(loader.Unmasked(ctx), name, args, kw)
		if err == nil {
			return v, nil
		}
		invoc := (*loader.InvocationError)(nil)
		if errors.As(err, &invoc) || loader.ClassOf(err) == "salt.exceptions.CommandExecutionError" {
			return nil, &jinja.SaltError{Text: loader.Message(err)}
		}
		return nil, errors.New(loader.Message(err))
	}, true
}

// slsNames are the variables that tell where a template stands (generate_sls_context of salt/utils/templates.py).
func slsNames(template, sls string) map[string]any {
	names := map[string]any{}
	slspath := strings.TrimRight(strings.ReplaceAll(sls, ".", "/"), "/")
	if template != "" {
		file := path.Clean(template)
		switch {
		case sls == "":
			file = file[strings.LastIndexByte(file, '/')+1:]
		case strings.HasSuffix(file, slspath+".sls"):
			file = slspath + ".sls"
		case strings.HasSuffix(file, slspath+"/init.sls"):
			file = slspath + "/init.sls"
		default: // no SLS file: the name is a path
			return map[string]any{"tplpath": template, "tplfile": sls, "tpldir": path.Dir(sls)}
		}
		slspath = strings.TrimSuffix(file[:max(strings.LastIndexByte(file, '/'), 0)], "/")
		dir := slspath
		if dir == "" {
			dir = "."
		}
		names["tplpath"], names["tplfile"], names["tpldir"] = template, file, dir
		names["tpldot"] = strings.ReplaceAll(slspath, "/", ".")
	}
	names["slspath"] = slspath
	names["slsdotpath"] = strings.ReplaceAll(slspath, "/", ".")
	names["slscolonpath"] = strings.ReplaceAll(slspath, "/", ":")
	names["sls_path"] = strings.ReplaceAll(slspath, "/", "_")
	return names
}

// failedTemplate is a SaltRenderError that is the engine's error too, for who asks by errors.As.
type failedTemplate struct{ cause error }

func templateError(err error) error { return &failedTemplate{err} }

func (e *failedTemplate) Error() string { return e.cause.Error() }

func (e *failedTemplate) Unwrap() []error {
	return []error{&loader.Exception{Class: saltyaml.RenderClass, Message: e.cause.Error()}, e.cause}
}

// yamlOfTemplates is YAML for the tags and filters of templates.
type yamlOfTemplates struct{}

func (yamlOfTemplates) Load(text string) (any, error) { return saltyaml.Load(text) }

func (yamlOfTemplates) Dump(v any, flow bool) (string, error) {
	style := outputters.FlowNever
	if flow {
		style = outputters.FlowAlways
	}
	return outputters.DumpYAMLBy(v, outputters.YAMLOptions{Flow: style, Ordered: true}), nil
}
