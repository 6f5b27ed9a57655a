package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
)

// saltFilters are the filters Salt adds.
func saltFilters() map[string]*builtin {
	return map[string]*builtin{
		"tojson": guarded(filter("tojson", "val indent= **options", tojson, nil)),
		"json": guarded(filter("SerializerExtension.format_json", "value sort_keys= indent=", formatJSON, true,
			nil)),
		"yaml":      guarded(filter("SerializerExtension.format_yaml", "value flow_style=", formatYAML, true)),
		"xml":       guarded(filter("SerializerExtension.format_xml", "value", formatXML)),
		"python":    guarded(filter("SerializerExtension.format_python", "value", formatPython)),
		"load_yaml": guarded(filter("SerializerExtension.load_yaml", "value", loadYAML)),
		"load_json": guarded(filter("SerializerExtension.load_json", "value", loadJSON)),
		"load_text": guarded(filter("SerializerExtension.load_text", "value", loadText)),
	}
}

// guarded makes a filter give an undefined value for one that holds undefined ones.
func guarded(b *builtin) *builtin {
	return &builtin{b.sig, func(r *run, a []any) (any, error) {
		var messages []string
		if err := findUndefined(r, a[0], &messages, map[any]bool{}, 0); err != nil {
			return nil, err
		}
		if len(messages) > 0 {
			return r.hinted(strings.Join(messages, "\n")), nil
		}
		return b.do(r, a)
	}}
}

// findUndefined collects what undefined values would say, each container looked at once.
func findUndefined(r *run, v any, out *[]string, seen map[any]bool, depth int) error {
	if depth > 150 {
		return py.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	var items []any
	switch x := v.(type) {
	case *py.Undefined:
		if !x.Lenient && !seen[x] {
			seen[x] = true
			*out = append(*out, x.Message())
		}
		return nil
	case *py.List:
		items = x.Items
	case *py.Tuple:
		items = x.Items
	case *py.Dict:
		for k, val := range x.All() {
			items = append(items, k, val)
		}
	default:
		return nil
	}
	if seen[v] {
		return nil
	}
	seen[v] = true
	for _, item := range items {
		if err := r.work.Step(1); err != nil {
			return err
		}
		if err := findUndefined(r, item, out, seen, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func formatPython(r *run, a []any) (any, error) {
	s, err := py.Pretty(r.work, a[0], 80)
	return py.Markup(strings.TrimSpace(s)), err
}

// textOf is the text of a value that is read as data; a module stands for what it printed.
func sourceText(v any) any {
	if m, ok := v.(*module); ok {
		return m.text
	}
	return v
}

func loadText(_ *run, a []any) (any, error) { return sourceText(a[0]), nil }

func formatYAML(r *run, a []any) (any, error) {
	flow, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	if r.engine.opt.YAML == nil {
		return nil, py.Errorf("NotImplementedError", "no YAML here")
	}
	v, err := py.To(r.work, a[0])
	if err != nil {
		return nil, err
	}
	s, err := r.engine.opt.YAML.Dump(v, flow)
	if err != nil {
		return nil, err
	}
	s = strings.TrimSpace(s)
	s = strings.TrimSuffix(s, "\n...")
	return py.Markup(s), r.work.Grow(len(s))
}

func loadYAML(r *run, a []any) (any, error) {
	text := sourceText(a[0])
	s, ok := py.Text(text)
	if !ok {
		return nil, py.Errorf("TypeError", "a string or stream input is required")
	}
	if r.engine.opt.YAML == nil {
		return nil, py.Errorf("NotImplementedError", "no YAML here")
	}
	v, err := r.engine.opt.YAML.Load(s)
	if err != nil {
		return nil, py.Errorf("TemplateRuntimeError", "Encountered error loading yaml: %s", err)
	}
	if err := r.work.Grow(4 * len(s)); err != nil {
		return nil, err
	}
	return py.From(v), nil
}
