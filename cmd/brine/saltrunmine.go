package main

import (
	"context"
	"slices"
	"strings"

	"brine/modules"
	"brine/modules/matchers"
	"brine/modules/returners"
	"brine/wire/payload"
)

// Keys of a mine entry that carries its own access rule (salt/utils/mine.py).
const (
	mineRule  = "__saltmine_acl__"
	mineValue = "__data__"
)

// mineReader reads mines for runner functions.
type mineReader struct {
	targets *matchers.Expander
	cache   *returners.Banks
}

// MineGet collects the values of one function (id → value) or of several (function → id → value) from the mines of
// the minions that a target means. Only minions with cached data count.
func (r mineReader) MineGet(ctx context.Context, tgt any, fun any, tgtType string) (any, error) {
	several := true
	funs := modules.StringList(fun)
	if text, ok := fun.(string); ok {
		funs = slices.Compact(slices.Sorted(strings.SplitSeq(text, ",")))
		several = len(funs) > 1
	}
	switch tgtType {
	case "pillar", "compound":
		tgtType = map[string]string{"pillar": "pillar_exact", "compound": "compound_pillar_exact"}[tgtType]
	}
	found, err := r.targets.Expand(ctx, tgt, tgtType, "", false)
	if err != nil {
		return nil, modules.ExecErr("%s", err)
	}
	out := payload.NewMap(0)
	for _, id := range found.Minions {
		mine, err := r.cache.Mine(id)
		if err != nil {
			return nil, err
		}
		for _, f := range funs {
			v, ok := mine.Get(f)
			if !ok {
				continue
			}
			if entry, isMap := v.(*payload.Map); isMap && entry.Has(mineRule) {
				v = entry.Value(mineValue)
			}
			into := out
			if several {
				if !out.Has(f) {
					out.Set(f, payload.NewMap(0))
				}
				into = out.Map(f)
			}
			into.Set(id, v)
		}
	}
	return out, nil
}
