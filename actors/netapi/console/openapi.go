package console

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// schema is a JSON Schema, a path or another part of an OpenAPI file.
type schema = map[string]any

// describe makes the OpenAPI file of routes. It reads the Go types of their bodies and answers.
func describe(table []route) []byte {
	types, paths := schema{}, map[string]schema{}
	wrong := schema{"description": "what is wrong, in words",
		"content": jsonContent(refer(types, reflect.TypeFor[Problem]()))}
	for _, r := range table {
		answer := schema{"description": "done"}
		if r.Answer != nil {
			kind := "application/json"
			if r.Streams {
				kind = "text/event-stream"
			}
			answer["content"] = schema{kind: schema{"schema": refer(types, reflect.TypeOf(r.Answer))}}
		}
		op := schema{"summary": r.Help, "responses": schema{"200": answer, "default": wrong}, "x-right": r.Right}
		if r.Open {
			op["security"] = []any{}
		}
		op["parameters"] = parameters(r)
		if r.Tables != nil {
			tables := schema{}
			for name, row := range r.Tables {
				tables[name] = refer(types, reflect.TypeOf(row))
			}
			op["x-tables"] = tables
		}
		if r.Body != nil {
			op["requestBody"] = schema{"required": true, "content": jsonContent(refer(types, reflect.TypeOf(r.Body)))}
		}
		if paths[r.Path] == nil {
			paths[r.Path] = schema{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = op
	}
	doc := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "The console of salt-api", "version": "1",
			"description": "What the page at /console stands on. Write requests need the header " + writeHeader + "."},
		"security": []any{schema{"session": []string{}}},
		"paths":    paths,
		"components": schema{"schemas": types,
			"securitySchemes": schema{"session": schema{"type": "apiKey", "in": "cookie", "name": "session_id"}}},
	}
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil { // impossible: it consists of maps and texts
		return []byte("{}")
	}
	return append(text, '\n')
}

func jsonContent(s schema) schema { return schema{"application/json": schema{"schema": s}} }

func parameters(r route) []any {
	list := []any{}
	for _, p := range r.Params {
		list = append(list, schema{"name": p.Name, "in": p.In, "description": p.Help, "required": p.In == "path",
			"schema": schema{"type": "string"}})
	}
	if r.Method != "GET" {
		list = append(list, schema{"name": writeHeader, "in": "header",
			"description": "any text: it shows that no other site asks", "required": true,
			"schema": schema{"type": "string"}})
	}
	return list
}

// refer is the schema of a type. It adds structs to types once, under their names.
func refer(types schema, t reflect.Type) schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return schema{"description": "any JSON"}
	case t.Kind() == reflect.Pointer:
		return refer(types, t.Elem())
	case t.Kind() == reflect.Slice:
		return schema{"type": "array", "items": refer(types, t.Elem())}
	case t.Kind() == reflect.Map:
		return schema{"type": "object", "additionalProperties": refer(types, t.Elem())}
	case t.Kind() == reflect.Struct:
		if types[t.Name()] == nil {
			types[t.Name()] = true // for a type that contains itself
			types[t.Name()] = fields(types, t)
		}
		return schema{"$ref": "#/components/schemas/" + t.Name()}
	}
	kind, ok := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer",
		reflect.Int64:   "integer",
		reflect.Float64: "number"}[t.Kind()]
	if !ok {
		kind = "null"
	}
	return schema{"type": kind}
}

// fields is the schema of a struct's JSON.
func fields(types schema, t reflect.Type) schema {
	props, needed := schema{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		one := maps.Clone(refer(types, f.Type))
		if doc := f.Tag.Get("doc"); doc != "" {
			one["description"] = doc
		}
		props[name] = one
		if !slices.Contains(strings.Split(more, ","), "omitempty") {
			needed = append(needed, name)
		}
	}
	s := schema{"type": "object", "properties": props}
	if len(needed) > 0 {
		s["required"] = needed
	}
	return s
}
