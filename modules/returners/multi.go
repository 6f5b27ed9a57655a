package returners

import (
	"errors"
	"fmt"
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// multiName is the returner that stands for several, and its option.
const multiName = "multi_returner"

// multiFunctions call the returners of the option multi_returner one after the other.
func multiFunctions(reg *loader.Registry) []loader.Func {
	return []loader.Func{taker(multiName, `Hand the return to all returners of the option multi_returner.

CLI Example:

    salt '*' test.ping --return multi_returner`, func(c *loader.Call, ret *payload.Map) error {
		var all []error
		for _, name := range Expand([]string{multiName}, c.Opts()) {
			if name == multiName {
				return unusable("the option multi_returner names no returners")
			}
			if err := Return(c, reg, name, ret); err != nil {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(all...)
	})}
}

// Expand puts the returners of the option multi_returner where it is named, each once, so that one which fails can be
// tried again without the others. An option that names nothing, or itself only, is left as it is.
func Expand(names []string, opts *payload.Map) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, name := range names {
		if name != multiName {
			add(name)
			continue
		}
		parts := slices.DeleteFunc(loader.StringList(opts.Value(multiName)), func(part string) bool {
			return part == multiName
		})
		if len(parts) == 0 {
			parts = []string{multiName}
		}
		for _, part := range parts {
			add(part)
		}
	}
	return out
}
