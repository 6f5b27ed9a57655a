package netapi

import (
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Permissions lists what a user may do, for display: the entries of his name, of everybody and of his groups; texts
// first, sorted and once each, then the others by their text. rules is external_auth of the backend. No permissions are
// an empty map (salt/netapi/__init__.py, sum_permissions and sorted_permissions).
func Permissions(rules *payload.Map, name string, groups []any) any {
	all := slices.Concat(entries(rules, name), entries(rules, "*"))
	for i, g := range groups {
		if text, ok := g.(string); ok && !slices.Contains(groups[:i], g) {
			all = append(all, entries(rules, strings.TrimRight(text, "%")+"%")...)
		}
	}
	var texts []string
	var others []any
	for _, p := range all {
		if text, ok := p.(string); ok {
			texts = append(texts, text)
		} else {
			others = append(others, p)
		}
	}
	slices.Sort(texts)
	out := payload.AnyList(slices.Compact(texts))
	slices.SortStableFunc(others, func(a, b any) int { return strings.Compare(python.Repr(a), python.Repr(b)) })
	if out = append(out, others...); len(out) == 0 {
		return payload.NewMap(0)
	}
	return out
}

func entries(rules *payload.Map, key string) []any {
	if rules == nil {
		return nil
	}
	return rules.List(key)
}
