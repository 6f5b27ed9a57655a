package eauth

import (
	"testing"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// TestPerms: what rest_cherrypy of Salt 3008.3 shows after a log-in (sorted_permissions over sum_permissions).
func TestPerms(t *testing.T) {
	external := payload.M(
		"pam", payload.M("ann", []any{"test.ping", "@runner", payload.M("web*", []any{"pkg.*"}), "test.ping"}, "*", []any{"grains.*", payload.M("db*", []any{"a"})},
			"ops%", []any{"@wheel"}, "dev%", []any{"state.*"}),
		"rest", payload.M("^url", "http://x", "ann", []any{"never"}),
	)
	for _, tt := range []struct {
		name string
		tok  *payload.Map
		want string
	}{
		{"own and all", payload.M("eauth", "pam", "name", "ann"), "['@runner', 'grains.*', 'test.ping', {'db*': ['a']}, {'web*': ['pkg.*']}]"},
		{"groups", payload.M("eauth", "pam", "name", "zoe", "groups", []any{"ops"}), "['@wheel', 'grains.*', {'db*': ['a']}]"},
		{"a name that looks like a group", payload.M("eauth", "pam", "name", "dev", "groups", []any{"de"}), "['grains.*', {'db*': ['a']}]"},
		{"nothing", payload.M("eauth", "auto", "name", "ann"), "{}"},
		{"rules of rest, as they came", payload.M("eauth", "rest", "name", "ann", "auth_list", []any{"z", "a"}), "['z', 'a']"},
		{"rest without rules", payload.M("eauth", "rest", "name", "ann", "auth_list", nil), "{}"},
		{"rest of a token without them", payload.M("eauth", "rest", "name", "ann"), "['never']"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := pytext.Repr(external)
			for range 2 {
				if got := pytext.Repr(Perms(external, tt.tok)); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
			if pytext.Repr(external) != before {
				t.Error("the rules were changed")
			}
		})
	}
}
