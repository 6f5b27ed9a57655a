package returners

import (
	"fmt"

	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// Dump writes a value as Salt's JSON. What JSON has no form for is written as Python prints it; Salt fails.
func Dump(name string, v any) (string, error) {
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: -1})
	if !ok {
		return "", Refuse("%s: a key of the value has no form in JSON", name)
	}
	return text, nil
}

// Load reads such a text; where tells its place.
func Load(where, text string) (any, error) {
	v, err := pyjson.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s holds no JSON: %w", where, err)
	}
	return v, nil
}

// Word is a field of a return as Python's format() writes it.
func Word(m *payload.Map, field string) string { return python.Str(m.Value(field)) }
