package pkg_resource

import (
	"strings"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// withInfo is a text with a map below it, as an operator sees it.
func withInfo(text string, info *payload.Map) string {
	if text != "" {
		if !strings.ContainsAny(text[len(text)-1:], ".?!") {
			text += "."
		}
		text += " "
	}
	return text + "Additional info follows:\n\n" + Nested(info)
}

// Nested shows a value as the outputter nested does.
func Nested(v any) string {
	text, err := outputters.Format("nested", v, outputters.Options{})
	if err != nil {
		return ""
	}
	return text
}

// Compare tells what differs between two maps of packages, sorted by name.
func Compare(old, now *payload.Map) *payload.Map {
	changes := payload.NewMap(0)
	for _, name := range sortedNames(old, now) {
		before, was := old.Get(name)
		after, is := now.Get(name)
		switch {
		case !was:
			changes.Set(name, payload.M("old", "", "new", after))
		case !is:
			changes.Set(name, payload.M("new", "", "old", before))
		case before != after:
			changes.Set(name, payload.M("old", before, "new", after))
		}
	}
	return changes
}
