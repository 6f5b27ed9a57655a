package test

import (
	"slices"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type checked struct {
	Name       any  `arg:"name"`
	Present    any  `arg:"present=None"`
	Boolean    any  `arg:"boolean=None"`
	Integer    any  `arg:"integer=None"`
	String     any  `arg:"string=None"`
	Listing    any  `arg:"listing=None"`
	Dictionary any  `arg:"dictionary=None"`
	Verbose    bool `arg:"verbose=False"`
}

// wantedType is a type of Python with the keys that must have it.
type wantedType struct {
	name string // as str() shows it; "" is any
	keys any
	is   func(v any) bool
}

func (a checked) types() []wantedType {
	return []wantedType{
		{"", a.Present, func(any) bool { return true }},
		{"<class 'bool'>", a.Boolean, func(v any) bool { _, ok := v.(bool); return ok }},
		{"<class 'int'>", a.Integer, isInteger},
		{"(<class 'str'>,)", a.String, func(v any) bool { _, ok := v.(string); return ok }},
		{"<class 'list'>", a.Listing, func(v any) bool { _, ok := v.([]any); return ok }},
		{"<class 'dict'>", a.Dictionary, func(v any) bool { _, ok := v.(*payload.Map); return ok }},
	}
}

// isInteger tells what Python counts as one: a truth value is.
func isInteger(v any) bool {
	switch v.(type) {
	case int64, int, uint64, bool:
		return true
	}
	return false
}

// checkPillar is the same in test mode.
func checkPillar(c *states.Call, a checked) (states.Plan, error) {
	types := a.types()
	if !slices.ContainsFunc(types, func(w wantedType) bool { return python.Truth(w.keys) }) {
		return states.Plan{}, loader.InvocErr("Missing required argument text.")
	}
	failed, fine := payload.NewMap(0), payload.NewMap(0)
	for _, wanted := range types {
		keys, err := listOf(wanted.keys)
		if err != nil {
			return states.Plan{}, err
		}
		for _, key := range keys {
			v, err := c.Salt("pillar.get", nil, key, nil)
			switch {
			case err != nil:
				return states.Plan{}, err
			case v == nil:
				failed.Set(key, "")
			case !wanted.is(v):
				failed.Set(key, wanted.name)
			default:
				fine.Set(key, wanted.name)
			}
		}
	}
	return states.Plan{Result: failed.Len() == 0, Comment: told(failed, fine, a.Verbose)}, nil
}

// listOf is a list, or one text as a list.
func listOf(v any) ([]any, error) {
	switch x := v.(type) {
	case string:
		if x != "" {
			return []any{x}, nil
		}
	case []any:
		return x, nil
	}
	if python.Truth(v) {
		return nil, loader.Raise("TypeError", "")
	}
	return nil, nil
}

// told says which keys failed and, if that is wanted, which did not.
func told(failed, fine *payload.Map, verbose bool) (text string) {
	for key, v := range failed.All() {
		text += `Pillar key "` + python.Str(key) + `" `
		if v == "" {
			text += "is missing.\n"
		} else {
			text += "is not " + v.(string) + ".\n"
		}
	}
	if !verbose || fine.Len() == 0 {
		return text
	}
	text += "Those keys passed the check:\n"
	for key, v := range fine.All() {
		name := v.(string)
		if name == "" {
			name = "None"
		}
		text += "- " + python.Str(key) + " (" + name + ")\n"
	}
	return text
}
