package config

import (
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// validate warns about options whose type is not the one that Salt wants (salt/config, _validate_opts). Only
// what the files say is looked at.
func (ld *loading) validate(opts *payload.Map) error {
	var types *payload.Map // read only when it is needed, which is seldom
	for _, key := range ld.layers.written {
		if std, ok := ld.standard.Get(key); ok && python.Type(std) == python.Type(opts.Value(key)) {
			continue
		}
		if types == nil {
			var err error
			if types, err = table("types"); err != nil {
				return &Error{Code: ExitGeneric, Err: err}
			}
		}
		want, ok := types.Get(key)
		if !ok {
			continue
		}
		v, _ := opts.Get(key)
		if s, ok := v.(string); ok && strings.HasPrefix(s, "sdb://") {
			continue // known only when it is looked up
		}
		names := typeNames(want)
		if !fits(v, names) {
			ld.warned[python.Str(key)] = true
			shown, _ := Redacted(payload.M(key, v)).Get(key)
			ld.warn("Config option '%s' with value %s has an invalid type of %s, a %s is required for this option%s",
				python.Str(key), python.Str(shown), python.Type(v), orList(names), ld.fromVariable(python.Str(key)))
		}
	}
	return nil
}

// typeNames lists the Python types of an option.
func typeNames(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{python.Str(v)}
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = python.Str(e)
	}
	return names
}

// orList joins names as "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// lossy names, for each type, the types of values that Python converts into it but that are not meant.
func lossy(name string) []string {
	switch name {
	case "str":
		return []string{"list", "tuple", "dict"}
	case "list", "tuple":
		return []string{"dict", "str"}
	case "bool":
		return []string{"list", "tuple", "str", "int", "float", "dict", "NoneType"}
	case "int":
		return []string{"bool", "float"}
	case "float":
		return []string{"bool"}
	}
	return nil
}

// fits says whether Salt takes a value for one of the types without a warning.
func fits(v any, names []string) bool {
	have := python.Type(v)
	if slices.Contains(names, have) {
		return true
	}
	if len(names) == 1 {
		return converts(v, names[0]) && !slices.Contains(lossy(names[0]), have)
	}
	for _, name := range names {
		bad := lossy(name)
		if bad == nil || !converts(v, name) {
			continue
		}
		if !slices.Contains(bad, have) || slices.Contains(names, have) {
			return true
		}
	}
	return false
}

// converts says whether Python's constructor of a type takes a value.
func converts(v any, name string) bool {
	switch name {
	case "str", "bool":
		return true
	case "list", "tuple":
		switch v.(type) {
		case string, []byte, []any, *payload.Map:
			return true
		}
	case "dict":
		l, ok := v.([]any)
		return ok && len(l) == 0 || v == ""
	case "int":
		_, err := python.Int(v)
		return err == nil
	case "float":
		if s, ok := v.(string); ok {
			_, err := python.ParseFloat(s)
			return err == nil
		}
		_, ok := python.Number(v)
		return ok
	}
	return false
}
