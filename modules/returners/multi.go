package returners

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Multi is the returner that stands for several, and its option.
const Multi = "multi_returner"

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
		if name != Multi {
			add(name)
			continue
		}
		parts := slices.DeleteFunc(loader.StringList(opts.Value(Multi)), func(part string) bool {
			return part == Multi
		})
		if len(parts) == 0 {
			parts = []string{Multi}
		}
		for _, part := range parts {
			add(part)
		}
	}
	return out
}
