package perform

import (
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// unified is a return in the form that all have: a text as comment, and a truth value or None as result. One that is
// not of the right form becomes a failure. Source: salt/utils/decorators/state.py.
func unified(ret *payload.Map) *payload.Map {
	wrong := ""
	if _, isMap := ret.Value("changes").(*payload.Map); !isMap {
		wrong = "'Changes' should be a dictionary."
	} else {
		var lacks []string
		for _, key := range []string{"name", "result", "changes", "comment"} {
			if !ret.Has(key) {
				lacks = append(lacks, key)
			}
		}
		if lacks != nil {
			wrong = "The following keys were not present in the state return: " + strings.Join(lacks, ", ") + "."
		}
	}
	if wrong != "" {
		return payload.M("result", false, "name", "later", "changes", payload.NewMap(0), "comment",
			"An exception occurred in this state: "+wrong)
	}
	if list, ok := ret.Value("comment").([]any); ok {
		lines := make([]string, len(list))
		for i, line := range list {
			lines[i] = python.Str(line)
		}
		ret.Set("comment", strings.Join(lines, "\n"))
	}
	if v := ret.Value("result"); v != nil {
		ret.Set("result", python.Truth(v))
	}
	return ret
}
