package configparser

import (
	"fmt"
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

func fault(format string, a ...any) error { return &Error{fmt.Sprintf(format, a...)} }

// Dump writes a map of maps. Keys become small letters, values what str() makes of them. Its errors are *Error.
func Dump(v any) (string, error) {
	sections, ok := v.(*payload.Map)
	if !ok {
		return "", fault("configparser can only serialize dictionaries, not <class '%s'>", python.Type(v))
	}
	var first, others strings.Builder
	seen := map[string]bool{}
	for k, values := range sections.All() {
		name := python.Str(k)
		if seen[name] {
			return "", fault("Section %s already exists", python.Repr(name))
		}
		seen[name] = true
		out := &others
		if name == defaults {
			out = &first
		}
		if err := writeSection(out, name, values); err != nil {
			return "", err
		}
	}
	return first.String() + others.String(), nil
}

func writeSection(out *strings.Builder, name string, values any) error {
	keys, ok := values.(*payload.Map)
	if !ok {
		return fault("'%s' object has no attribute 'items'", python.Type(values))
	}
	if name == defaults && keys.Len() == 0 {
		return nil
	}
	lines := payload.NewMap(keys.Len()) // a later key that differs by case alone takes the place of the first
	for k, v := range keys.All() {
		if v == nil {
			return fault("option values must be strings")
		}
		value := python.Str(v)
		if err := writable(value); err != nil {
			return err
		}
		lines.Set(strings.ToLower(python.Str(k)), value)
	}
	out.WriteString("[" + name + "]\n")
	for k, v := range lines.All() {
		out.WriteString(k.(string) + " = " + strings.ReplaceAll(v.(string), "\n", "\n\t") + "\n")
	}
	out.WriteString("\n")
	return nil
}

// references are the names of other values inside of one.
var references = pattern.New(`%\([^)]+\)s`)

// writable refuses a value whose % could not be read again.
func writable(value string) error {
	left := references.ReplaceAllString(strings.ReplaceAll(value, "%%", ""), "")
	if at := strings.IndexByte(left, '%'); at >= 0 {
		return fault("invalid interpolation syntax in %s at position %d", python.Repr(value), len([]rune(left[:at])))
	}
	return nil
}
