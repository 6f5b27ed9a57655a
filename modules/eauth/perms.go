package eauth

import (
	"cmp"
	"slices"
	"strings"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Perms are the rules that a log-in shows to a user: his own, those of "*" and those of his groups ("name%"). They are for
// display, and decide nothing (see Service.Check).
//
//	external  option external_auth
//	tok       a token as MakeToken gives it: {name, eauth[, groups][, auth_list]}
//
// It returns a new list, texts without doubles and sorted, then maps by their textual form, or an empty map when there are none. The
// rules of backend rest stand in the token, as they came. Nothing of external is changed, unlike in Salt, whose list of a user grows
// with each log-in. Source: sum_permissions and sorted_permissions of salt/netapi/__init__.py, class Login of rest_cherrypy/app.py.
func Perms(external, tok *payload.Map) any {
	name, conf := tok.Str("eauth"), external.Map(tok.Str("eauth"))
	if name == restName && tok.Has("auth_list") {
		return orEmptyMap(slices.Clone(asList(tok.Value("auth_list"))))
	}
	list := slices.Concat(asList(conf.Value(tok.Str("name"))), asList(conf.Value("*")))
	groups := tok.List("groups")
	for k, v := range conf.All() {
		if key, _ := k.(string); strings.HasSuffix(key, "%") && slices.Contains(groups, any(strings.TrimRight(key, "%"))) {
			list = append(list, asList(v)...)
		}
	}
	return orEmptyMap(sortedPerms(list))
}

func orEmptyMap(list []any) any {
	if len(list) == 0 {
		return payload.NewMap(0)
	}
	return list
}

// sortedPerms puts texts before all else.
func sortedPerms(list []any) []any {
	form := func(v any) (int, string) {
		if s, ok := v.(string); ok {
			return 0, s
		}
		return 1, pytext.Repr(v)
	}
	slices.SortStableFunc(list, func(a, b any) int {
		kindA, textA := form(a)
		kindB, textB := form(b)
		return cmp.Or(cmp.Compare(kindA, kindB), cmp.Compare(textA, textB))
	})
	return slices.CompactFunc(list, func(a, b any) bool {
		kindA, textA := form(a)
		kindB, textB := form(b)
		return kindA == kindB && textA == textB
	})
}
