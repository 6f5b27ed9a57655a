// Package confirm says how the target of a top file is matched, for the top files of states and of pillars. It answers
// to salt/matchers/confirm_top.py.
package confirm

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// kinds are the matchers that a top file can name. "data" cannot be used on a master, in Salt neither.
var kinds = []string{"glob", "pcre", "list", "grain", "grain_pcre", "pillar", "pillar_pcre", "pillar_exact", "ipcidr",
	"range", "compound", "nodegroup", "resource", "managing_minion"}

// Kind is the matcher that the items below a target name: the last "match: KIND" among them, or compound. The errors
// are those that Python has for a value that names none.
func Kind(items []any) (string, error) {
	kind := any("compound")
	for _, item := range items {
		if m, ok := item.(*payload.Map); ok && m.Has("match") {
			kind = m.Value("match")
		}
	}
	name, ok := kind.(string)
	switch {
	case !ok:
		if _, isList := kind.([]any); isList {
			return "", &loader.ArgumentError{Message: `can only concatenate list (not "str") to list`}
		}
		return "", &loader.ArgumentError{Message: "unsupported operand type(s) for +: '" + python.Type(kind) +
			"' and 'str'"}
	case name == "data":
		return "", loader.Raise("KeyError", "'data.getval'")
	case !slices.Contains(kinds, name):
		return "", loader.Raise("KeyError", "%s", python.Repr(name+"_match.match"))
	}
	return name, nil
}
