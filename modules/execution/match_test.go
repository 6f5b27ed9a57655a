package execution_test

import (
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestIfElse: the global of templates matches targets, and the dictionary that it changes is the template's.
func TestIfElse(t *testing.T) {
	env := &loader.Env{Registry: registry(t), ID: "web1", Opts: func() *payload.Map {
		return payload.M("nodegroups", payload.M("near", "web*,db*"))
	},
		Grains: func() *payload.Map {
			return payload.M("role", "front")
		}, Pillar: func() *payload.Map { return payload.M("place", "north") }}
	for text, want := range map[string]string{
		"{{ ifelse('db*', 'd', 'G@role:front', 'w', 'x') }}":                                  "w",
		"{{ ifelse('db*', 'd', 'I@place:south', 'w', 'x') }}":                                 "x",
		"{{ ifelse('db*', 'd', 'x', minion_id='db7') }}":                                      "d",
		"{{ ifelse('role:f*', 'f', 'x', tgt_type='grain') }}":                                 "f",
		"{{ ifelse(False, 1, True, 2, 3) }}":                                                  "2",
		"{% set d = {'a': 1} %}{% do ifelse('*', d, 3, merge={'b': 2}) %}{{ d }}":             "{'a': 1, 'b': 2}",
		"{{ salt['match.filter_by']({'db*': 'd', 'E@w.b': 'w', 'default': 'x'}) }}":           "w",
		"{{ salt.match.search_by({'a': ['web1'], 'b': ['db*', 'G@role:f*'], 'c': ['no']}) }}": "['a', 'b']",
	} {
		v, _, err := modtest.Call(t, env, "slsutil.renderer", nil, payload.M("string", text, "default_renderer",
			"jinja"))
		if got := loader.Text(v); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
	}
}
