// Package match is the runner module match: it tells whether a target means a minion. Answers to salt/runners/match.py.
package match

import (
	"slices"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module match.
func Module(o runners.Options) loader.Module {
	return loader.Module{File: "match", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("compound_matches", compound(o.Targets),
				"Tell whether a compound target means a minion; pillar values compare exactly.",
				"salt-run match.compound_matches 'I@foo:bar and G@os:Deb*' web1"),
		}
	}}
}

type question struct {
	Expr any    `arg:"expr"`
	ID   string `arg:"minion_id"`
}

func compound(targets *matchers.Expander) func(*loader.Call, question) (*payload.Map, error) {
	return func(c *loader.Call, a question) (*payload.Map, error) {
		if targets == nil || !targets.DataCache || !keys.ValidID(a.ID) {
			return payload.M("res", false), nil
		}
		found, err := targets.Expand(c.Ctx, a.Expr, "compound_pillar_exact", "", false)
		if err != nil || !slices.Contains(found.Minions, a.ID) {
			return payload.M("res", false), nil
		}
		return payload.M("res", a.ID), nil
	}
}
