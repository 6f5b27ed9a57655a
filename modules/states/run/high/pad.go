package high

import (
	"slices"
	"strings"

	"brine/wire/payload"
)

// Pad brings short forms into the full one, in place: "id: pkg.installed" and "id: {pkg.installed: [...]}" name the
// function as an argument of the module. A module that has a function already keeps a second one as it is, which Verify
// refuses.
func Pad(high *payload.Map) {
	for _, id := range high.Keys() {
		switch body := high.Value(id).(type) {
		case string:
			if module, fun, ok := strings.Cut(body, "."); ok {
				high.Set(id, payload.M(module, []any{fun}))
			}
		case *payload.Map:
			padBody(body)
		}
	}
}

func padBody(body *payload.Map) {
	var keys []string
	for _, k := range body.Keys() {
		if name, ok := k.(string); ok {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	seen := map[string]bool{}
	for _, key := range keys {
		args, isList := body.Value(key).([]any)
		if strings.HasPrefix(key, "_") || !isList {
			continue
		}
		module, fun, dotted := strings.Cut(key, ".")
		if dotted {
			if seen[module] {
				continue
			}
			body.Delete(key)
			body.Set(module, append(slices.Clone(args), fun))
		}
		seen[module] = true
	}
}
