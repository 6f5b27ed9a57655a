package sysmod

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// schemas describes functions as JSON schemas: every parameter may be a boolean, a number or a text.
func schemas(from pick) func(*loader.Call, ofModule) ([]any, error) {
	return func(c *loader.Call, a ofModule) ([]any, error) {
		out := []any{}
		reg := from(c)
		for _, name := range reg.Names() {
			if f, ok := reg.Lookup(name); ok && listed(a.Module, name) {
				out = append(out, schema(f))
			}
		}
		return out, nil
	}
}

func schema(f *loader.Func) *payload.Map {
	properties, order := payload.NewMap(0), []any{}
	for _, p := range f.Params {
		properties.Set(p.Name, payload.M("oneOf", choices(p)))
		order = append(order, p.Name)
	}
	return payload.M("$schema", "http://json-schema.org/draft-04/schema#", "title", f.Name, "description", f.Name,
		"type", "object", "properties", properties, "x-ordering", order, "additionalProperties", false)
}

func choices(p loader.Param) []any {
	var out []any
	for _, kind := range []string{"boolean", "integer", "number", "string"} {
		m := payload.M("type", kind, "title", p.Name, "description", p.Name)
		if !p.Required {
			m.Set("default", p.Default)
		}
		out = append(out, m)
	}
	return out
}
