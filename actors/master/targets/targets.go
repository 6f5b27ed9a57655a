// Package targets finds out which minions a target means. Targets owns nothing that changes: it asks the key store, the
// data cache of minions, and the rules in force for node groups and the time that a target may take.
package targets

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"brine/actors/master/access"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// DefaultDelimiter separates the parts of a grain target; only another one is published.
const DefaultDelimiter = payload.DefaultDelimiter

// Targets knows whom a target means, by the keys and the data of the minions.
type Targets struct {
	Expander *matchers.Expander
	rules    *atomic.Pointer[access.Rules] // target_timeout
	log      *slog.Logger
}

// New reads keys and data of minions from the stores, and node groups from the rules in force.
func New(store *keys.Store, cache *datacache.Banks, dataCache bool, rules *atomic.Pointer[access.Rules],
	log *slog.Logger) *Targets {
	return &Targets{rules: rules, log: log, Expander: &matchers.Expander{
		Source: targetSource{store, cache}, DataCache: dataCache,
		Groups: func() *payload.Map { return rules.Load().Nodegroups },
	}}
}

// targetSource is what the master knows of its minions when it expands a target.
type targetSource struct {
	keys *keys.Store
	*datacache.Banks
}

// Accepted lists the ids with an accepted key.
func (t targetSource) Accepted() ([]string, error) { return t.keys.IDs(keys.Accepted) }

// Found is who a target means: the minions to wait for, and the ids of a list that are no minions.
type Found struct{ Minions, Missing []string }

// Expand is who a target means, minions that nothing is known of included. What cannot be worked out, or not before ctx
// ends or target_timeout is over, means nobody.
func (t *Targets) Expand(ctx context.Context, tgt any, tgtType, delimiter string) (Found, error) {
	return t.Meant(ctx, tgt, tgtType, delimiter, true)
}

// Meant is expand; without greedy, minions that nothing is known of are left out.
func (t *Targets) Meant(ctx context.Context, tgt any, tgtType, delimiter string, greedy bool) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, t.rules.Load().TargetTimeout)
	defer cancel()
	who, err := t.Expander.Expand(ctx, tgt, tgtType, delimiter, greedy)
	if err != nil {
		t.log.Error("target cannot be expanded", "tgt", payload.Show(python.Str(tgt)), "tgt_type",
			payload.Show(tgtType), "err", payload.Show(err.Error()))
	}
	return Found{who.Minions, who.Missing}, err
}

// Covers tells whether all ids lie inside a compound target.
func (t *Targets) Covers(ctx context.Context, target string, ids []string) bool {
	who, _ := t.Expand(ctx, target, "compound", DefaultDelimiter) // what cannot be worked out holds nobody
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

// ExactPillar refuses pillar targets that find more minions than the exact form does: with patterns a minion
// could read other minions' pillars by trial.
func (t *Targets) ExactPillar(ctx context.Context, tgt any, tgtType string) bool {
	exact := ""
	switch strings.ToLower(tgtType) {
	case "pillar", "pillar_pcre":
		exact = "pillar_exact"
	case "compound":
		exact = "compound_pillar_exact"
	default:
		return true
	}
	narrow, errNarrow := t.Expand(ctx, tgt, exact, DefaultDelimiter)
	wide, errWide := t.Expand(ctx, tgt, tgtType, DefaultDelimiter)
	if errNarrow != nil || errWide != nil { // minions may find somebody where the master cannot
		return false
	}
	return allAmong(wide.Minions, narrow.Minions)
}

// Delimiter is the delimiter that a request says, or the usual one.
func Delimiter(said string) string { return cmp.Or(said, DefaultDelimiter) }
