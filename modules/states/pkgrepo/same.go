package pkgrepo

import (
	"slices"
	"strings"

	"brine/modules/execution/aptpkg"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/python"
)

// same tells whether the lists have the repository as it is wanted. Where it is written does not count.
func (r *repo) same() bool {
	r.pre.Delete("file")
	r.wanted.Delete("file")
	for v, want := range r.wanted.All() {
		key := python.Str(v)
		have, there := r.pre.Get(key)
		if !there && !r.sameWithout(key, want) || there && !r.sameWith(key, want, have) {
			return false
		}
	}
	return true
}

// sameWithout tells whether what the lists do not say is as it is wanted. Keys that they never say do not count.
func (r *repo) sameWithout(key string, want any) bool {
	switch key {
	case "enabled":
		return r.family == any("RedHat") && dicts.IsTrue(want)
	case "comps", "key_url":
		return false
	}
	return true
}

func (r *repo) sameWith(key string, want, have any) bool {
	debian := r.family == any("Debian")
	switch {
	case key == "comps" || key == "key_url":
		return sameWords(words(want), words(have), false)
	case key == "line" && debian:
		return python.Truth(r.wanted.Value("disabled")) || r.sameLine(python.Str(want), python.Str(have))
	case key == "comments" && r.family == any("RedHat"):
		return slices.Equal(commentLines(want), commentLines(have))
	case key == "architectures" && python.Truth(want):
		return sameWords(words(want), words(have), true)
	}
	_, isBool := want.(bool)
	_, wasBool := have.(bool)
	if !debian && (isBool || wasBool) {
		return dicts.IsTrue(want) == dicts.IsTrue(have)
	}
	return python.Str(want) == python.Str(have)
}

// commentLines are comments without what marks them.
func commentLines(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = strings.TrimLeft(strings.TrimLeft(python.Str(item), "#"), " \t")
	}
	return out
}

// words are the items of a list, or the letters of a text, as Python sorts either.
func words(v any) []string {
	if text, ok := v.(string); ok {
		return strings.Split(text, "")
	}
	return loader.StringList(v)
}

// sameWords compares without the order, and as sets without doubles.
func sameWords(a, b []string, sets bool) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	if sets {
		a, b = slices.Compact(a), slices.Compact(b)
	}
	return slices.Equal(a, b)
}

// sameLine compares lines; what follows the URI may be in any order.
func (r *repo) sameLine(want, have string) bool {
	have, comment, _ := strings.Cut(have, "#")
	split := func(line string) []string {
		cols := strings.Fields(line)
		if len(cols) > 3 {
			slices.Sort(cols[3:])
		}
		return cols
	}
	if !slices.Equal(split(want), split(have)) {
		return false
	}
	comments, given := r.KW.Get("comments")
	return !given || strings.TrimSpace(comment) == aptpkg.Comments(comments)
}
