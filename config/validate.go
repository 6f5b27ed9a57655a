package config

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// validate warns about options whose type is not the one that Salt wants (salt/config, _validate_opts). Only
// what the files say is looked at.
func (ld *loading) validate(opts *payload.Map) error {
	var types *payload.Map // read only when it is needed, which is seldom
	for _, key := range ld.layers.written {
		if std, ok := ld.standard.Get(key); ok && pyType(std) == pyType(opts.Value(key)) {
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
			ld.warned[pyStr(key)] = true
			shown, _ := Redacted(payload.M(key, v)).Get(key)
			ld.warn("Config option '%s' with value %s has an invalid type of %s, a %s is required for this option%s",
				pyStr(key), pyStr(shown), pyType(v), orList(names), ld.fromVariable(pyStr(key)))
		}
	}
	return nil
}

// typeNames lists the Python types of an option.
func typeNames(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{pyStr(v)}
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = pyStr(e)
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
	have := pyType(v)
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
		return asInt(v)
	case "float":
		if s, ok := v.(string); ok {
			_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			return err == nil
		}
		_, ok := number(v)
		return ok
	}
	return false
}

func asInt(v any) bool {
	if s, ok := v.(string); ok {
		_, ok := new(big.Int).SetString(strings.TrimSpace(s), 10)
		return ok
	}
	_, ok := number(v)
	return ok
}
