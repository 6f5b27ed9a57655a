package master

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// defaultDelimiter separates the parts of a grain target; only another one is published.
const defaultDelimiter = payload.DefaultDelimiter

// targets knows whom a target means, by the keys and the data of the minions.
type targets struct {
	expander *matchers.Expander
	rules    *atomic.Pointer[rules] // target_timeout
	log      *slog.Logger
}

// newTargets reads keys and data of minions from the stores, and node groups from the rules in force.
func newTargets(st *stores, dataCache bool, rules *atomic.Pointer[rules], log *slog.Logger) *targets {
	return &targets{rules: rules, log: log, expander: &matchers.Expander{
		Source: targetSource{st.keys, st.cache}, DataCache: dataCache,
		Groups: func() *payload.Map { return rules.Load().nodegroups },
	}}
}

// targetSource is what the master knows of its minions when it expands a target.
type targetSource struct {
	keys *keys.Store
	*datacache.Banks
}

// Accepted lists the ids with an accepted key.
func (t targetSource) Accepted() ([]string, error) { return t.keys.IDs(keys.Accepted) }

// found is who a target means: the minions to wait for, and the ids of a list that are no minions.
type found struct{ Minions, Missing []string }

// expand is who a target means, minions that nothing is known of included. What cannot be worked out, or not before ctx
// ends or target_timeout is over, means nobody.
func (t *targets) expand(ctx context.Context, tgt any, tgtType, delimiter string) (found, error) {
	return t.meant(ctx, tgt, tgtType, delimiter, true)
}

// meant is expand; without greedy, minions that nothing is known of are left out.
func (t *targets) meant(ctx context.Context, tgt any, tgtType, delimiter string, greedy bool) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, t.rules.Load().targetTimeout)
	defer cancel()
	who, err := t.expander.Expand(ctx, tgt, tgtType, delimiter, greedy)
	if err != nil {
		t.log.Error("target cannot be expanded", "tgt", payload.Show(python.Str(tgt)), "tgt_type",
			payload.Show(tgtType), "err", payload.Show(err.Error()))
	}
	return found{who.Minions, who.Missing}, err
}

// covers tells whether all ids lie inside a compound target.
func (t *targets) covers(ctx context.Context, target string, ids []string) bool {
	who, _ := t.expand(ctx, target, "compound", defaultDelimiter) // what cannot be worked out holds nobody
	return allAmong(ids, who.Minions)
}

// allAmong tells whether all ids are among others.
func allAmong(ids, others []string) bool {
	inside := make(map[string]bool, len(others))
	for _, id := range others {
		inside[id] = true
	}
	for _, id := range ids {
		if !inside[id] {
			return false
		}
	}
	return true
}

// exactPillar refuses pillar targets that find more minions than the exact form does: with patterns a minion
// could read other minions' pillars by trial.
func (t *targets) exactPillar(ctx context.Context, tgt any, tgtType string) bool {
	exact := ""
	switch strings.ToLower(tgtType) {
	case "pillar", "pillar_pcre":
		exact = "pillar_exact"
	case "compound":
		exact = "compound_pillar_exact"
	default:
		return true
	}
	narrow, errNarrow := t.expand(ctx, tgt, exact, defaultDelimiter)
	wide, errWide := t.expand(ctx, tgt, tgtType, defaultDelimiter)
	if errNarrow != nil || errWide != nil { // minions may find somebody where the master cannot
		return false
	}
	return allAmong(wide.Minions, narrow.Minions)
}
